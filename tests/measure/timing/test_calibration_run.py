"""Trials by a clock that is pretended, and what is worked out from them before they are reported."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from polysched.measure.processes.child_side import Reporter
from polysched.measure.timing import calibration_run
from polysched.measure.timing.calibration_run import BLOCK_BYTES, TRIALS, trials
from polysched.measure.timing.calibration_source import ADDITIONS
from polysched.measure.timing.peak_run import TRIAL_SECONDS
from polysched.measure.timing.peak_source import CHAINS
from tests.measure.told import Told

START, EACH = 3e-7, 2e-9


class Machine:
    """A clock, and the functions of the program that move it."""

    def __init__(self) -> None:
        self.now = self.waited = 0.0
        self.asked: list[tuple[int, ...]] = []

    def spend(self, seconds: float) -> None:
        self.now += seconds

    def library(self) -> Any:
        made = {"calibrate_clock": lambda count: self.spend(count * ADDITIONS * 4e-10),
                "calibrate_team": lambda count, threads: self.spend(count * 1e-6 * threads),
                "calibrate_barrier": lambda count, threads: self.spend(count * 1e-7 * threads),
                "calibrate_rows": lambda sums, data, rows, length: self.spend(rows * (START + EACH * length)),
                "calibrate_allocation": lambda count, size: self.spend(count * size * 1e-12),
                "peak_float32": lambda count: self.spend(count * CHAINS * 1e-9), "stream_step": lambda: 24,
                "stream": self.stream,
                "stream_threads": lambda address, words, count, threads: self.stream(address, words, count / threads)}
        return SimpleNamespace(**{name: SimpleNamespace(call=f) for name, f in made.items()})

    def stream(self, address: int, words: int, count: int) -> None:
        assert words % 24 == 0
        self.asked.append((words, count))
        self.spend(count * words * 8e-10)


class Kernel(SimpleNamespace):
    def __call__(self, *arguments: Any) -> Any:
        return self.call(*arguments)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(calibration_run, "time", SimpleNamespace(
        perf_counter=lambda: made.now + made.waited, thread_time=lambda: made.now))
    return made


def reported(measure: str, machine: Machine, *arguments: Any) -> list[dict[str, Any]]:
    told = Told()
    library = SimpleNamespace(**{name: Kernel(call=f.call) for name, f in vars(machine.library()).items()})
    getattr(calibration_run, measure)(library, *arguments, cast(Reporter, told))
    return [r for r in told.reports if "measured" in r]


@pytest.mark.parametrize("each", [1e-9, 1e-4, 0.03])
def test_trials_are_long_and_per_repetition(machine: Machine, each: float) -> None:
    counts: list[int] = []

    def run(count: int) -> None:
        counts.append(count)
        machine.spend(each * count)

    assert trials(run) == pytest.approx([each] * TRIALS)
    assert len(set(counts[-TRIALS:])) == 1
    assert counts[-1] * each >= TRIAL_SECONDS > counts[-1] * each / 2 or counts[-1] == 1


def test_the_clock_of_one_thread_stands_still_while_another_program_has_the_core(machine: Machine) -> None:
    def run(count: int) -> None:
        machine.spend(1e-4 * count)
        machine.waited += 1e-4 * count

    assert trials(run) == pytest.approx([1e-4] * TRIALS)
    assert trials(run, threads=2) == pytest.approx([2e-4] * TRIALS)


def test_a_row_starts_in_what_its_iterations_do_not_take(machine: Machine) -> None:
    (report,) = reported("measure_rows", machine)
    assert report["measured"] == "row"
    assert report["seconds"] == pytest.approx([START] * TRIALS)


def test_a_team_and_a_barrier_of_all_threads(machine: Machine) -> None:
    team, barrier = reported("measure_threads", machine, 3)
    assert (team["measured"], barrier["measured"]) == ("team", "barrier")
    assert team["seconds"] == pytest.approx([3e-6] * TRIALS)
    assert barrier["seconds"] == pytest.approx([3e-7] * TRIALS)


def test_a_byte_of_every_level_in_whole_steps(machine: Machine) -> None:
    first, memory = reported("measure_streams", machine, [(1, 8 * 24 * 10 + 100), (0, 1)])
    assert [first["level"], memory["level"]] == [1, 0]
    assert {words for words, _ in machine.asked} == {240, 24}
    assert first["seconds"] == pytest.approx([1e-10] * TRIALS)
    assert memory["seconds"] == pytest.approx([1e-10] * TRIALS)


def test_a_multiply_add_and_a_cycle_are_one_of_many_and_a_block_is_one(machine: Machine) -> None:
    (vector,) = reported("measure_vectors", machine)
    (block,) = reported("measure_allocation", machine)
    (clock,) = reported("measure_clock", machine)
    assert clock["seconds"] == pytest.approx([4e-10] * TRIALS)
    assert vector["seconds"] == pytest.approx([1e-9] * TRIALS)
    assert block["seconds"] == pytest.approx([BLOCK_BYTES * 1e-12] * TRIALS)


def test_memory_is_read_by_all_threads_in_whole_steps_of_each(machine: Machine) -> None:
    (report,) = reported("measure_shared_memory", machine, 10_000, 3)
    assert report["measured"] == "shared byte"
    assert {words % (3 * 24) for words, _ in machine.asked} == {0}
    assert report["seconds"] == pytest.approx([1e-10 / 3] * TRIALS)
