"""How long does scheduling take, beside isl's scheduler on the same dependences?  See README.md.

    python experiments/scheduling_time/run.py --polybench-root DIR
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import islpy as isl
import ortools
from ortools.sat.python import cp_model  # noqa: F401  loaded before anything is timed

from polysched.dependence import analyse
from polysched.errors import UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import grouped_bars
from polysched.experiment.tables import markdown_table
from polysched.scheduling import SchedulerOptions, isl_schedule, pluto
from polysched.scop import from_c_file, from_c_text
from polysched.scop.scop import Scop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
STAGES = ("extraction", "analysis", "pluto", "isl")


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--polybench-root", metavar="DIR", default=os.environ.get("POLYBENCH_ROOT"),
                       type=lambda text: str(Path(text).resolve()),
                       help="PolyBench/C 4.2.1 (default: $POLYBENCH_ROOT); without it, kernels of this project")
    group.add_argument("--file", nargs="+", default=[], metavar="FILE.c",
                       type=lambda text: str(Path(text).resolve()), help="these programs too")
    group.add_argument("--repeats", type=int, default=5, metavar="N", help="rounds that count (default: 5)")


def cases(settings: Settings) -> list[Case]:
    """Every program, and the chains."""
    origin = "PolyBench/C" if settings.options["polybench_root"] else "tests/kernels"
    return [Case(name=name, parameters={"from": origin if path not in settings.options["file"] else "--file"})
            for name, path in programs(settings).items()] + [
        Case(name=f"chain_of_{count}", parameters={"chain": count}) for count in settings.config["chains"]]


def programs(settings: Settings) -> dict[str, str]:
    """The C files by name; where they are is no part of the results."""
    root = settings.options["polybench_root"]
    files = ([p for p in sorted(Path(root).rglob("*.c")) if p.stem == p.parent.name] if root
             else sorted(KERNELS.glob("*.c")))
    if not files:
        raise UsageError("there is no kernel in this folder", where=root,
                         hint="--polybench-root names that of PolyBench/C")
    return {p.stem: str(p) for p in (*files, *map(Path, settings.options["file"]))}


def read(case: Case, settings: Settings) -> Scop:
    """The Scop of a case."""
    if "chain" in case.parameters:
        return chain(case.parameters["chain"])
    root = settings.options["polybench_root"]
    return from_c_file(programs(settings)[case.name], include_dirs=[Path(root) / "utilities"] if root else [])


def chain(statements: int) -> Scop:
    """Loop nests three deep, each reading what the one before it wrote."""
    arrays = ", ".join(f"double A{k}[n][n][n]" for k in range(statements + 1))
    nests = "\n".join(
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)\n"
        f"    A{k + 1}[i][j][k] = A{k}[i][j][k] + 1.0;" for k in range(statements))
    return from_c_text(f"void chain(int n, {arrays}) {{\n#pragma scop\n{nests}\n#pragma endscop\n}}\n")


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Alternate the stages, after one round that is not counted; every repeat is kept."""
    options = SchedulerOptions()
    seconds: dict[str, list[float]] = {stage: [] for stage in STAGES}
    for repeat in range(settings.options["repeats"] + 1):
        report(f"round {repeat}")
        begun = time.perf_counter()
        scop = read(case, settings)
        started = time.perf_counter()
        dependences = analyse(scop)
        analysed = time.perf_counter()
        ours = pluto(dependences, options=options)
        done = time.perf_counter()
        theirs = isl_schedule(dependences, options=options)
        ended = time.perf_counter()
        if repeat:
            spans = (started - begun, analysed - started, done - analysed, ended - done)
            for stage, spent in zip(STAGES, spans, strict=True):
                seconds[stage].append(spent)
    return {"statements": len(scop.statements), "pairs": len(dependences.pairs),
            **{f"{stage}_seconds": repeats for stage, repeats in seconds.items()},
            "variables": ours.report.variables, "rows": ours.report.rows, "solves": ours.report.solves,
            "pluto_rungs": list(ours.report.rungs), "isl_rungs": list(theirs.report.rungs),
            "ortools": ortools.__version__, "isl": isl.version.VERSION_TEXT}


def whole(record: Record) -> float:
    """Seconds from parsed Scop to checked schedule, the median of the repeats."""
    return statistics.median(a + p for a, p in zip(record.values["analysis_seconds"], record.values["pluto_seconds"],
                                                   strict=True))


def ratio(record: Record) -> float:
    """Ours over isl's, the median of the paired ratios."""
    return statistics.median(a / b for a, b in zip(record.values["pluto_seconds"], record.values["isl_seconds"],
                                                   strict=True))


def is_chain(record: Record) -> bool:
    return "chain" in record.parameters


def table(records: Sequence[Record]) -> str:
    rows = [[r.case.replace("_", " ") if is_chain(r) else r.case, r.values["statements"], r.values["pairs"],
             *(f"{1e3 * statistics.median(r.values[f'{stage}_seconds']):.1f}" for stage in STAGES),
             f"{ratio(r):.2f}", r.values["solves"], r.values["rows"]] for r in records]
    text = markdown_table(["program", "statements", "pairs", *(f"{stage} ms" for stage in STAGES), "pluto / isl",
                           "solves", "rows"], rows)
    programs = [r for r in records if not is_chain(r)]
    if not programs:
        return text
    times = [whole(r) for r in programs]
    read_in = {r.case: statistics.median(r.values["extraction_seconds"]) for r in programs}
    slowest = max(read_in, key=lambda case: read_in[case])
    return (f"{text}\n\nFrom Scop to checked schedule, {len(programs)} programs: median "
            f"{1e3 * statistics.median(times):.0f} ms, largest {1e3 * max(times):.0f} ms; median ratio to isl "
            f"{statistics.median(ratio(r) for r in programs):.2f}. From C to Scop, the C preprocessor included: median "
            f"{1e3 * statistics.median(read_in.values()):.0f} ms, largest {1e3 * read_in[slowest]:.0f} ms ({slowest}).")


def plot(records: Sequence[Record]) -> Figure:
    """Our scheduler's time beside isl's, in the order of ours."""
    times = sorted((1e3 * statistics.median(r.values["pluto_seconds"]),
                    1e3 * statistics.median(r.values["isl_seconds"]), r.case.replace("_", " ")) for r in records)
    return grouped_bars([name for _, _, name in times], {"polysched": [ours for ours, _, _ in times],
                                                         "isl": [isl for _, isl, _ in times]},
                        ylabel="scheduling, ms", logarithmic=True)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        local_options=("polybench_root", "file"))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
