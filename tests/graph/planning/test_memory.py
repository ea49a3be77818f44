"""Offsets: what lives together does not overlap, and little is wasted."""

import random

import pytest

from polysched.graph.limits import LIMITS
from polysched.graph.planning.memory import ALIGNMENT, Buffer, arena_of, attempts


@pytest.mark.parametrize("seed", range(20))
def test_no_two_that_live_together_overlap(seed: int) -> None:
    draw = random.Random(seed)
    buffers = []
    for number in range(40):
        first = draw.randrange(30)
        buffers.append(Buffer(name=str(number), bytes=draw.randrange(1, 5000), first=first,
                              last=first + draw.randrange(6)))
    arena = arena_of(buffers)
    for a in buffers:
        assert arena.offsets[a.name] % ALIGNMENT == 0
        assert arena.offsets[a.name] + a.bytes <= arena.bytes
        for b in buffers:
            if a is not b and a.meets(b):
                low, high = sorted((a, b), key=lambda o: arena.offsets[o.name])
                assert arena.offsets[low.name] + low.bytes <= arena.offsets[high.name]
    assert arena.peak_bytes <= arena.bytes


def test_a_chain_needs_two_places() -> None:
    chain = [Buffer(name=str(n), bytes=64, first=n, last=n + 1) for n in range(9)]
    assert arena_of(chain).bytes == arena_of(chain).peak_bytes == 128


def test_nothing_needs_nothing() -> None:
    assert arena_of([]).bytes == 0


def test_what_ends_an_arena_that_is_too_large_goes_first() -> None:
    lives = [(2, 0, 1), (3, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5), (1, 1, 4)]
    buffers = [Buffer(name=str(n), bytes=64 * size, first=first, last=last)
               for n, (size, first, last) in enumerate(lives)]
    assert arena_of(buffers).bytes == arena_of(buffers).peak_bytes == 64 * 6


def test_thousands_of_small_values_leave_time_for_a_second_attempt() -> None:
    lives = [(2, 0, 1), (3, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5), (1, 1, 4)]
    small = [Buffer(name=f"s{n}", bytes=4, first=6 + n % 3, last=6 + n % 3) for n in range(2400)]
    large = [Buffer(name=str(n), bytes=64 * 800 * size, first=first, last=last)
             for n, (size, first, last) in enumerate(lives)]
    arena = arena_of([*small, *large])
    assert arena.bytes == arena.peak_bytes == 64 * 800 * 6


def test_attempts_are_bounded() -> None:
    assert attempts(0) == LIMITS.most_arenas
    assert attempts(10**6) == 1
