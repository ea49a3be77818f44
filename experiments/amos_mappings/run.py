"""How many mappings of each operator onto a 16x16x16 matrix unit: AMOS's rule and the sound one; see README.md.

    python experiments/amos_mappings/run.py [--extra]
    python experiments/amos_mappings/run.py --times --results times.jsonl
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matching_time

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.claims import Claim
from polysched.experiment.plots import grouped_bars
from polysched.experiment.tables import markdown_table
from polysched.tensorize import Extents, MatchOptions, Rule, find_intrinsic, match
from polysched.tensorize.operators import OPERATORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNIT = "mma_16x16x16"
REPEATS = 7   # calls of which the median is reported


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--extra", action="store_true", help="name the matches that AMOS's rule does not admit")
    group.add_argument("--times", action="store_true", help="time matching with every shipped description instead")


def cases(settings: Settings) -> list[Case]:
    if settings.options["times"]:
        return [Case(name=name) for name in OPERATORS]
    return [Case(name=name, parameters={"published": count}) for name, count in settings.config["published"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Count by both rules; a match is identified up to the unit's symmetry.  With `--times`, see `matching_time`."""
    if settings.options["times"]:
        return matching_time.measure(case.name, report)
    unit, operator = find_intrinsic(UNIT), case.name.removesuffix("_reach")
    if operator != case.name:
        filled = match(OPERATORS[operator](), unit, MatchOptions(rule=Rule.AMOS, extents=Extents.REACH),
                       sizes={"batch": 1})
        return {"published": case.parameters["published"], "amos": filled.count,
                "amos_milliseconds": filled.milliseconds}
    scop = OPERATORS[operator]()
    narrow, sound = (match(scop, unit, MatchOptions(rule=rule)) for rule in (Rule.AMOS, Rule.EXACT))
    samples = [match(scop, unit).milliseconds for _ in range(REPEATS)]
    admitted = {m.signature for m in narrow.with_mirrors}
    return {"published": case.parameters["published"], "amos": narrow.count, "exact": sound.count,
            "amos_milliseconds": narrow.milliseconds, "exact_milliseconds": statistics.median(samples),
            "exact_samples": samples,
            "extra": [str(m) for m in sound.matches if m.signature not in admitted]}


def by_kind(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """Records of counts, and of matching times."""
    return ([r for r in records if not r.options.get("times")], [r for r in records if r.options.get("times")])


def table(records: Sequence[Record]) -> str:
    counted, timed = by_kind(records)
    return "\n\n".join([*([counts(counted)] if counted else []), *([matching_time.table(timed)] if timed else [])])


def counts(records: Sequence[Record]) -> str:
    rows = [[r.case, r.values["published"], r.values["amos"], r.values.get("exact"),
             *(None if (t := r.values.get(f"{rule}_milliseconds")) is None else f"{t:.0f}"
               for rule in ("amos", "exact"))] for r in records]
    text = markdown_table(["operator", "published", "AMOS's rule", "sound", "ms", "ms, sound"], rows)
    extra = [f"- {r.case}: {line}" for r in records if r.options["extra"] for line in r.values.get("extra", ())]
    ending = verdict(records) or "all published counts reproduced"
    return "\n".join([text, *(["", *extra] if extra else []), "", ending])


def verdict(records: Sequence[Record]) -> str:
    counted, timed = by_kind([r for r in records if r.done])
    wrong = [r.case for r in counted if r.values["published"] != r.values["amos"]]
    other = f"other counts than published: {', '.join(wrong)}" if wrong else ""
    return "; ".join(filter(None, (other, matching_time.verdict(timed))))


def plot(records: Sequence[Record]) -> Figure:
    counted, timed = by_kind(records)
    if timed and not counted:
        return matching_time.plot(timed)
    series = {"published": "published", "AMOS's rule": "amos", "sound": "exact"}
    return grouped_bars([r.case for r in counted],
                        {label: [r.values.get(key) for r in counted] for label, key in series.items()},
                        ylabel="mappings", logarithmic=True)


def claims(records: Sequence[Record]) -> list[Claim]:
    """How many counts are the published ones."""
    counted, _ = by_kind([r for r in records if r.done])
    equal = sum(r.values["published"] == r.values["amos"] for r in counted)
    return [Claim(what="operators whose count of mappings is the published one", ours=equal, published=len(counted),
                  asked="all", holds=equal == len(counted), digits=0,
                  source="AMOS, ISCA 2022: the column `published`")] if counted else []


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict, claims=claims)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
