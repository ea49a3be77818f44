"""Standings: medians of rounds, ratios within rounds, and every repeat kept through JSON."""

from __future__ import annotations

import json
import math

import pytest

from polysched.experiment.standings import Standings, Status, VariantTimes, geometric_mean
from polysched.measure.measurement import Build
from polysched.measure.timing.statistics import Sample

BUILD = Build(compiler="gcc", version="gcc 12", flags=("-O3", "-g"), source_sha256="0" * 64, compile_seconds=0.1)


def sample(seconds: float, *, thread: float | None = None, switches: int = 0, **counters: int) -> Sample:
    cpu = seconds if thread is None else thread
    return Sample(wall_seconds=seconds, thread_cpu_seconds=cpu, process_cpu_seconds=cpu, involuntary_switches=switches,
                  counters=counters)


def variant(name: str, rounds: dict[int, list[float]], status: Status = Status.VERIFIED) -> VariantTimes:
    return VariantTimes(name=name, status=status, rounds={n: tuple(map(sample, s)) for n, s in rounds.items()})


def test_a_time_is_the_median_of_the_rounds_medians() -> None:
    own = variant("a", {0: [1.0, 9.0, 2.0], 1: [4.0], 5: [3.0, 5.0]})
    assert own.round_seconds == {0: 2.0, 1: 4.0, 5: 4.0}
    assert own.seconds == 4.0
    assert own.timed


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.VERIFIED])
def test_what_is_not_verified_has_no_time(status: Status) -> None:
    assert not variant("a", {}, status).timed
    with pytest.raises(ValueError, match="unverified"):
        variant("a", {0: [1.0]}, status)


def test_a_ratio_is_of_one_round() -> None:
    """The second is twice as slow in each round that both ran, whatever the machine did meanwhile."""
    standings = Standings(variants=(variant("a", {0: [1.0], 1: [10.0], 2: [3.0], 7: [100.0]}),
                                    variant("b", {0: [2.0], 1: [20.0], 2: [6.0], 8: [0.1]}), variant("none", {}),
                                    variant("apart", {30: [1.0]})))
    found = standings.speed_up("a", over="b")
    assert found is not None
    assert found[0] == 2.0
    assert (found[1].low, found[1].high) == (2.0, 2.0)
    back = standings.speed_up("b", over="a")
    assert back is not None
    assert back[0] == 0.5
    assert [standings.speed_up("a", over=name) for name in ("none", "apart", "unknown")] == [None] * 3


def test_the_fastest_is_one_of_those_named_that_has_a_time() -> None:
    standings = Standings(variants=(variant("a", {0: [3.0]}), variant("b", {0: [2.0]}), variant("c", {0: [1.0]}),
                                    variant("none", {})))
    for names, expected in ((["a", "b", "none"], "b"), (["c"], "c")):
        found = standings.fastest(iter(names))
        assert found is not None
        assert found.name == expected
    assert standings.fastest(["none", "unknown"]) is None
    assert standings.fastest([]) is None


def test_the_share_of_disturbed_calls_is_of_all_rounds() -> None:
    calls = {0: (sample(1.0), sample(1.0, thread=0.5)), 1: (sample(1e-6, switches=1), sample(1.0))}
    assert VariantTimes(name="a", status=Status.VERIFIED, rounds=calls).disturbed_share == 0.5
    assert variant("none", {}).disturbed_share == 0.0


def test_everything_is_kept_through_json() -> None:
    calls = {0: (sample(0.1, cycles=7, misses=1), sample(0.3, misses=2)), 12: (sample(0.2, thread=0.1, switches=3),)}
    full = VariantTimes(name="a", status=Status.VERIFIED, note="-O3", largest_relative=1e-9, rounds=calls, build=BUILD,
                        warmups=(sample(0.5, more=9),))
    wrong = VariantTimes(name="b", status=Status.WRONG, problem="A[0] is 1")
    standings = Standings(variants=(full, wrong))
    assert full.events == ("more", "cycles", "misses")
    stored = json.loads(json.dumps(standings.to_json()))
    assert Standings.from_json(stored) == standings
    assert [v["seconds"] for v in stored["variants"]] == [0.2, None]
    assert stored["variants"][0]["rounds"]["0"][1] == [0.3, 0.3, 0.3, 0, None, None, 2]


def test_a_row_of_another_length_is_no_record() -> None:
    stored = Standings(variants=(variant("a", {0: [1.0]}),)).to_json()
    stored["variants"][0]["rounds"]["0"][0].append(5)
    with pytest.raises(ValueError, match="zip"):
        Standings.from_json(stored)


def test_a_geometric_mean_is_that_of_the_logarithms() -> None:
    values = [0.5, 2.0, 7.0, 1e-3]
    assert geometric_mean(values) == pytest.approx(math.exp(sum(map(math.log, values)) / 4))
    with pytest.raises(ValueError, match="mean"):
        geometric_mean([])
