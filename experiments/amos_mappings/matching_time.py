"""How long matching takes: one operator against every shipped description of an instruction or library function."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from polysched.dependence import analyse
from polysched.experiment import Record, Report
from polysched.experiment.plots import grouped_bars
from polysched.experiment.tables import markdown_table
from polysched.tensorize import INTRINSICS, match
from polysched.tensorize.operators import OPERATORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
REPEATS = 7   # calls of which the median is reported
LIMIT_MILLISECONDS = 50.0
SLOWEST = 15   # rows of the table


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds of one call, and its result."""
    started = time.perf_counter()
    result = function()
    return 1000 * (time.perf_counter() - started), result


def measure(operator: str, report: Report) -> dict[str, Any]:
    """All repeats of the dependence analysis, and of the call that looks for matches, by instruction; milliseconds."""
    scop = OPERATORS[operator]()
    analysed = [timed(lambda: analyse(scop)) for _ in range(REPEATS)]
    dependences, found = analysed[0][1], {}
    for name, intrinsic in INTRINSICS.items():
        report(name)
        calls = [timed(lambda i=intrinsic: match(scop, i, dependences=dependences)) for _ in range(REPEATS)]
        found[name] = {"count": calls[0][1].count, "samples": [milliseconds for milliseconds, _ in calls]}
    return {"analysis_samples": [milliseconds for milliseconds, _ in analysed], "instructions": found}


def medians(records: Sequence[Record]) -> list[tuple[float, str, str, dict[str, Any]]]:
    """Median milliseconds, operator, instruction and what was measured; the slowest first."""
    return sorted(((statistics.median(m["samples"]), r.case, name, m) for r in records
                   for name, m in r.values["instructions"].items()), key=lambda row: (-row[0], *row[1:3]))


def table(records: Sequence[Record]) -> str:
    """The slowest pairs, then the slowest instruction of each operator beside the dependence analysis."""
    rows = medians(records)
    pairs = [[case, name, m["count"], *(f"{t:.1f}" for t in (middle, min(m["samples"]), max(m["samples"])))]
             for middle, case, name, m in rows[:SLOWEST]]
    operators = []
    for r in records:
        mine = [row for row in rows if row[1] == r.case]
        operators.append([r.case, *(f"{t:.1f}" for t in (statistics.median(row[0] for row in mine), mine[0][0])),
                          mine[0][2], f"{statistics.median(r.values['analysis_samples']):.1f}"])
    under = sum(row[0] < LIMIT_MILLISECONDS for row in rows)
    return "\n".join([
        markdown_table(["operator", "instruction", "matches", "median ms", "least", "most"], pairs), "",
        markdown_table(["operator", "median of all, ms", "slowest, ms", "which", "dependence analysis, ms"], operators),
        "", f"{under} of {len(rows)} pairs take less than {LIMIT_MILLISECONDS:.0f} ms, the median of all "
        f"{statistics.median(row[0] for row in rows):.1f} ms"])


def verdict(records: Sequence[Record]) -> str:
    """Every pair has to be matched within the limit."""
    slow = [f"{case} by {name} ({middle:.0f} ms)" for middle, case, name, _ in medians(records)
            if middle >= LIMIT_MILLISECONDS]
    return f"not under {LIMIT_MILLISECONDS:.0f} ms: {', '.join(slow)}" if slow else ""


def plot(records: Sequence[Record]) -> Figure:
    """The slowest instruction of each operator, and the median of all, in milliseconds."""
    by_operator = {r.case: [middle for middle, *_ in medians([r])] for r in records}
    return grouped_bars(list(by_operator), {"slowest instruction": [times[0] for times in by_operator.values()],
                                            "median of all": [statistics.median(t) for t in by_operator.values()]},
                        ylabel="ms")
