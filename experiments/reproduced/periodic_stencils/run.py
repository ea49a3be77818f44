"""Schedules of periodic stencils and lattice Boltzmann methods, with and without cuts; see README.md.

    python experiments/reproduced/periodic_stencils/run.py
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polysched.dependence import analyse, violation
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scheduling.index_sets import outer_depths
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text

sys.path.insert(0, str(Path(__file__).parent))
from programs import PROGRAMS

NEGATIVE = re.compile(r"-\s*\d*[ij]\b")
HEADINGS = ("program", "loops", "outer band without cuts", "with cuts", "legal", "negative coefficient", "seconds")


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={}) for name in settings.config["programs"]]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The depth of the outermost permutable band in both ways, and the judgement of the schedule with cuts."""
    dependences = analyse(from_c_text(PROGRAMS[case.name]))
    plain = pluto(dependences, options=SchedulerOptions(fusion="max"))
    began = time.process_time()
    cut = pluto(dependences, options=SchedulerOptions(fusion="max", split_index_sets=True))
    seconds = time.process_time() - began
    wrong = violation(dependences, cut.tree)
    text = tree_text(cut.tree)
    return {"depth": max(s.depth for s in dependences.scop.statements), "without": least(plain), "with": least(cut),
            "wrong": "" if wrong is None else str(wrong), "schedule": text, "rung": cut.report.rungs[0],
            "negative": NEGATIVE.search(text) is not None, "seconds": seconds}


def least(schedule: Any) -> int:
    """Members of the shallowest outermost band: so many loops may be tiled together."""
    return min(outer_depths(schedule.tree).values())


def table(records: Sequence[Record]) -> str:
    rows = [[r.case, v["depth"], v["without"], v["with"], "no" if v["wrong"] else "yes",
             "yes" if v["negative"] else "no", f"{v['seconds']:.1f}"] for r in records if r.done for v in [r.values]]
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced"])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    done = [r for r in records if r.done]
    told = [f"the schedule of {r.case} is wrong" for r in done if r.values["wrong"]]
    told += [f"{r.values['depth'] - r.values['with']} loops of {r.case} are not in its outermost band"
             for r in done if r.values["with"] < r.values["depth"]]
    return f"not reproduced: {'; '.join(told)}" if told else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
