"""Ten thousand random programs: is any of them wrong?  See README.md.

    python experiments/fuzzing/run.py [--count 10000] [--seed 0] [--resume]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.fuzz.campaign import CampaignOptions, ProgramResult, as_json, run_campaign, save_findings

COUNTS = ("programs", "configurations", "wrong", "slow", "refused")


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--count", type=int, default=10_000, help="programs (default: 10000)")
    group.add_argument("--seed", type=int, default=0, help="number of the first program (default: 0)")
    group.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (default: all cores)")
    group.add_argument("--limit-seconds", type=float, default=120.0, metavar="S", help="for one program (default: 120)")
    group.add_argument("--save", metavar="DIR", default="fuzzing-findings", type=lambda text: str(Path(text).resolve()),
                       help="folder for wrong programs, made smaller, and slow ones (default: fuzzing-findings)")


def cases(settings: Settings) -> list[Case]:
    """Slices, so that a campaign can be stopped and go on with --resume."""
    width, first = settings.config["slice"], settings.options["seed"]
    last = first + settings.options["count"]
    return [Case(name=f"programs_{start}", parameters={"first": start, "count": min(width, last - start)})
            for start in range(first, last, width)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One slice; its wrong programs are made smaller and saved as C."""
    given = settings.options
    campaign = CampaignOptions(count=case.parameters["count"], seed=case.parameters["first"], jobs=given["jobs"],
                               limit_seconds=given["limit_seconds"])

    def tell(result: ProgramResult) -> None:
        report(f"program {result.seed}")
    results = run_campaign(campaign, on_result=tell)
    report("making wrong programs smaller")
    save_findings(results, campaign, Path(given["save"]))
    values: dict[str, Any] = json.loads(as_json(results, campaign))
    return values


def table(records: Sequence[Record]) -> str:
    totals = {key: sum(r.values[key] for r in records) for key in COUNTS}
    found = [f"- {f['kind']}: program {f['seed']}, {f['configuration']}: {f['detail']}" for r in records
             for f in r.values["findings"] if f["kind"] not in ("refused", "slow")]
    return "\n".join([markdown_table(COUNTS, [[totals[key] for key in COUNTS]]), *(["", *found] if found else [])])


def verdict(records: Sequence[Record]) -> str:
    wrong = sum(r.values["wrong"] for r in records if r.done)
    return f"{wrong} programs came out wrong" if wrong else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, add_arguments=add_arguments, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
