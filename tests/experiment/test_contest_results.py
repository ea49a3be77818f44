"""Tables of contests: each cell in the unit of its column, ours beside the best peer, and why one has no time."""

from __future__ import annotations

from typing import Any

import pytest

from polysched.experiment.contest_results import (
    best_peer_bars,
    contest_table,
    first_line,
    over_best_peer,
    peers_of,
    standings_of,
    summary_line,
)
from polysched.experiment.record import Record
from polysched.experiment.standings import Standings, Status, VariantTimes
from polysched.measure.timing.statistics import Sample


def variant(name: str, seconds: float | Status) -> VariantTimes:
    if isinstance(seconds, Status):
        return VariantTimes(name=name, status=seconds, problem=f"why\nnot, {name}\nmore")
    sample = Sample(wall_seconds=seconds, thread_cpu_seconds=seconds, process_cpu_seconds=seconds,
                    involuntary_switches=0)
    return VariantTimes(name=name, status=Status.VERIFIED, rounds=dict.fromkeys(range(3), (sample,)))


def record(case: str, seconds: dict[str, float | Status], **values: Any) -> Record:
    contest = Standings(variants=tuple(variant(n, s) for n, s in seconds.items()))
    return Record(experiment="e", case=case, key=case, parameters={}, threads=(1,), options={}, status="done",
                  problem="", values={"contest": contest.to_json()} | values, seconds=1.0, machine={}, conditions={},
                  libraries={}, git_revision="", started="")


GEMM = record("gemm", {"gcc": 0.4, "icc": 0.2, "polysched": 0.1, "polysched@4": 0.025}, flop_count=4 * 10**8,
              peak_flop_per_second=8e9, target=1.5)
ATAX = record("atax", {"gcc": Status.SLOW, "icc": 0.001, "polysched": 0.002}, flop_count=10**6, target=0.8)
LOST = record("lu", {"gcc": Status.MISSING, "polysched": Status.WRONG}, target=1.0)


def cells(records: list[Record], **options: Any) -> dict[str, dict[str, str]]:
    lines = [[c.strip() for c in line.strip("|").split("|")] for line in contest_table(records, **options).splitlines()
             if line.startswith("|")]
    head, _, *rows = lines
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def test_ours_with_other_threads_is_no_peer() -> None:
    assert peers_of(standings_of(GEMM)) == ["gcc", "icc"]
    assert peers_of(standings_of(GEMM), "polysched@4") == ["gcc", "icc"]
    assert over_best_peer(standings_of(GEMM)) == pytest.approx(2.0)
    assert over_best_peer(standings_of(GEMM), "polysched@4") == pytest.approx(8.0)
    assert over_best_peer(standings_of(LOST)) is None


def test_times_are_milliseconds() -> None:
    found = cells([GEMM, ATAX, LOST])
    assert found["gemm"] == {"gcc ms": "400", "icc ms": "200", "polysched ms": "100", "polysched@4 ms": "25",
                             "best peer": "icc", "ours / best": "2.00", "interval": "2.00 to 2.00", "of peak": "50%",
                             "disturbed": "0%"}
    assert found["atax"]["gcc ms"] == "slow"
    assert found["atax"]["polysched@4 ms"] == ""
    assert found["atax"]["of peak"] == "-"
    assert [found["lu"][c] for c in ("gcc ms", "polysched ms", "best peer", "ours / best")] == [
        "missing", "wrong", "-", "-"]


def test_rates_are_of_the_operations_and_nothing_where_nobody_counted_them() -> None:
    uncounted = record("sort", {"gcc": 0.5, "polysched": Status.FAILED})
    found = cells([GEMM, uncounted], rate=True)
    assert [found["gemm"][f"{n} G/s"] for n in ("gcc", "icc", "polysched")] == ["1", "2", "4"]
    assert [found["sort"][f"{n} G/s"] for n in ("gcc", "polysched")] == ["-", "failed"]


def test_no_operations_have_no_rate_and_no_time_in_its_place() -> None:
    moves = record("transpose", {"gcc": 0.5}, flop_count=0)
    assert cells([moves], rate=True)["transpose"]["gcc G/s"] == "-"
    assert cells([moves])["transpose"]["gcc ms"] == "500"


def test_why_a_variant_has_no_time_stands_below() -> None:
    text = contest_table([ATAX, LOST])
    assert text.split("\n\n")[1:] == ["atax, gcc: slow: why not, gcc", "lu, gcc: missing: why not, gcc",
                                      "lu, polysched: wrong: why not, polysched"]
    assert first_line("") == ""


def test_the_summary_names_what_is_below_its_target() -> None:
    assert summary_line([GEMM, ATAX, LOST]) == (
        "ours over the best peer: geometric mean 1.00 of 2 cases; below their target: atax 0.50 (target 0.8), "
        "lu no time (target 1)")
    assert summary_line([GEMM]) == "ours over the best peer: geometric mean 2.00 of 1 cases"
    assert summary_line([LOST]) == "nothing to compare"


def test_bars_are_speeds_over_the_best_peer() -> None:
    axes = best_peer_bars([GEMM, LOST, ATAX]).axes[0]
    heights = {c.get_label(): [round(bar.get_height(), 6) for bar in c] for c in axes.containers}
    assert heights == {"gcc": [0.5], "icc": [1.0, 1.0], "polysched": [2.0, 0.5], "polysched@4": [8.0]}
