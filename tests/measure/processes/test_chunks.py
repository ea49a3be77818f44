"""Chunks of a campaign on threads: their order, and what a stop ends and tells."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from polysched.measure.processes.chunks import run_chunks
from polysched.measure.processes.isolation import Limits, Stop, run_isolated


def numbers(chunk: range, stop: Stop) -> Iterator[int]:
    """Each number; later chunks are faster."""
    time.sleep(0.02 / (1 + chunk.start))
    yield from chunk


def test_results_come_in_the_order_of_the_chunks() -> None:
    told: list[int] = []
    chunks = [range(k, k + 3) for k in range(0, 12, 3)]
    assert run_chunks(chunks, numbers, jobs=3, on_result=told.append) == told == list(range(12))


def test_a_stop_tells_what_chunks_had_and_starts_no_more() -> None:
    told, started = list[int](), list[int]()

    def waiting(chunk: range, stop: Stop) -> Iterator[int]:
        started.append(chunk.start)
        yield chunk.start
        while chunk.start and not stop.is_set():
            time.sleep(0.001)

    def hear(number: int) -> None:
        told.append(number)
        if number == 0:
            while len(started) < 2:
                time.sleep(0.001)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_chunks([range(k, k + 1) for k in range(20)], waiting, jobs=2, on_result=hear)
    assert told == sorted(started)
    assert len(started) < 20


def test_a_stop_in_the_middle_of_a_chunk_tells_its_rest() -> None:
    told: list[int] = []

    def hear(number: int) -> None:
        told.append(number)
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_chunks([range(3)], lambda chunk, stop: chunk, jobs=1, on_result=hear)
    assert told == [0, 1, 2]


def test_a_fault_of_a_chunk_ends_the_others() -> None:
    def broken(chunk: range, stop: Stop) -> Iterator[int]:
        if chunk.start == 0:
            raise ValueError("broken")
        while not stop.is_set():
            time.sleep(0.001)
        yield from chunk

    with pytest.raises(ValueError, match="broken"):
        run_chunks([range(1), range(1, 2)], broken, jobs=2)


def test_a_stop_ends_a_child_that_is_silent(tmp_path: Path) -> None:
    stop, began = Stop(), time.monotonic()
    stop.set()
    run_isolated("http.server", {}, folder=tmp_path, limits=Limits(seconds=60), stop=stop)
    stop.close()
    assert time.monotonic() - began < 20
