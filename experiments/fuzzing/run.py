"""Ten thousand random programs: is any of them wrong?  See README.md.

    python experiments/fuzzing/run.py [--count 10000] [--seed 0] [--programs affine|contractions] [--resume]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import counted_bars
from polysched.experiment.tables import markdown_table
from polysched.fuzz.campaign import CampaignOptions, ProgramResult, kinds_of, run_campaign, shrunk_text
from polysched.fuzz.kinds import AFFINE, PROGRAM_KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTERS = {"right": ".", "refused": "r", "slow": "S", "wrong": "W"}
HEADINGS = ("kind", "revision", "programs", "configurations", "wrong", "slow", "refused", "median seconds", "seconds")


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--count", type=int, default=10_000, help="programs (default: 10000)")
    group.add_argument("--seed", type=int, default=0, help="number of the first program (default: 0)")
    group.add_argument("--programs", choices=tuple(PROGRAM_KINDS), default=AFFINE,
                       help="any loops and assignments, or sums of products computed by instructions (affine)")
    group.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    group.add_argument("--limit-seconds", type=float, default=10.0, metavar="S",
                       help="CPU time of one configuration of one program (default: 10)")


def cases(settings: Settings) -> list[Case]:
    """Slices, so that a campaign can be stopped and go on with --resume."""
    width, first = settings.config["slice"], settings.options["seed"]
    last = first + settings.options["count"]
    kind: str = settings.options["programs"]
    prefix, more = ("p", {}) if kind == AFFINE else (f"{kind}-", {"programs": kind})
    return [Case(name=f"{prefix}{start:05}", parameters={"first": start, "count": min(width, last - start), **more})
            for start in range(first, last, width)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Per program, in order: a letter for its outcome, configurations, seconds; the findings; wrong ones as C."""
    given, count = settings.options, case.parameters["count"]
    campaign = CampaignOptions(count=count, seed=case.parameters["first"], jobs=given["jobs"],
                               chunk=-(-count // given["jobs"]), limit_seconds=given["limit_seconds"],
                               programs=given["programs"])
    results = run_campaign(campaign, on_result=lambda result: report(f"program {result.seed}"))
    report("making wrong programs smaller")
    wrong = {f"p{result.seed}.c": shrunk_text(result, campaign) for result in results if result.wrong}
    return values_of(sorted(results, key=lambda result: result.seed)) | {"wrong": wrong}


def values_of(results: Sequence[ProgramResult]) -> dict[str, Any]:
    return {"outcomes": "".join(LETTERS[result.outcome] for result in results),
            "configurations": [result.configurations for result in results],
            "seconds": [round(result.seconds, 2) for result in results],
            "kinds": dict(sorted(kinds_of(results).items())),
            "findings": [asdict(finding) for result in results for finding in result.findings]}


def table(records: Sequence[Record]) -> str:
    """Per kind of programs and revision, and in all; the last line is that of `polysched fuzz`."""
    kinds_and_revisions = list(dict.fromkeys((_kind(record), record.git_revision) for record in records))
    rows = [_row(*key, [r for r in records if (_kind(r), r.git_revision) == key]) for key in kinds_and_revisions]
    total = _row("all", "all", records)
    found = [f"- {f['kind']}: {f['subject']} {f['configuration']}: {f['detail']}" for r in records
             for f in r.values["findings"] if f["kind"] != "refused"]
    kinds = sum((Counter(r.values.get("kinds", {})) for r in records), Counter())
    return "\n".join([markdown_table(HEADINGS, [*rows, total]), "",
                      markdown_table(("kind of configuration", "checked"), sorted(kinds.items())), "", *found,
                      f"{total[5]} slow: {_seeds(records, 'S')}",
                      f"{total[2]} programs, {total[4]} wrong, {total[6]} refused"])


def _kind(record: Record) -> str:
    return str(record.parameters.get("programs", AFFINE))


def _row(kind: str, name: str, records: Sequence[Record]) -> list[object]:
    letters = Counter("".join(r.values["outcomes"] for r in records))
    seconds = [value for r in records for value in r.values["seconds"]]
    return [kind, name, letters.total(), sum(sum(r.values["configurations"]) for r in records), letters["W"],
            letters["S"], letters["r"], median(seconds), sum(seconds)]


def _seeds(records: Sequence[Record], letter: str) -> str:
    return ", ".join(f"{'' if _kind(r) == AFFINE else _kind(r) + ' '}{r.parameters['first'] + at}" for r in records
                     for at, found in enumerate(r.values["outcomes"]) if found == letter) or "none"


def plot(records: Sequence[Record]) -> Figure:
    """Per revision, how many programs came out right, and what became of the others."""
    rows: dict[str, Counter[str]] = {}
    for record in records:
        letters = Counter(record.values["outcomes"])
        name = record.git_revision if _kind(record) == AFFINE else f"{_kind(record)} {record.git_revision}"
        rows.setdefault(name, Counter()).update({w: letters[letter] for w, letter in LETTERS.items()})
    return counted_bars(rows, xlabel="random programs")


def verdict(records: Sequence[Record]) -> str:
    wrong = _seeds([record for record in records if record.done], "W")
    return "" if wrong == "none" else f"wrong programs: {wrong}"


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict, local_options=("jobs", "programs"))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
