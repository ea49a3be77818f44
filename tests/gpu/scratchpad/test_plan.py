"""Buffers and blocks of tiles."""

from __future__ import annotations

import pytest

from polysched.errors import UnsupportedScopError
from polysched.gpu.scratchpad.plan import split
from polysched.gpu.scratchpad.stages import Loop
from tests.gpu.scratchpad.accelerated import mapped, norm, product, program


def test_chunks_keep_the_order_of_loops() -> None:
    loops = tuple(Loop(name=name, first=0, extent=extent) for name, extent in (("c", 24), ("r", 3), ("s", 3)))
    edges = {"c": 24, "r": 3, "s": 3}
    assert split(edges, loops, 300) == {"c": 24, "r": 3, "s": 3}
    assert split(edges, loops, 100) == {"c": 8, "r": 3, "s": 3}
    assert split(edges, loops, 4) == {"c": 1, "r": 1, "s": 3}
    assert split(edges, loops, 2) == {"c": 1, "r": 1, "s": 2}


def test_what_no_loop_of_tiles_moves_is_loaded_once() -> None:
    (own,) = mapped(product(64, 32, 32), tile=(32, 16)).groups.values()
    (cube,) = own.plan.cubes.values()
    assert sorted((cube.left.every, cube.right.every)) == [1, 4]
    kept = cube.right if cube.right.every > 1 else cube.left
    assert kept.box is not None
    assert (kept.box.first, kept.box.last) == (0, 0)


def test_buffers_that_tiles_move_have_two_slots() -> None:
    (own,) = mapped(norm(16, 8), tile=(4,)).groups.values()
    assert {home.buffer.slots for home in own.plan.homes.values()} == {2}
    (own,) = mapped(norm(16, 8), tile=(4,), double_buffering=False).groups.values()
    assert {home.buffer.slots for home in own.plan.homes.values()} == {1}


def test_edges_beyond_the_loops_are_cut() -> None:
    (own,) = mapped(product(20, 30, 16), tile=(99, 99)).groups.values()
    assert own.plan.tiles == 1
    assert sorted(own.plan.edges) == [20, 30]


def test_elements_without_a_box_are_refused() -> None:
    text = program("int n, float x[n * n], const float y[n]", "for (int i = 0; i < n; i++) x[i * i] = y[i];")
    with pytest.raises(UnsupportedScopError):
        mapped(text, sizes={"n": 9})
