"""How long does scheduling take, beside isl's scheduler on the same dependences?

For every C file given (or found below --polybench-root), and for synthetic chains of statements: the
dependence analysis, our scheduler and isl's scheduler, each up to the exactly checked schedule, alternate
--repeats times in one process; the medians and every repeat go to a JSON file, and a table to the output.

    python experiments/scheduling_time/run.py --polybench-root DIR [--results FILE] [--repeats 5] [FILE.c ...]

The import of the solver is not counted: it happens once per process.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import islpy as isl
import ortools
from ortools.sat.python import cp_model  # noqa: F401  loaded before anything is timed

import polysched
from polysched.dependence import Dependences, analyse
from polysched.errors import PolyschedError
from polysched.scheduling import SchedulerOptions, isl_schedule, pluto
from polysched.scop import from_c_file, from_c_text
from polysched.scop.scop import Scop

CHAINS = (10, 30, 100)


@dataclass(kw_only=True)
class Times:
    """Seconds per repeat of one program; the rungs tell whether a fallback was used."""

    name: str
    statements: int
    pairs: int
    analysis_seconds: list[float] = field(default_factory=list)
    pluto_seconds: list[float] = field(default_factory=list)
    isl_seconds: list[float] = field(default_factory=list)
    variables: int = 0
    rows: int = 0
    solves: int = 0
    pluto_rungs: tuple[str, ...] = ()
    isl_rungs: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """Median of the paired ratios: ours to isl's."""
        return statistics.median(a / b for a, b in zip(self.pluto_seconds, self.isl_seconds, strict=True))


def chain(statements: int) -> Scop:
    """Loop nests three deep, each reading what the one before it wrote."""
    arrays = ", ".join(f"double A{k}[n][n][n]" for k in range(statements + 1))
    nests = "\n".join(
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)\n"
        f"    A{k + 1}[i][j][k] = A{k}[i][j][k] + 1.0;" for k in range(statements))
    return from_c_text(f"void chain(int n, {arrays}) {{\n#pragma scop\n{nests}\n#pragma endscop\n}}\n")


def programs(arguments: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Scop]]]:
    """Every program by name, with the function that reads it."""
    for path in arguments.files:
        yield path.stem, lambda path=path: from_c_file(path)
    if arguments.polybench_root is not None:
        root = arguments.polybench_root
        for path in sorted(root.rglob("*.c")):
            if path.stem == path.parent.name:
                yield path.stem, lambda path=path: from_c_file(path, include_dirs=[root / "utilities"])
    for count in arguments.chains:
        yield f"chain of {count}", lambda count=count: chain(count)


def measure(name: str, scop: Scop, repeats: int) -> Times:
    """Alternate the three, after one round that is not counted."""
    options = SchedulerOptions()
    dependences: Dependences = analyse(scop)
    times = Times(name=name, statements=len(scop.statements), pairs=len(dependences.pairs))
    for repeat in range(repeats + 1):
        started = time.perf_counter()
        dependences = analyse(scop)
        analysed = time.perf_counter()
        ours = pluto(dependences, options=options)
        done = time.perf_counter()
        theirs = isl_schedule(dependences, options=options)
        ended = time.perf_counter()
        if repeat:
            times.analysis_seconds.append(analysed - started)
            times.pluto_seconds.append(done - analysed)
            times.isl_seconds.append(ended - done)
        times.variables, times.rows, times.solves = ours.report.variables, ours.report.rows, ours.report.solves
        times.pluto_rungs, times.isl_rungs = ours.report.rungs, theirs.report.rungs
    return times


def table(measured: list[Times]) -> str:
    """Markdown: milliseconds (medians), the ratio, and the integer programs."""
    lines = ["| program | statements | pairs | analysis ms | pluto ms | isl ms | pluto / isl | solves | rows |",
             "|---|---|---|---|---|---|---|---|---|"]
    for t in measured:
        cells = [t.name, str(t.statements), str(t.pairs),
                 *(f"{1e3 * statistics.median(s):.1f}" for s in (t.analysis_seconds, t.pluto_seconds, t.isl_seconds)),
                 f"{t.ratio:.2f}", str(t.solves), str(t.rows)]
        lines.append("| " + " | ".join(cells) + " |")
    kernels = [t for t in measured if not t.name.startswith("chain")]
    if kernels:
        whole = [statistics.median(a + p for a, p in zip(t.analysis_seconds, t.pluto_seconds, strict=True))
                 for t in kernels]
        median, largest = 1e3 * statistics.median(whole), 1e3 * max(whole)
        lines.append("")
        lines.append(f"From Scop to checked schedule, {len(kernels)} programs: median {median:.0f} ms, largest "
                     f"{largest:.0f} ms; median ratio to isl {statistics.median(t.ratio for t in kernels):.2f}.")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--polybench-root", type=Path)
    parser.add_argument("--results", type=Path, help="JSON file with every repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--chains", type=lambda text: [int(n) for n in text.split(",") if n], default=list(CHAINS))
    arguments = parser.parse_args()
    measured = []
    for name, read in programs(arguments):
        try:
            measured.append(measure(name, read(), arguments.repeats))
        except PolyschedError as refusal:
            print(f"{name}: {refusal}", file=sys.stderr)
            continue
        print(f"{name}: {1e3 * statistics.median(measured[-1].pluto_seconds):.1f} ms", file=sys.stderr)
    print(table(measured))
    if arguments.results is not None:
        arguments.results.write_text(json.dumps({
            "format": 1, "machine": platform.processor() or platform.machine(), "python": platform.python_version(),
            "polysched": polysched.__version__, "ortools": ortools.__version__, "isl": isl.version.VERSION_TEXT,
            "programs": [asdict(t) for t in measured]}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
