"""Walks that leave nothing of use in the caches: twice of each, by every processor, and their words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from polysched.measure.timing import cold_cache, machine
from polysched.measure.timing.cold_cache import MOST_BYTES, Flush, flush_for, flush_from


@pytest.mark.parametrize(("caches", "shared", "private"), [
    ({"L1d": 32768, "L2": 1 << 20, "L3": 16 << 20}, 32 << 20, 2 << 20),
    ({"L2": 1 << 20}, 2 << 20, 0),
    ({"L2": 1 << 20, "L3": 1 << 30}, MOST_BYTES, 2 << 20),
    ({}, MOST_BYTES, 0),
])
def test_twice_what_caches_hold(caches: dict[str, int], shared: int, private: int,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "describe_machine", lambda: SimpleNamespace(caches=caches))
    assert flush_for((3, 1)) == Flush(shared_bytes=shared, private_bytes=private, processors=(1, 3))


def test_a_walk_is_its_words() -> None:
    flush = Flush(shared_bytes=100, private_bytes=20, processors=(0, 4))
    assert str(flush) == "100 20 0 4"
    assert flush_from(str(flush).split()) == flush
    assert flush_from([]) is None


def test_memory_is_walked_through() -> None:
    memory = cold_cache.FlushMemory(Flush(shared_bytes=4096, private_bytes=0, processors=()))
    memory.walk()
    memory.walk()
    assert memory._memory.size == 4096
