"""Exhaustive search."""

from __future__ import annotations

from polysched.gpu.scratchpad.search import exhaustive
from tests.gpu.scratchpad.accelerated import mapped, norm


def test_no_tile_is_better_than_the_best() -> None:
    text = norm(6, 16)
    mapping = mapped(text)
    (own,) = mapping.groups.values()
    best = exhaustive(mapping, own, step=1)
    every = [next(iter(mapped(text, tile=(edge,)).groups.values())).cycles for edge in range(1, 7)]
    assert best.cycles == min(every)
