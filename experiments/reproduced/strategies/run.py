"""Schedules of named strategies beside Pluto's, tiled and timed alike; see README.md.

    python experiments/reproduced/strategies/run.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polysched.dependence import Dependences, analyse
from polysched.errors import PolyschedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.candidates import WRITTEN, VersionedFunction, raced
from polysched.experiment.claims import Claim, at_least
from polysched.experiment.tables import markdown_table
from polysched.scheduling import STRATEGIES, by_strategy
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_file
from polysched.target import host
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

KERNELS = Path(__file__).parents[3] / "tests" / "kernels"
PLUTO = "pluto"
HEADINGS = ("kernel", "schedules", "best strategy", "times as fast as Pluto's")
# the published mean is of the best configuration per kernel
PUBLISHED = 1.80


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def schedules(dependences: Dependences, options: TilingOptions) -> dict[str, TiledSchedule]:
    """One tiled schedule per strategy whose tree no earlier one has; Pluto's is the first."""
    found: dict[str, TiledSchedule] = {}
    seen: set[str] = set()
    for name, strategy in STRATEGIES.items():
        try:
            schedule = by_strategy(dependences, strategy)
        except PolyschedError:
            continue
        if (text := tree_text(schedule.tree)) not in seen:
            seen.add(text)
            found[name] = tile(schedule, options)
    return found


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Median seconds of every different schedule, verified against the C file."""
    sizes, threads = case.parameters["sizes"], settings.threads[0]
    scop = from_c_file(KERNELS / f"{case.name}.c")
    report("scheduling")
    options = TilingOptions(target=replace(host(), cores=threads), parallel=threads > 1, parameters=sizes)
    tiled = schedules(analyse(scop), options)
    with tempfile.TemporaryDirectory(prefix="polysched-strategies-") as name:
        kernel = VersionedFunction(scop=scop, sizes=sizes, folder=Path(name), openmp=threads > 1)
        return {"sizes": sizes, "threads": threads, **raced(kernel, tiled, settings, report, threads=threads)}


def gains(records: Sequence[Record]) -> dict[str, tuple[str, float, int]]:
    """Per kernel the fastest strategy, how many times as fast as Pluto it is, and how many schedules there are."""
    found = {}
    for record in (r for r in records if r.done and PLUTO in r.values["seconds"]):
        taken = {name: s for name, s in record.values["seconds"].items() if name != WRITTEN}
        best = min(taken, key=lambda name: taken[name])
        found[record.case] = (best, taken[PLUTO] / taken[best], len(taken))
    return found


def mean(records: Sequence[Record]) -> float:
    """Geometric, over the kernels."""
    return statistics.geometric_mean([ratio for _, ratio, _ in gains(records).values()] or [1.0])


def table(records: Sequence[Record]) -> str:
    rows = [[case, count, best, f"{ratio:.2f}"] for case, (best, ratio, count) in gains(records).items()]
    rows.append(["geometric mean", "", "", f"{mean(records):.2f}"])
    failed = [f"- {r.case}, {name}: {problem}" for r in records if r.done
              for name, problem in r.values["problems"].items()]
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced", *failed])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    found = mean(records)
    return "" if found >= PUBLISHED else f"not reproduced: the mean is {found:.2f}, and {PUBLISHED:.2f} is published"


def claims(records: Sequence[Record]) -> list[Claim]:
    """What the abstract states, beside ours."""
    found = mean(records)
    asked, holds = at_least(PUBLISHED, found)
    return [Claim(what="best strategy, times as fast as Pluto's schedule, mean", ours=found, published=PUBLISHED,
                  asked=asked, holds=holds, source="up to 1.80 in the geometric mean over PolyBench: abstract of arXiv "
                                                   "2401.06665 (CGO 2024)")]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
