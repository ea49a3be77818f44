"""Which elements of a register tile live in registers, and around which of its loops."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Linear, constant, extreme, variable
from polysched.emit_c.loop_ir.loops import Block, Edge, For, RegisterTile, StatementInstance
from polysched.emit_c.register_tiles.accumulators import (
    TileAccess,
    can_run_twice,
    offset_name,
    promotion_levels,
)
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach

I_, J, K, L, N = (variable(x) for x in "ijkln")
ZERO = constant(0)
FACTS = Facts(context=isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n >= 32 }"))
EDGES = (Edge("i", I_, 2, False), Edge("j", J, 8, True))


def tile(*loops: For) -> RegisterTile:
    return RegisterTile(loops, EDGES, StatementInstance("S", (I_, J, K)))


def loop(name: str, lower: Linear = ZERO, upper: Linear = N) -> For:
    return For(name, lower, upper, 1, Block(()))


def access(*subscripts: Linear, writes: bool = False, lanes: Lanes = Lanes.UNIT, array: str = "C") -> TileAccess:
    keys = tuple(Reach(array, tuple(form + (k if form == I_ else 0) for form in subscripts), lanes, 8) for k in (0, 1))
    return TileAccess(Reach(array, subscripts, lanes, 8), keys, writes)


SUM = (access(I_, J, writes=True), access(I_, J))
OPERANDS = (access(I_, K, array="A", lanes=Lanes.UNIFORM), access(K, J, array="B"))


def test_sums_live_around_all_loops_of_a_tile() -> None:
    assert promotion_levels(tile(loop("k")), (*SUM, *OPERANDS), FACTS) == {"C": 0}
    assert promotion_levels(tile(loop("l"), loop("k")), (*SUM, *OPERANDS), FACTS) == {"C": 0}


def test_an_element_that_a_loop_moves_lives_around_those_inside() -> None:
    moved = (access(I_, J + L * 8, writes=True), access(I_, J + L * 8))
    assert promotion_levels(tile(loop("l"), loop("k")), moved, FACTS) == {"C": 1}
    assert promotion_levels(tile(loop("k"), loop("l")), moved, FACTS) == {}


def test_a_loop_that_may_not_run_keeps_elements_inside_of_it() -> None:
    empty = tile(loop("l"), loop("k", L, constant(3)))
    assert promotion_levels(empty, SUM, FACTS) == {"C": 1}


@pytest.mark.parametrize("other", [
    access(K, J),                       # may be a row of the tile
    access(I_, J + 1),                   # shares elements of a vector
    TileAccess(Reach("C", None, Lanes.UNKNOWN, 1), (), False),
    access(I_, J, lanes=Lanes.SPREAD),
])
def test_another_access_of_the_array_forbids_it(other: TileAccess) -> None:
    assert promotion_levels(tile(loop("k")), (*SUM, other), FACTS) == {}


def test_another_access_that_never_meets_the_sums_does_not() -> None:
    below = tile(loop("k", constant(0), I_))
    apart = access(K, J)
    assert promotion_levels(below, (*SUM, apart), FACTS) == {"C": 0}, "k < i"
    one_more = tile(loop("k", constant(0), extreme("min", (I_ + 1, N))))
    assert promotion_levels(one_more, (*SUM, apart), FACTS) == {}


def test_vectors_side_by_side_share_no_element() -> None:
    beside = (access(I_, J + 8, writes=True), access(I_, J + 8))
    assert promotion_levels(tile(loop("k")), (*SUM, *beside), FACTS) == {"C": 0}


def test_what_is_only_read_has_no_level() -> None:
    assert promotion_levels(tile(loop("k")), OPERANDS, FACTS) == {}


def test_names_of_registers_say_how_far_they_are_from_the_first() -> None:
    origin = Reach("C", (I_, J), Lanes.UNIT, 8)
    assert offset_name("C", Reach("C", (I_ + 2, J + 8), Lanes.UNIT, 8), origin, 5) == "C_2_8"
    assert offset_name("C", Reach("C", (I_ - 1, J), Lanes.UNIT, 8), origin, 5) == "C_5"
    assert offset_name("C", Reach("C", (K, J), Lanes.UNIT, 8), origin, 5) == "C_5"


OTHER = (access(I_, J, array="D", writes=True), access(I_, J, array="D"))
MOVING = (access(I_, J + K * 8, writes=True), access(I_, J + K * 8))


@pytest.mark.parametrize(("accesses", "levels", "twice"), [
    (SUM, {"C": 0}, True),                        # read from registers
    (SUM, {}, False),                             # read from memory, where the first result would be
    (SUM[:1], {}, True),                          # written only
    ((*SUM[:1], *OPERANDS), {}, True),
    ((*SUM, *OTHER), {"C": 0}, False),
    ((*SUM, *OTHER), {"C": 0, "D": 1}, True),
    (MOVING, {"C": 0}, False),                    # C lives in registers, but not these elements
    ((*SUM, *MOVING[:1]), {"C": 0}, True),
])
def test_points_may_be_computed_twice_where_memory_that_they_write_is_not_read(
        accesses: tuple[TileAccess, ...], levels: dict[str, int], twice: bool) -> None:
    assert can_run_twice(tile(loop("k")), accesses, levels) == twice
