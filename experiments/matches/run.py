"""Twenty thousand pairs of a described instruction and a program: is any match wrong?  See README.md.

    python experiments/matches/run.py [--pairs 20000] [--seed 0] [--resume]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import counted_bars
from polysched.experiment.tables import markdown_table
from polysched.fuzz.matches.campaign import MatchCampaign, reproducer, run_pairs
from polysched.fuzz.matches.pairs import PROGRAMS_PER_UNIT, SAME
from polysched.fuzz.matches.records import FAULTS, MATCHED, VERDICTS, PairRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTERS = {"matched": "m", "refused": "r", "wrong": "W", "crash": "C", "timeout": "T"}
HEADINGS = ("kind of description", "pairs", "description refused", "same", "of them matched", "share",
            "near misses matched", "wrong", "crash", "timeout")
COUNTS = ("pairs", "unloaded", "same", "same matched", "near misses matched", *FAULTS)
MOST_REPRODUCED = 5


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--pairs", type=int, default=20_000, help="pairs (default: 20000)")
    group.add_argument("--seed", type=int, default=0, help="number of the first pair (default: 0)")
    group.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    group.add_argument("--time-limit", type=float, default=10.0, metavar="S",
                       help="CPU time of one pair (default: 10)")


def cases(settings: Settings) -> list[Case]:
    """Slices, so that a campaign can be stopped and go on with --resume."""
    width, first = settings.config["slice"], settings.options["seed"]
    last = first + settings.options["pairs"]
    return [Case(name=f"m{start:06}", parameters={"first": start, "count": min(width, last - start)})
            for start in range(first, last, width)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """A letter per pair, counts per kind of description, every fault in full, the first few made smaller."""
    given, count = settings.options, case.parameters["count"]
    chunk = -(-count // given["jobs"] // PROGRAMS_PER_UNIT) * PROGRAMS_PER_UNIT
    campaign = MatchCampaign(pairs=count, seed=case.parameters["first"], jobs=given["jobs"],
                             chunk=min(128, chunk), limit_seconds=given["time_limit"])
    records = run_pairs(campaign, on_record=lambda record: report(f"pair {record.seed}"))
    report("making faulty pairs smaller")
    return values_of(records) | {"smaller": {str(r.seed): reproducer(r, campaign) for r in _different(records)}}


def _different(records: Sequence[PairRecord]) -> list[PairRecord]:
    """One fault of each kind, the first few."""
    found = {(r.verdict, r.kind): r for r in reversed(records) if r.is_fault}
    return sorted(found.values(), key=lambda r: r.seed)[:MOST_REPRODUCED]


def values_of(records: Sequence[PairRecord]) -> dict[str, Any]:
    kinds: dict[str, Counter[str]] = {}
    for r in records:
        counts = kinds.setdefault(r.kind, Counter())
        same, matched = r.loaded and r.relation == SAME, r.verdict == MATCHED
        counts.update({"pairs": 1, "unloaded": not r.loaded, "same": same, "same matched": same and matched,
                       "near misses matched": matched and r.relation != SAME, r.verdict: r.is_fault})
    return {"verdicts": "".join(LETTERS[r.verdict] for r in records), "kinds": {k: dict(c) for k, c in kinds.items()},
            "milliseconds": round(sum(r.milliseconds for r in records)),
            "slowest_milliseconds": round(max(r.milliseconds for r in records)),
            "faults": [r.to_json() for r in records if r.is_fault]}


def table(records: Sequence[Record]) -> str:
    """Per kind of description and in all; the last line is that of `polysched fuzz --instructions`."""
    kinds: dict[str, Counter[str]] = {}
    for record in records:
        for kind, counts in record.values["kinds"].items():
            kinds.setdefault(kind, Counter()).update(counts)
    total = sum(kinds.values(), Counter())
    rows = [*(_row(k, kinds[k]) for k in sorted(kinds)), _row("all", total)]
    letters = _letters(records)
    milliseconds = sum(r.values["milliseconds"] for r in records)
    found = [f"- {f['verdict']}: pair {f['seed']} ({f['kind']}): {f['reason']}"
             for r in records for f in r.values["faults"]]
    return "\n".join([
        markdown_table(HEADINGS, rows), "", *found,
        f"{1000 * letters.total() / max(1, milliseconds):.1f} pairs per second of one core, the slowest "
        f"{max((r.values['slowest_milliseconds'] for r in records), default=0)} ms",
        f"{letters.total()} pairs, {letters['wrong']} wrong, {letters['crash']} crashed, {letters['timeout']} over the "
        f"time limit, {letters['matched']} matched, {letters['refused']} refused"])


def _letters(records: Sequence[Record]) -> Counter[str]:
    names = {letter: verdict for verdict, letter in LETTERS.items()}
    return Counter(names[letter] for r in records for letter in r.values["verdicts"])


def _row(kind: str, counts: Counter[str]) -> list[object]:
    same = counts["same"]
    share = f"{100 * counts['same matched'] / same:.0f}%" if same else "-"
    return [kind, *(counts[c] for c in COUNTS[:4]), share, *(counts[c] for c in COUNTS[4:])]


def plot(records: Sequence[Record]) -> Figure:
    """Per kind of description, how many of the same pairs match."""
    rows: dict[str, Counter[str]] = {}
    for record in records:
        for kind, counts in record.values["kinds"].items():
            matched = counts.get("same matched", 0)
            rows.setdefault(kind, Counter()).update({"matched": matched, "not matched": counts["same"] - matched})
    return counted_bars(rows, xlabel="pairs that are the same function")


def verdict(records: Sequence[Record]) -> str:
    letters = _letters([record for record in records if record.done])
    faults = {v: letters[v] for v in VERDICTS if v in FAULTS and letters[v]}
    return ", ".join(f"{count} {name}" for name, count in faults.items())


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict, local_options=("jobs",))

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
