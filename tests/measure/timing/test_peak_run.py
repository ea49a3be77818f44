"""Rates from a clock that is pretended, and the units in which they are reported."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from polysched.measure.processes.child_side import Reporter
from polysched.measure.timing import peak_run
from polysched.measure.timing.peak_run import TRIAL_SECONDS, TRIALS, best_rate
from tests.measure.told import Told


class Clock:
    """A machine on which a call takes some time to begin and then some per repetition."""

    def __init__(self) -> None:
        self.now = 0.0
        self.begin, self.each = 0.0, 1e-6
        self.slow: Iterator[float] = iter(())
        self.asked: list[int] = []

    def run(self, repetitions: int) -> None:
        self.asked.append(repetitions)
        self.now += self.begin + self.each * repetitions + next(self.slow, 0.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(peak_run, "time", SimpleNamespace(perf_counter=lambda: made.now))
    return made


@pytest.mark.parametrize("each", [1e-9, 1e-6, 1e-3, 0.5])
@pytest.mark.parametrize("expected", [0.0, 1e6, 1e-3, 1e12])
def test_a_rate_is_that_of_the_machine(clock: Clock, each: float, expected: float) -> None:
    clock.each = each
    assert best_rate(clock.run, expected=expected) == pytest.approx(1 / each)
    assert clock.asked[-1] * each >= TRIAL_SECONDS
    assert len(clock.asked) <= TRIALS + 2 * 12


def test_one_slow_call_is_no_trial(clock: Clock) -> None:
    """A first call that waits for its threads must not end the search for enough repetitions."""
    clock.slow = iter([1.0])
    assert best_rate(clock.run) == pytest.approx(1e6)


def test_the_best_trial_counts(clock: Clock) -> None:
    clock.slow = iter([0.0] * 8 + [1.0, 1.0])
    assert best_rate(clock.run, expected=2e6) == pytest.approx(1e6)


def test_a_call_that_takes_no_time_at_first_ends(clock: Clock) -> None:
    clock.each = 1e-14
    assert best_rate(clock.run) == pytest.approx(1e14)


class Kernel:
    """A function that takes types of arguments and results, as one of a library does."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def library(clock: Clock, *, permitted: int = 1) -> Any:
    """Kernels of a microsecond, and streams of one per thousand words; two threads slow one another down by half."""
    def stream(address: int, words: int, repetitions: int, threads: int = 1) -> None:
        assert words % 16 == 0
        clock.run(repetitions * (words // threads) // 1000)

    functions = {"peak_threads": lambda address, repetitions: clock.run(2 * repetitions), "stream": stream,
                 "stream_threads": stream, "tiles_permitted": lambda: permitted, "stream_step": lambda: 16,
                 "peak_float32": clock.run, "peak_int8_tiles": clock.run}
    return SimpleNamespace(**{name: Kernel(function) for name, function in functions.items()})


def test_operations_per_second_of_one_core_and_of_all(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak_run.ctypes, "cast", lambda kernel, kind: 0)
    operations = {"float32": 100.0, "int8_tiles": 1000.0}
    for permitted, names in ((1, ["float32", "int8"]), (0, ["float32"])):
        told = Told()
        peak_run.measure_arithmetic(library(clock, permitted=permitted), operations, 2, cast(Reporter, told))
        found = [r for r in told.reports if "arithmetic" in r]
        assert [r["arithmetic"] for r in found] == names
        assert [r["one"] for r in found] == pytest.approx([1e8, 1e9][:len(names)])
        assert [r["all"] for r in found] == pytest.approx([1e8, 1e9][:len(names)])   # two cores at half the speed


@pytest.mark.parametrize(("level", "threads", "keys"), [
    (1, 4, {"bandwidth", "one"}), (0, 1, {"bandwidth", "one"}), (0, 4, {"bandwidth", "one", "all"})])
def test_bytes_per_second_out_of_one_level(level: int, threads: int, keys: set[str], clock: Clock) -> None:
    told = Told()
    peak_run.measure_bandwidth(library(clock), level, 8 * 64_000 + 24, threads, cast(Reporter, told))
    report = told.reports[-1]
    assert set(report) == keys
    assert report["one"] == pytest.approx(8e9)   # a microsecond for a thousand words
    assert report.get("all", 32e9) == pytest.approx(32e9)
