"""Tiled schedules of Pluto's algorithm beside the C file, on one thread and on several; see README.md.

    python experiments/reproduced/pluto_speedups/run.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from polysched.dependence import analyse
from polysched.experiment import Case, Contender, Experiment, Record, Report, Rules, Settings, run_contest
from polysched.experiment.candidates import WRITTEN, VersionedFunction, outcome
from polysched.experiment.claims import Claim, at_least
from polysched.experiment.tables import markdown_table
from polysched.scheduling import pluto
from polysched.scop import from_c_file, from_c_text
from polysched.scop.scop import Scop
from polysched.target import host
from polysched.tiling import TilingOptions, tile

sys.path.insert(0, str(Path(__file__).parent))
from programs import PROGRAMS

KERNELS = Path(__file__).parents[3] / "tests" / "kernels"
TILED, PARALLEL = "tiled, one thread", "tiled, threads"
HEADINGS = ("kernel", "the C file, ms", "tiled, ms", "times as fast", "on threads, ms", "times as fast as on one",
            "as the C file")
LOCAL = 1.5
SHARE_OF_THREADS = 0.8
# Pluto over icc on one core, and its tiled code on two cores over one, from seconds: sizes in README.md
PUBLISHED = {"jacobi_1d_imper": (1.097579 / 0.816334, 1.036449 / 1.009532),
             "fdtd_2d": (30.508238 / 9.896371, 9.822442 / 6.191355),
             "lu": (11.482684 / 3.969062, 32.143856 / 18.439005),
             "seidel_2d": (52.746884 / 38.799644, 8.701026 / 5.996472)}
PUBLISHED_THREADS = 2
SOURCE = ("icc and Pluto on a machine of four cores: github.com/bondhugula/pluto, "
          "orio-0.1.0/testsuite/{jacobi,fdtd,lu,seidel}/pluto*/result*.txt")


@dataclass(frozen=True, kw_only=True)
class Gain:
    """How many times as fast: tiled over the C file, threads over one, both over the C file."""

    local: float
    parallel: float

    @property
    def both(self) -> float:
        return self.local * self.parallel


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def program(name: str) -> Scop:
    return from_c_text(PROGRAMS[name]) if name in PROGRAMS else from_c_file(KERNELS / f"{name}.c")


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Median seconds of the C file and of the tiled schedule on one thread and on all, verified against the C file."""
    sizes, threads = case.parameters["sizes"], settings.threads[0]
    scop = program(case.name)
    named = {p.name: sizes[p.spelling] for p in scop.parameters}
    report("scheduling")
    schedule = pluto(analyse(scop))
    with tempfile.TemporaryDirectory(prefix="polysched-pluto-") as name:
        made = []
        for way, cores in ((TILED, 1), (PARALLEL, threads)):
            options = TilingOptions(target=replace(host(), cores=cores), parallel=cores > 1, parameters=named)
            kernel = VersionedFunction(scop=scop, sizes=sizes, folder=Path(name), openmp=cores > 1)
            if not made:
                made.append(Contender(name=WRITTEN, make=kernel.as_written))
            made.append(Contender(name=way, make=partial(kernel.transformed, f"on_{cores}", tile(schedule, options)),
                                  threads=cores))
        rules = Rules(reference=WRITTEN, ours=tuple(c.name for c in made), budget_seconds=settings.budget_seconds,
                      most_rounds=settings.config["rounds"], pin=settings.pin, cold_cache=settings.cold_cache)
        standings = run_contest(made, rules, Path(name), report)
    return {"sizes": sizes, "threads": threads, **outcome(standings)}


def gains(records: Sequence[Record]) -> dict[str, Gain]:
    """Of every kernel with three verified times."""
    found = {}
    for record in (r for r in records if r.done and not r.values["problems"]):
        taken = record.values["seconds"]
        found[record.case] = Gain(local=taken[WRITTEN] / taken[TILED], parallel=taken[TILED] / taken[PARALLEL])
    return found


def means(records: Sequence[Record]) -> Gain:
    """Geometric, over the kernels."""
    own = list(gains(records).values())
    return Gain(local=statistics.geometric_mean([g.local for g in own] or [1.0]),
                parallel=statistics.geometric_mean([g.parallel for g in own] or [1.0]))


def table(records: Sequence[Record]) -> str:
    found, rows = gains(records), []
    for record in (r for r in records if r.case in found):
        gain, taken = found[record.case], record.values["seconds"]
        rows.append([record.case, f"{1e3 * taken[WRITTEN]:.1f}", f"{1e3 * taken[TILED]:.1f}", f"{gain.local:.2f}",
                     f"{1e3 * taken[PARALLEL]:.1f}", f"{gain.parallel:.2f}", f"{gain.both:.2f}"])
    mean = means(records)
    rows.append(["geometric mean", "", "", f"{mean.local:.2f}", "", f"{mean.parallel:.2f}", f"{mean.both:.2f}"])
    failed = [f"- {r.case}, {name}: {problem}" for r in records if r.done
              for name, problem in r.values["problems"].items()]
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced", *failed])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    found, mean = gains(records), means(records)
    wrong = [f"{r.case} has no verified time" for r in records if r.case not in found]
    wrong += [f"{name} is slower tiled" for name, gain in found.items() if gain.local < 1]
    if mean.local < LOCAL:
        wrong.append(f"tiles give {mean.local:.2f} on one thread, below {LOCAL:.2f}")
    threads = next((r.values["threads"] for r in records if r.done), 1)
    if mean.parallel < SHARE_OF_THREADS * threads:
        wrong.append(f"{threads} threads give {mean.parallel:.2f}, below {SHARE_OF_THREADS * threads:.2f}")
    return f"not reproduced: {'; '.join(wrong)}" if wrong else ""


def claims(records: Sequence[Record]) -> list[Claim]:
    """Pluto's code measured by its authors' tuner, beside ours, and the criterion."""
    found, mean = gains(records), means(records)
    threads = next((r.values["threads"] for r in records), 1)
    rows = []
    for name, (local, parallel) in PUBLISHED.items():
        if name in found:
            pairs = (("times as fast on one thread", found[name].local, local),
                     (f"{threads} threads over one", found[name].parallel,
                      parallel if threads == PUBLISHED_THREADS else None))
            rows += [Claim(what=f"{name}, tiled, {what}", ours=ours, published=theirs, source=SOURCE)
                     for what, ours, theirs in pairs]
    tiled, local = at_least(LOCAL, mean.local)
    scaled, parallel = at_least(SHARE_OF_THREADS * threads, mean.parallel)
    return [*rows, Claim(what="tiled, times as fast on one thread, mean", ours=mean.local, published=None, asked=tiled,
                         holds=local),
            Claim(what=f"tiled, {threads} threads over one, mean", ours=mean.parallel, published=None, asked=scaled,
                  holds=parallel)]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
