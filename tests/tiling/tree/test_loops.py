"""Marked loops: built around a node, entered one after the other, and found below a band."""

from __future__ import annotations

import islpy as isl

from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, Leaf, Mark, Sequence, walk
from polysched.tiling.tree.loops import Loop, block_of, enter, has_loops, loops_below, nest
from polysched.tiling.tree.position import top
from tests.scheduling.primitives.programs import stencil


def function(text: str) -> isl.UnionPwAff:
    return isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, f"{{ S0[t, i] -> [{text}] }}")


T = Loop(function=function("t"), mark=LoopMark(member=0))
I_ = Loop(function=function("i"), mark=LoopMark(member=1, simd=True))


def test_a_block_of_iterations() -> None:
    block = block_of(I_, 8, Role.TILE)
    assert block.function.sub(function("floor(i/8)")).zero_union_set().is_equal(block.function.domain())
    assert block.mark == LoopMark(role=Role.TILE, member=1, simd=True)


def test_only_loops_between_tiles_are_so() -> None:
    roles = {role: Loop(function=I_.function, mark=LoopMark(role=role)).between_tiles for role in Role}
    assert [role for role, between in roles.items() if between] == [Role.TILE, Role.WAVEFRONT]


def test_a_nest_has_the_first_loop_outermost() -> None:
    leaf = Leaf()
    made = nest((T, I_), leaf)
    outer, inner, end = walk(made)
    assert isinstance(outer, Band)
    assert isinstance(inner, Band)
    assert (outer.mark, inner.mark) == (T.mark, I_.mark)
    assert end is leaf
    assert nest((), leaf) is leaf


def test_the_position_below_loops_has_those_inside_tiles_on_its_path() -> None:
    position = top(stencil().dependences, stencil().scop.domain)
    below = enter(position, (block_of(T, 4, Role.TILE), T, I_))
    assert len(below.path) == 2
    assert below.dependences.is_empty()
    assert enter(position, ()) is position


def test_loops_below_a_band_where_nothing_else_is() -> None:
    inner = Band(members=(I_.function,), coincident=(False,), permutable=True, child=Leaf())
    outer = Band(members=(T.function,), coincident=(False,), permutable=True, child=inner)
    assert loops_below(outer) == inner.members
    assert loops_below(inner) == ()
    marked = nest((I_,), Leaf())
    for child in (marked, Mark(name="m", child=inner), Sequence(branches=())):
        band = Band(members=(T.function,), coincident=(False,), permutable=True, child=child)
        assert loops_below(band) == ()
    assert has_loops(outer)
    assert not has_loops(Mark(name="m", child=Leaf()))
