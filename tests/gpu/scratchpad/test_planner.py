"""Chunks in which the cube is fed, and elements that need a box."""

from __future__ import annotations

import pytest

from polysched.errors import UnsupportedScopError
from polysched.gpu.scratchpad.planner import split
from polysched.gpu.scratchpad.stages import Loop
from tests.gpu.scratchpad.accelerated import mapped, program


def test_chunks_keep_the_order_of_loops() -> None:
    loops = tuple(Loop(name=name, first=0, extent=extent) for name, extent in (("c", 24), ("r", 3), ("s", 3)))
    edges = {"c": 24, "r": 3, "s": 3}
    assert split(edges, loops, 300) == {"c": 24, "r": 3, "s": 3}
    assert split(edges, loops, 100) == {"c": 8, "r": 3, "s": 3}
    assert split(edges, loops, 4) == {"c": 1, "r": 1, "s": 3}
    assert split(edges, loops, 2) == {"c": 1, "r": 1, "s": 2}


def test_elements_without_a_box_are_refused() -> None:
    text = program("int n, float x[n * n], const float y[n]", "for (int i = 0; i < n; i++) x[i * i] = y[i];")
    with pytest.raises(UnsupportedScopError):
        mapped(text, sizes={"n": 9})
