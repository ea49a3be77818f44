"""Contests: verified before they are timed, one process at a time, whatever a contestant does."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from polysched.errors import PolyschedError
from polysched.experiment import Contender, Entry, Program, Rules, Standings, contest, run_contest
from polysched.experiment.contest import WARM_PART, MissingToolError, difference_of
from polysched.experiment.contestant import program, timed
from polysched.experiment.conversation import Conversation, EndedError, SilentError, read_arrays
from polysched.experiment.standings import Status
from polysched.measure.processes.perf_counters import PerfCounters
from polysched.measure.processes.threads import usable_processors
from polysched.measure.timing.cold_cache import Flush, FlushMemory, flush_for, flush_from
from polysched.measure.timing.machine import available_cores

PLAYERS = Path(__file__).parent / "players.py"


def contender(name: str, folder: Path, how: str = "right", seconds: float = 0.001) -> Contender:
    return Contender(name=name, make=lambda: Program(command=program(
        PLAYERS, "make", {"how": how, "seconds": seconds}, folder, name)))


def rules(**changes: float | bool) -> Rules:
    return Rules(**({"reference": "plain", "ours": ("polysched",), "budget_seconds": 1.0, "most_rounds": 4,
                     "limit_seconds": 2.0} | changes))  # type: ignore[arg-type]


def missing() -> Program:
    raise MissingToolError("ppcg is not on the PATH")


def halved(results: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: values / 2 for name, values in results.items()}


def test_every_end_of_a_variant_is_a_result(tmp_path: Path) -> None:
    hows = {"plain": "right", "polysched": "right", "a wrong one": "wrong", "a crash": "crash", "silent": "silent",
            "no start": "cannot start"}
    said: list[str] = []
    standings = run_contest([*(contender(name, tmp_path, how) for name, how in hows.items()),
                             Contender(name="ppcg", make=missing),
                             replace(contender("not half", tmp_path), expected=halved)], rules(), tmp_path, said.append)
    status = {v.name: v.status for v in standings.variants}
    assert status == {"plain": Status.VERIFIED, "polysched": Status.VERIFIED, "a wrong one": Status.WRONG,
                      "a crash": Status.FAILED, "silent": Status.SLOW, "no start": Status.FAILED,
                      "ppcg": Status.MISSING, "not half": Status.WRONG}
    problems = {v.name: v.problem for v in standings.variants}
    assert "values[3] is 8.001 instead of 8" in problems["a wrong one"]
    assert problems["a crash"].startswith("it crashed with SIGSEGV")
    assert problems["silent"] == "no answer within 2 s"
    assert "RuntimeError: no such library" in problems["no start"]
    assert "is 10 instead of 5 " in problems["not half"], "it ought to give half of the reference's results"
    assert problems["ppcg"] == "ppcg is not on the PATH"
    assert [v.name for v in standings.variants if v.timed] == ["plain", "polysched"], "no time without verification"
    assert all(v.note == "a note" for v in standings.variants if v.timed)
    assert "timing, round 4" in said
    ours = next(v for v in standings.variants if v.name == "polysched")
    assert ours.build is not None
    assert ours.build.flags == ("-O3",)
    untimed = sum(len(samples) // WARM_PART for samples in ours.rounds.values())
    assert all(len(samples) >= WARM_PART for samples in ours.rounds.values())
    assert len(ours.warmups) == 1 + untimed, "the call that was verified, and half as many before each turn's calls"
    assert set(ours.events) == set(PerfCounters().read()), "what can be counted here is counted"
    assert all(s.counters.keys() == set(ours.events) for calls in ours.rounds.values() for s in calls)
    again = Standings.from_json(standings.to_json())
    assert again == standings


def test_programs_without_contraction_decide_where_results_differ(tmp_path: Path) -> None:
    def player(name: str, how: str, exact: str) -> Contender:
        return replace(contender(name, tmp_path, how), exact=contender(f"{name} exact", tmp_path, exact).make)

    standings = run_contest([player("plain", "right", "contracted"), player("polysched", "wrong", "contracted"),
                             player("another bug", "wrong", "wrong"), player("far off", "far off", "contracted")],
                            rules(), tmp_path, [].append)
    found = {v.name: v for v in standings.variants}
    assert found["polysched"].status is Status.VERIFIED
    assert "compared without contraction, which changes the reference by" in found["polysched"].note
    assert found["another bug"].status is Status.WRONG
    assert "values[3] is 8.001 instead of 8" in found["another bug"].problem
    assert "without contraction, too" in found["another bug"].problem
    assert found["far off"].status is Status.WRONG


def test_who_is_silent_does_not_run_beside_the_others() -> None:
    waits = "print('ready', flush=True); input(); [0 for _ in iter(int, 1)]"
    with subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        talk = Conversation(process)
        talk.ready(limit_seconds=60.0)
        with pytest.raises(SilentError):
            talk.run(warm=0, calls=1, limit_seconds=0.1)
        assert process.wait(timeout=60.0) == -signal.SIGKILL


def test_ratios_compare_within_rounds(tmp_path: Path) -> None:
    players = [contender("plain", tmp_path, seconds=0.06), contender("polysched", tmp_path, seconds=0.02)]
    standings = run_contest(players, rules(budget_seconds=10.0), tmp_path, lambda phase: None)
    found = standings.speed_up("polysched", over="plain")
    assert found is not None
    assert 1.5 < found[0] < 4.5
    assert found[1].low <= found[0] <= found[1].high
    ours = standings.variant("polysched")
    assert ours is not None
    assert sorted(ours.rounds) == [1, 2, 3, 4]


def test_each_of_two_begins_every_other_round() -> None:
    turns: list[tuple[int, str]] = []

    def runner(name: str) -> Any:
        return SimpleNamespace(contender=contender(name, Path()), seconds=0.0, rounds={}, note="", largest_relative=0.0,
                               build=None, talk=SimpleNamespace(overhead_seconds=0.0, warmups=[]),
                               turn=lambda number, limit: turns.append((number, name)))

    contest._race([runner("plain"), runner("polysched")], rules(), {}, lambda phase: None)
    assert [number for number, _ in turns] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert [name for _, name in turns][::2] == ["polysched", "plain", "polysched", "plain"]


def test_only_the_near_ones_go_on_when_time_is_short(tmp_path: Path) -> None:
    players = {"plain": 0.1, "polysched": 0.1, "near": 0.1, "far": 0.7}
    standings = run_contest([contender(name, tmp_path, seconds=s) for name, s in players.items()],
                            rules(budget_seconds=2.2, most_rounds=20), tmp_path, lambda phase: None)
    rounds = {v.name: len(v.rounds) for v in standings.variants}
    assert rounds["far"] < rounds["near"]
    assert rounds["polysched"] == rounds["plain"] == rounds["near"]


def test_long_calls_are_their_own_first_sample(tmp_path: Path) -> None:
    players = [contender("plain", tmp_path, seconds=1.05), contender("polysched", tmp_path, seconds=0.2)]
    standings = run_contest(players, rules(budget_seconds=0.5, limit_seconds=10.0), tmp_path, lambda phase: None)
    assert all(sorted(v.rounds) == [0] for v in standings.variants), "a short one takes a turn beside them"
    assert standings.speed_up("polysched", over="plain") is not None


def test_a_reference_without_result_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(PolyschedError, match=r"the reference plain has no result: it crashed with SIGSEGV"):
        run_contest([contender("plain", tmp_path, "crash")], rules(), tmp_path, lambda phase: None)


@pytest.mark.parametrize("pin", [False, True])
def test_variants_are_bound_to_their_cores_when_asked(pin: bool, tmp_path: Path) -> None:
    players = [Contender(name=name, threads=1, make=lambda name=name: Program(command=program(
        PLAYERS, "where", {"how": "right"}, tmp_path, name))) for name in ("plain", "polysched")]
    standings = run_contest(players, rules(most_rounds=1, pin=pin), tmp_path, lambda phase: None)
    assert [v.note for v in standings.variants] == 2 * [f"{1 if pin else len(usable_processors())} "
                                                        f"{'close' if pin else None}"]
    assert len(usable_processors()) == available_cores(), "the timing process itself stays where it was"


def test_caches_are_flushed_between_the_inputs_and_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    entry = Entry(call=lambda: done.append("call"), restore=lambda: done.append("restore"), results=dict)
    memory = FlushMemory(Flush(shared_bytes=4096, private_bytes=1024, processors=usable_processors()))
    monkeypatch.setattr(FlushMemory, "walk", lambda self: done.append("flush"))
    timed(entry, PerfCounters(), "sample", memory)
    timed(entry, PerfCounters(), "sample")
    assert done == ["restore", "flush", "call", "restore", "call"]


ECHO = """
import sys
print("ready", flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "run":
        for word in ["warmup"] * int(words[1]) + ["sample"] * int(words[2]):
            print(word, 0.001, 0.001, 0.001, 0, *(f"number{i}={n}" for i, n in enumerate(words[3:])))
    else:
        open(words[1], "wb").write(b"raw\\na float64 1\\n" + b"?" * 8)
    print("done", flush=True)
"""


@pytest.mark.parametrize("cold", [False, True])
def test_every_contestant_is_told_to_flush_for_its_own_cores(cold: bool, tmp_path: Path) -> None:
    players = [Contender(name=name, threads=1, make=lambda: Program(command=(sys.executable, "-c", ECHO)))
               for name in ("plain", "polysched")]
    standings = run_contest(players, rules(most_rounds=2, pin=True, cold_cache=cold), tmp_path, lambda phase: None)
    told = flush_for(usable_processors()[:1]) if cold else ""
    for variant in standings.variants:
        for calls in variant.rounds.values():
            assert {" ".join(map(str, s.counters.values())) for s in calls} == {str(told)}
            assert (len(calls) == 1) == cold, "one call per turn: flushing takes longer than the turn"


def test_a_walk_visits_every_processor_and_comes_back() -> None:
    memory = FlushMemory(Flush(shared_bytes=256, private_bytes=128, processors=usable_processors()))
    memory.walk()
    assert usable_processors() == memory._flush.processors
    assert flush_from(str(memory._flush).split()) == memory._flush
    assert memory._memory[192] == 1
    assert memory._memory[0] == (1 if available_cores() == 1 else 1 + available_cores())


def test_zeros_and_infinities_prove_nothing() -> None:
    zero, good = {"x": np.zeros(3)}, {"x": np.ones(3)}
    assert "all zero" in difference_of(zero, zero, None)[0]
    assert "not finite" in difference_of({"x": np.array([1.0, np.inf, 1.0])}, good, None)[0]
    assert "not float64" in difference_of(good, {"x": np.ones(3, np.float32)}, None)[0]
    assert "instead of ['x']" in difference_of(good, {"y": np.ones(3)}, None)[0]
    assert difference_of(good, good, None) == ("", 0.0)


def test_raw_results_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    numbers, bytes_ = np.arange(5.0), np.arange(3, dtype=np.int8)
    path.write_bytes(b"raw\na float64 5\n" + numbers.tobytes() + b"b int8 3\n" + bytes_.tobytes())
    arrays = read_arrays(path)
    np.testing.assert_array_equal(arrays["a"], numbers)
    np.testing.assert_array_equal(arrays["b"], bytes_)
    path.write_bytes(b"something else")
    with pytest.raises(EndedError, match="no known form"):
        read_arrays(path)
