"""Schedules and times of periodic stencils and lattice Boltzmann methods, with and without cuts; see README.md.

    python experiments/reproduced/periodic_stencils/run.py
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polysched.dependence import analyse, violation
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.candidates import WRITTEN, VersionedFunction, raced
from polysched.experiment.claims import Claim, at_least
from polysched.experiment.tables import markdown_table
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scheduling.index_sets import outer_depths
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text
from polysched.target import host
from polysched.tiling import TilingOptions, tile

sys.path.insert(0, str(Path(__file__).parent))
from programs import PROGRAMS

NEGATIVE = re.compile(r"-\s*\d*[ij]\b")
HEADINGS = ("program", "loops", "outer band without cuts", "with cuts", "legal", "negative coefficient", "seconds",
            "C file, ms", "without cuts, ms", "tiled, ms", "times as fast as the C file", "as without cuts")
TILED, UNCUT = "tiled with cuts", "tiled without cuts"
# the lesser of both speed-ups of `swim` in the abstract
PUBLISHED = 4.2
# the mean speed-up of Pluto+ over Pluto on lattice Boltzmann methods, in the abstract of 2016
PUBLISHED_OVER_PLUTO = 1.33
# of these nothing is carried over time
WITHOUT_TIME = ("reversal",)
LATTICES = ("lbm_d1q3", "lbm_d2q5")


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"timed": sizes}) for name, sizes in settings.config["programs"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The depth of the outermost permutable band in both ways, the schedule with cuts judged and timed."""
    dependences = analyse(from_c_text(PROGRAMS[case.name]))
    plain = pluto(dependences, options=SchedulerOptions(fusion="max"))
    began = time.process_time()
    cut = pluto(dependences, options=SchedulerOptions(fusion="max", split_index_sets=True))
    seconds = time.process_time() - began
    wrong = violation(dependences, cut.tree)
    text = tree_text(cut.tree)
    return times({TILED: cut, UNCUT: plain}, case, settings, report) | {
        "depth": max(s.depth for s in dependences.scop.statements), "without": least(plain), "with": least(cut),
        "wrong": "" if wrong is None else str(wrong), "schedule": text, "rung": cut.report.rungs[0],
        "negative": NEGATIVE.search(text) is not None, "seconds": seconds}


def times(schedules: Mapping[str, Schedule], case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Median seconds of the C file on one thread, and of tiled schedules on all, which have to agree with it."""
    sizes, threads = case.parameters["timed"], settings.threads[0]
    scop = schedules[TILED].scop
    options = TilingOptions(target=replace(host(), cores=threads), parameters={
        p.name: sizes[p.spelling] for p in scop.parameters})
    report("tiling")
    tiled = {name: tile(schedule, options) for name, schedule in schedules.items()}
    with tempfile.TemporaryDirectory(prefix="polysched-periodic-") as name:
        kernel = VersionedFunction(scop=scop, sizes=sizes, folder=Path(name), openmp=True)
        found = raced(kernel, tiled, settings, report, threads=threads)
    return {"threads": threads, "taken": found["seconds"], "problems": found["problems"],
            "fallbacks": {name: list(own.fallbacks) for name, own in tiled.items() if own.fallbacks}}


def least(schedule: Any) -> int:
    """Members of the shallowest outermost band: so many loops may be tiled together."""
    return min(outer_depths(schedule.tree).values())


def table(records: Sequence[Record]) -> str:
    rows = [[r.case, v["depth"], v["without"], v["with"], "no" if v["wrong"] else "yes",
             "yes" if v["negative"] else "no", f"{v['seconds']:.1f}", *speed(v)]
            for r in records if r.done for v in [r.values]]
    failed = [f"- {r.case}, {name}: {problem}" for r in records if r.done
              for name, problem in r.values.get("problems", {}).items()]
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced", *failed])


def speed(values: Mapping[str, Any]) -> Iterator[str]:
    """Milliseconds of all three, and how many times as fast the one with cuts is as the others."""
    taken = values.get("taken", {})
    yield from (f"{1e3 * taken[name]:.1f}" if name in taken else "-" for name in (WRITTEN, UNCUT, TILED))
    yield from (f"{taken[name] / taken[TILED]:.2f}" if {name, TILED} <= set(taken) else "-"
                for name in (WRITTEN, UNCUT))


def gain(records: Sequence[Record], over: str) -> float | None:
    """The geometric mean of (another way / tiled with cuts), over the records with both times; None without."""
    taken = [r.values.get("taken", {}) for r in records if r.done]
    ratios = [t[over] / t[TILED] for t in taken if {over, TILED} <= set(t)]
    return statistics.geometric_mean(ratios) if ratios else None


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    done = [r for r in records if r.done]
    told = [f"the schedule of {r.case} is wrong" for r in done if r.values["wrong"]]
    told += [f"{r.values['depth'] - r.values['with']} loops of {r.case} are not in its outermost band"
             for r in done if r.values["with"] < r.values["depth"]]
    told += [f"{r.case} has no verified times" for r in done
             if not {WRITTEN, UNCUT, TILED} <= set(r.values.get("taken", {}))]
    found = gain([r for r in records if r.case not in WITHOUT_TIME], WRITTEN)
    if found is not None and found < PUBLISHED:
        told.append(f"tiles over time give {found:.2f}, and {PUBLISHED:.2f} is published")
    found = gain([r for r in records if r.case in LATTICES], UNCUT)
    if found is not None and found < PUBLISHED_OVER_PLUTO:
        told.append(f"cuts give the lattices {found:.2f}, and {PUBLISHED_OVER_PLUTO:.2f} is published")
    return f"not reproduced: {'; '.join(told)}" if told else ""


def claims(records: Sequence[Record]) -> list[Claim]:
    """What the abstracts state, beside ours."""
    over_file = gain([r for r in records if r.case not in WITHOUT_TIME], WRITTEN)
    over_uncut = gain([r for r in records if r.case in LATTICES], UNCUT)
    banded = sum(r.values["with"] == r.values["depth"] for r in records)
    asked, enough = at_least(PUBLISHED, over_file)
    lattices, better = at_least(PUBLISHED_OVER_PLUTO, over_uncut)
    return [Claim(what="programs whose loops are all in one permutable band", ours=banded, published=len(records),
                  asked="all", holds=banded == len(records), digits=0,
                  source="time tiling of periodic domains: abstract of PACT 2014"),
            Claim(what="tiled over time, times as fast as the C file, mean", ours=over_file, published=PUBLISHED,
                  asked=asked, holds=enough, source="swim, 5 (Intel) and 4.2 (AMD) times as fast as by the native "
                                                    "compilers: abstract of PACT 2014"),
            Claim(what="lattices, times as fast as without cuts, mean", ours=over_uncut, published=PUBLISHED_OVER_PLUTO,
                  asked=lattices, holds=better, source="1.33 over Pluto in the mean for lattice Boltzmann methods: "
                                                       "abstract of TOPLAS 2016")]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
