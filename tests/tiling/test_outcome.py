"""What became of each band is what the marks of the finished tree say, not what was planned."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, Leaf
from polysched.tiling import TilingOptions, tile
from polysched.tiling.outcome import NOT_ASKED, what_was_done, with_choices
from tests.tiling import kernels
from tests.tiling.planning.test_shared_steps import planned


def nested(*marks: LoopMark | None) -> Band | Leaf:
    """Loops with these marks inside each other."""
    node: Band | Leaf = Leaf()
    for mark in reversed(marks):
        node = Band(members=(), child=node, permutable=True, coincident=(), mark=mark)
    return node


TILE, POINT = LoopMark(role=Role.TILE), LoopMark(role=Role.POINT)


def mark(role: Role, member: int, **more: object) -> LoopMark:
    return LoopMark(role=role, member=member, **more)


def test_members_and_threads_come_from_the_marks() -> None:
    root = nested(mark(Role.WAVEFRONT, 1), mark(Role.TILE, 0, parallel=True), mark(Role.POINT, 0), mark(Role.POINT, 1))
    done, = what_was_done(root, {1: 0}, {})
    assert (done.wavefront, done.tile_members, done.parallel_member, done.pieces) == (True, (1, 0), 0, 0)
    assert (done.sizes, done.register, done.plan, done.untiled) == ((), (), None, None)


def test_a_register_block_is_told_only_where_the_tree_has_it() -> None:
    plan, _ = planned()
    assert plan.shape is not None
    with_block, = what_was_done(nested(mark(Role.POINT, 0, register=True)), {1: 0}, {0: plan})
    without, = what_was_done(nested(mark(Role.POINT, 0)), {1: 0}, {0: plan})
    assert with_block.register == (plan.shape.row_count, plan.shape.column_count)
    assert without.register == ()
    assert with_block.sizes == without.sizes == plan.sizes


def test_strips_are_of_the_bands_below_them() -> None:
    root = nested(LoopMark(band=0, strip=64), LoopMark(band=1), LoopMark(band=2))
    assert [b.strip for b in what_was_done(root, {1: 0, 2: 1, 3: 2}, {})] == [64, 64, 64]
    root = nested(LoopMark(band=1), LoopMark(band=0, strip=64))
    assert {b.band: b.strip for b in what_was_done(root, {1: 0, 2: 1}, {})} == {0: 64, 1: 0}


@pytest.mark.parametrize("sizes", [4, "off"])
def test_bands_of_a_tiled_product(sizes: int | str) -> None:
    made = tile(pluto(analyse(kernels.product())), TilingOptions(sizes=sizes, register=False))
    band, = made.bands
    assert band.sizes == ((4, 4, 4) if sizes == 4 else ())
    assert bool(band.tile_members) == (sizes == 4)


def test_choices_by_hand_are_judged_by_what_was_made() -> None:
    inner = nested(LoopMark(band=0))
    assert isinstance(inner, Band)
    outer = Band(members=(), child=inner, permutable=True, coincident=(), mark=LoopMark(band=1))
    numbers = {id(outer): 1, id(inner): 0}
    done = what_was_done(outer, numbers, {})
    found = {d.number: d for d in with_choices(outer, numbers, {}, done, {1: "too large"})}
    assert found[0].plan is NOT_ASKED
    assert (found[0].misfit, found[1].misfit) == ("", "too large")
    assert not found[0].has_block
