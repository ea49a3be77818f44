"""Buffers and blocks of tiles."""

from __future__ import annotations

from tests.gpu.scratchpad.accelerated import mapped, norm, product


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
