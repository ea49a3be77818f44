"""Packing: nothing in use together overlaps, the peak is the least, and an overflow names what binds."""

from __future__ import annotations

import random

import pytest

from polysched.errors import UnsupportedScopError
from polysched.gpu.scratchpad.placement import Placement, fits, place
from polysched.gpu.scratchpad.plan import Buffer
from polysched.target.scratchpads.davinci import DAVINCI


def _buffer(name: str, size: int, first: int, last: int, slots: int = 1) -> Buffer:
    return Buffer(name=name, memory="UB", array=name, extents=(size,), element_bytes=1, c_type="char", first=first,
                  last=last, slots=slots)


def _check(placement: Placement) -> None:
    for own in placement.slots:
        for other in placement.slots:
            assert own is other or not (own.overlaps(other) and own.meets(other)), (own, other)


def test_lives_that_do_not_meet_share_bytes() -> None:
    placement = place(DAVINCI, [_buffer("a", 100, 0, 1), _buffer("b", 100, 2, 3)], where="a test")
    assert placement.peaks["UB"] == 128
    assert len(placement.of("a")) == 1
    _check(placement)


def test_random_lives_are_packed_to_the_least_peak() -> None:
    chance = random.Random(3)
    for _ in range(20):
        buffers = [_buffer(f"b{k}", 32 * chance.randint(1, 9), first := chance.randint(0, 4),
                           first + chance.randint(0, 3), chance.choice((1, 2))) for k in range(8)]
        placement = place(DAVINCI, buffers, where="a test")
        _check(placement)
        demand = max(sum(b.bytes * b.slots for b in buffers if b.first <= stage <= b.last) for stage in range(8))
        assert demand <= placement.peaks["UB"] <= place(DAVINCI, buffers, where="a test", exact=False).peaks["UB"]


def test_an_overflow_names_the_buffer_that_binds_and_what_would_fit() -> None:
    buffers = [_buffer("small", 1024, 0, 1), _buffer("large", 200 * 1024, 0, 0, slots=2)]
    assert not fits(DAVINCI, buffers)
    with pytest.raises(UnsupportedScopError, match="UB has 262144 bytes, and stage 0 needs 410624") as refused:
        place(DAVINCI, buffers, where="a test")
    assert "large" in str(refused.value.witness)
    assert "130560 bytes for a slot of large would fit" in str(refused.value.hint)
