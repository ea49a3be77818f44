"""How many innermost loops of public C programs become regions, and why the others do not.

    python experiments/found/loops_taken.py FOLDER ... [--jobs 2] [--seconds 120] [--stages] [--results loops.jsonl]

Each folder is one program, named `owner+name`; `programs.toml` says at which revision, and with which headers and
macros its files are read.  Every C file below it is read with `--autodetect`.  An innermost loop is taken if it
stands in a region whose assumptions hold or are tested at run time; with
`--stages`, if every later stage accepts the region as well.  Loops that a macro or an included file brings are not
counted, nor is `do ... while (0)`.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pycparser import c_ast

from polysched.errors import PolyschedError, SourceLocation
from polysched.experiment.tables import markdown_table
from polysched.pipeline.detected_regions import DetectedRegions
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.way import optimized_region
from polysched.scop import all_from_c_file
from polysched.scop.c_frontend.parse import everything, parse
from polysched.scop.c_frontend.text.preprocess import preprocess, read_source
from polysched.scop.scop import Scop

LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
TOO_LONG = "reading takes too long"
UNREADABLE = "the file cannot be read"
UNTOLD = "no reason was told"
MOST_REASONS = 25


@dataclass(frozen=True, kw_only=True)
class FileLoops:
    """The innermost loops of one file.

    Parameters
    ----------
    loops, taken : how many there are, and how many stand in a region.
    reasons : why the others do not, and how many each.
    seconds : wall time.
    """

    path: str
    loops: int = 0
    taken: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--seconds", type=float, default=120.0, metavar="S", help="most wall time of a file")
    parser.add_argument("--stages", action="store_true", help="run every later stage, too")
    parser.add_argument("--results", type=Path, metavar="FILE.jsonl", help="append one line per file")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        root, path = given.folders
        print(json.dumps(asdict(count_file(root, path, stages=given.stages))))
        return 0
    rows, reasons = [], Counter[str]()
    for program in given.folders:
        files = files_of(program)
        with ThreadPoolExecutor(given.jobs) as pool:
            counted = list(pool.map(lambda path, root=program: in_a_process(root, path, given), files))
        if given.results:
            with given.results.open("a") as results:
                results.writelines(json.dumps({"program": program.name, **asdict(file)}) + "\n" for file in counted)
        loops, taken = sum(f.loops for f in counted), sum(f.taken for f in counted)
        for file in counted:
            reasons.update(file.reasons)
        longest = max((f.seconds for f in counted), default=0.0)
        rows.append([program.name, str(len(files)), str(loops), str(taken), share(taken, loops), f"{longest:.1f}"])
        print(f"{program.name}: {taken} of {loops}", file=sys.stderr, flush=True)
    print(table(rows, reasons))
    return 0


def share(taken: int, loops: int) -> str:
    return f"{100 * taken / loops:.0f}%" if loops else "-"


def table(rows: list[list[str]], reasons: Counter[str]) -> str:
    """The tables of programs and of reasons."""
    loops, taken = sum(int(r[2]) for r in rows), sum(int(r[3]) for r in rows)
    rows = [*rows, ["all", str(sum(int(r[1]) for r in rows)), str(loops), str(taken), share(taken, loops), ""]]
    programs = markdown_table(["program", "files", "innermost loops", "taken", "share", "longest file, s"], rows)
    why = [[reason, str(count)] for reason, count in reasons.most_common(MOST_REASONS)]
    return f"{programs}\n\n{markdown_table(['reason', 'loops'], why)}"


def in_a_process(root: Path, path: Path, given: argparse.Namespace) -> FileLoops:
    """Count in a process of its own, which ends after a time."""
    started = time.monotonic()
    command = [sys.executable, __file__, str(root), str(path), "--one", *(["--stages"] if given.stages else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=given.seconds, check=False)
    except subprocess.TimeoutExpired:
        loops = len(loops_of(root, path) or ())
        return FileLoops(path=str(path.relative_to(root)), loops=loops, reasons={TOO_LONG: loops},
                         seconds=time.monotonic() - started)
    if done.returncode:
        raise SystemExit(f"{path}: {done.stderr}")
    return FileLoops(**json.loads(done.stdout) | {"seconds": time.monotonic() - started})


@dataclass(frozen=True, kw_only=True)
class Program:
    """How a program's files are read.

    Parameters
    ----------
    folders : that hold its files; all of them where there is none.
    include : folders with headers, `own` for that of the file itself; all folders with headers where there is none.
    define : macros.
    """

    name: str = ""
    revision: str = ""
    folders: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    prepare: str = ""


def settings(root: Path) -> Program:
    """How the program in a folder is read."""
    table = tomllib.loads((Path(__file__).parent / "programs.toml").read_text())["program"]
    for entry in table:
        if entry["name"].replace("/", "+") == root.name:
            return Program(**{key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()})
    return Program()


def files_of(root: Path) -> list[Path]:
    """The C files of a program."""
    folders = [root / folder for folder in settings(root).folders] or [root]
    return sorted(path for folder in folders for path in folder.rglob("*.c") if path.is_file())


def include_dirs(root: Path, path: Path) -> tuple[str, ...]:
    """The folders that hold the headers of a program's file."""
    given = settings(root).include
    if given:
        return tuple(str(path.parent if folder == "own" else root / folder) for folder in given)
    return tuple(sorted({str(header.parent) for header in root.rglob("*.h")}))


def loops_of(root: Path, path: Path) -> list[list[int]] | None:
    """The innermost loops written in a file: the lines of each and of the loops around it; None if it is unreadable."""
    source = read_source(path, include_dirs=include_dirs(root, path), defines=settings(root).define, cc=None)
    try:
        tree = parse(source, preprocess(source))
    except PolyschedError:
        return None
    return list(innermost(tree, str(path), []))


def is_loop(node: c_ast.Node) -> bool:
    """Whether a node is a loop, and no `do ... while (0)`."""
    once = isinstance(node, c_ast.DoWhile) and isinstance(node.cond, c_ast.Constant) and node.cond.value == "0"
    return isinstance(node, LOOPS) and not once


def innermost(node: c_ast.Node, path: str, around: list[int]) -> Iterator[list[int]]:
    """The lines of every innermost loop below a node, its own first."""
    if is_loop(node) and node.coord is not None and str(node.coord.file) == path:
        around = [int(node.coord.line), *around]
        if not any(is_loop(below) for _, child in node.children() for below in everything(child)):
            yield around
            return
    for _, child in node.children():
        yield from innermost(child, path, around)


class Told(logging.Handler):
    """The lines that the program prints about loops that it leaves."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def count_file(root: Path, path: Path, *, stages: bool) -> FileLoops:
    """The innermost loops of a file, and what became of them."""
    name = str(path.relative_to(root))
    loops = loops_of(root, path)
    if loops is None:
        text = path.read_text(errors="replace")
        found = len(re.findall(r"\b(?:for|while)\s*\(", text))
        return FileLoops(path=name, loops=found, reasons={UNREADABLE: found} if found else {})
    if not loops:
        return FileLoops(path=name)
    scops, reasons, whole = regions(root, path, stages=stages)
    lines = [range(s.source.text.count("\n", 0, s.source.start) + 1, s.source.text.count("\n", 0, s.source.end) + 2)
             for s in scops if s.source is not None]
    left = [loop for loop in loops if not any(loop[0] in region for region in lines)]
    why = Counter(next((reasons[line] for line in loop if line in reasons), whole or UNTOLD) for loop in left)
    return FileLoops(path=name, loops=len(loops), taken=len(loops) - len(left), reasons=dict(why))


def regions(root: Path, path: Path, *, stages: bool) -> tuple[tuple[Scop, ...], dict[int, str], str]:
    """The regions of a file, the reasons by the lines of loops, and the reason why there is none."""
    told = Told()
    logging.getLogger("polysched").addHandler(told)
    options = PipelineOptions(autodetect=True, tensorize=None)
    run = (lambda scop: optimized_region(scop, options, {})) if stages else (lambda scop: scop)
    detected: DetectedRegions[object] = DetectedRegions(run, trusted=False)
    whole = ""
    scops: tuple[Scop, ...] = ()
    try:
        scops = all_from_c_file(path, include_dirs=include_dirs(root, path), defines=settings(root).define,
                                 autodetect=True, judge=detected.judge)
    except PolyschedError as error:
        whole = plain((detected.first_refusal or error).problem)
    reasons = {}
    for line in told.lines:
        found = re.match(r"(.*?):(\d+): the (?:`\w+` )?loop [^:]*: (?:line \d+: )?(.*)", line)
        if found is not None and str(SourceLocation(str(path))) == found[1]:
            reasons[int(found[2])] = plain(found[3])
    return scops, reasons, whole


def plain(reason: str) -> str:
    """A reason without what it is about: names, code, numbers."""
    first = reason.partition("the first refusal of an innermost loop: ")[2] or reason
    return re.sub(r"\s*\(`[^`]*`\)$", "", re.sub(r"(?<!\()`[^`]*`", "`...`", re.sub(r"\b\d+\b", "N", first)))


if __name__ == "__main__":
    raise SystemExit(main())
