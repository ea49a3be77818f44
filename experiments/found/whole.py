"""Everything of this experiment in one command, for a machine that does nothing else.

    python experiments/found/whole.py --programs FOLDER [--numba PYTHON] [--dry-run] [--short]

Three parts, one behind the other: the small programs against the original and the peers (`run.py`), a kernel beside
NumPy in one process (`beside_numpy.py`), and the innermost loops of public programs (`loops_taken.py`).  FOLDER holds
them as `owner+name`, at the revisions of `programs.toml`.  `--dry-run` prints the commands, `--short` runs one program
of each part.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
PARTS = ("programs", "numpy", "loops")
SHORT_PROGRAM = "last_and_any"
SHORT_FOLDER = "codeplea+genann"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, metavar="FOLDER", help="the public programs, as owner+name")
    parser.add_argument("--numba", metavar="PYTHON", help="a Python that has Numba")
    parser.add_argument("--results", type=Path, default=HERE, metavar="DIR", help="where results are appended to")
    parser.add_argument("--part", choices=PARTS, action="append", help="this part alone, may be repeated")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="files that are read at the same time")
    parser.add_argument("--dry-run", action="store_true", help="print the commands")
    parser.add_argument("--short", action="store_true", help="one program of each part")
    given = parser.parse_args(arguments)
    parts = given.part or [part for part in PARTS if part != "loops" or given.programs]
    if "loops" in parts:
        if given.programs is None:
            parser.error("the part loops needs --programs FOLDER")
        if missing := list(missing_programs(given.programs, short=given.short)):
            parser.error("programs are missing:\n" + "\n".join(missing))
    for part in parts:
        command = command_of(part, given)
        print(shlex.join(command), flush=True)
        if not given.dry_run and (code := subprocess.run(command, check=False).returncode):
            return code
    return 0


def folders(*, short: bool) -> list[str]:
    """The names of the programs' folders."""
    table = tomllib.loads((HERE / "programs.toml").read_text())["program"]
    return [SHORT_FOLDER] if short else [entry["name"].replace("/", "+") for entry in table]


def missing_programs(root: Path, *, short: bool) -> Iterator[str]:
    """A line for every program that is not there, with how to get it."""
    table = tomllib.loads((HERE / "programs.toml").read_text())["program"]
    for entry in table:
        name = entry["name"].replace("/", "+")
        if name in folders(short=short) and not (root / name).is_dir():
            prepare = f"; then, in it: {entry['prepare']}" if "prepare" in entry else ""
            yield f"  {root / name}: {entry['name']} at {entry['revision']}{prepare}"


def command_of(part: str, given: argparse.Namespace) -> list[str]:
    """What runs a part."""
    if part == "programs":
        return [sys.executable, str(HERE / "run.py"), "--results", str(given.results / "results.jsonl"),
                *(["--numba", given.numba] if given.numba else []), *(["--only", SHORT_PROGRAM] if given.short else [])]
    if part == "numpy":
        short = ["--size", "256", "--rounds", "5"] if given.short else []
        return [sys.executable, str(HERE / "beside_numpy.py"), *short]
    named = [str(given.programs / name) for name in folders(short=given.short)]
    return [sys.executable, str(HERE / "loops_taken.py"), *named, "--jobs", str(given.jobs), "--results",
            str(given.results / "loops.jsonl")]


if __name__ == "__main__":
    raise SystemExit(main())
