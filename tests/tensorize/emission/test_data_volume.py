"""Tiles by data volume are whole register blocks that fit their cache, in an order with the sums inside."""

from __future__ import annotations

import math

import pytest

from polysched.target import host
from polysched.tensorize.emission.blocking import register_blocks
from polysched.tensorize.emission.data_volume import _orders, _problem, searched_tiles
from polysched.tensorize.emission.nest import NestLoop, nest_loops, uses
from polysched.tensorize.matching.mapping import Match
from tests.tensorize.products import product

SIZES = [(512, 512, 512), (64, 4096, 64), (4096, 48, 1024)]


def blocked(m: int, n: int, k: int) -> tuple[Match, list[NestLoop]]:
    found = product("vpdpbusd", m=m, n=n, k=k)
    return found, register_blocks(found, nest_loops(found), None, 0)


@pytest.mark.parametrize("size", SIZES)
def test_loops_stay_the_same_but_for_their_order_and_tiles(size: tuple[int, int, int]) -> None:
    found, loops = blocked(*size)
    answer = searched_tiles(found, loops, host())
    assert answer is not None
    tiled, choice = answer
    assert sorted(loop.name for loop in tiled) == sorted(loop.name for loop in loops)
    reductions = [loop.reduction for loop in tiled]
    assert reductions == sorted(reductions), "sums are inside"
    for at, edge in enumerate(choice.edges):
        granule = loops[at].unroll * (found.extent(loops[at].group) if loops[at].group >= 0 else 1)
        mine = next(loop for loop in tiled if loop.name == loops[at].name)
        assert edge % granule == 0 or edge >= granule * loops[at].blocks
        assert mine.tile == (0 if -(-edge // granule) >= mine.blocks else -(-edge // granule))


@pytest.mark.parametrize("size", SIZES)
def test_the_problem_has_the_elements_that_operands_really_have(size: tuple[int, int, int]) -> None:
    found, loops = blocked(*size)
    problem = _problem(found, loops, host(), threads=1)
    for reference in problem.nest.references:
        mine = [at for at, loop in enumerate(loops) if uses(found, reference.array, loop)]
        covered = math.prod(problem.nest.extents[at] for at in mine)
        variable = found.intrinsic.parsed.operand(reference.array)
        inner = variable.elements // math.prod(found.extent(loops[at].group) for at in mine if loops[at].group >= 0)
        held = found.contents[reference.array]
        own = math.prod(found.fragment.loop(n).extent for n in found.fragment.loops_of(held))
        assert own <= covered * inner < 2 * own, "all elements, and padding to whole blocks"
        assert reference.element_bytes == variable.dtype.bytes
        assert reference.writes is variable.written
        assert reference.reads is not variable.written
    assert problem.capacity_bytes <= host().caches[1].size_bytes
    assert all(e % g == 0 for e, g in zip(problem.nest.extents, problem.granules, strict=True))


def test_orders_have_a_spatial_loop_outermost_and_every_loop_once() -> None:
    loops = [NestLoop(name=n, count=4, reduction=r) for n, r in (("i", False), ("j", False), ("k", True))]
    orders = _orders(loops, [0, 1])
    assert len(set(orders)) == len(orders)
    assert all(sorted(o) == [0, 1, 2] and o[0] in (0, 1) for o in orders)
    assert {o[-1] for o in orders} == {0, 1, 2}
    assert _orders(loops[:1], [0]) == ((0,),)


def test_without_loops_or_with_sums_in_order_there_is_no_search() -> None:
    found, loops = blocked(512, 512, 512)
    assert searched_tiles(found, [], host()) is None
    many = [NestLoop(name=f"l{at}", count=2) for at in range(12)]
    assert searched_tiles(found, many, host()) is None
    assert len(loops) <= 12
