"""The loops of a register block: block loops outside, the loops of the sum, then rows and columns.

Rewrite:  [i, j, k]  ->  [i//MR, j//NR, k, i, j]      (k is the sum; i and j are unrolled into registers)
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

import islpy as isl

from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Leaf, Node, Sequence, multi_union_pw_aff
from polysched.tiling.limits import LIMITS
from polysched.tiling.planning.band_plan import BandPlan
from polysched.tiling.tree.distribute import sets_of, statement_groups, statement_names
from polysched.tiling.tree.loops import Loop, block_of, enter, nest
from polysched.tiling.tree.position import Position, is_legal

PART = LIMITS.sum_part


def register_nest(loops: tuple[Loop, ...], plan: BandPlan, position: Position, child: Node) -> Node | None:
    """The point loops of a band as register blocks; None when that is not legal.

    Statements without the block's sum stand beside it, below the block loops, in loops of their own.  Where the
    dependences between statements allow no such order, the parts of blocks that hold instances of several statements
    (along the diagonal of a triangular nest, say) keep plain loops, and all others become register blocks.

    Parameters
    ----------
    position : the place below the tile loops.
    child : what stood below the band.
    """
    shape = plan.shape
    assert shape is not None
    blocks = [block_of(loops[shape.rows], shape.row_count, Role.TILE),
              block_of(loops[shape.columns], shape.column_count, Role.TILE)]
    # Without tile loops around them they may run on threads.
    outside = (loop if plan.order else replace(loop, mark=replace(loop.mark, role=Role.LOOP))
               for loop in (loops[k] for k in shape.outer))
    around = (*outside, *(blocks if plan.rows_first else reversed(blocks)))
    if plan.columns_outside:
        around = (blocks[1], *(loop for loop in around if loop is not blocks[1]))
    below = enter(position, around)
    separated = _by_statement(loops, plan, below)
    if separated is not None and is_legal(below, _sequence(separated)):
        return nest(around, _sequence(separated))
    for statements in (statement_names(below.domain), [shape.statement]):
        summing = [name for name in statements if keep_sums(plan, name)]
        split = _by_block(loops, plan, below, around, summing, child)
        for branches in () if split is None else (split, split[::-1]):
            if is_legal(below, _sequence(branches)):
                return nest(around, _sequence(branches))
    return None


def _sequence(branches: tuple[tuple[isl.UnionSet, Node], ...]) -> Node:
    return branches[0][1] if len(branches) == 1 else Sequence(branches=branches)


def _by_statement(loops: tuple[Loop, ...], plan: BandPlan,
                  position: Position) -> tuple[tuple[isl.UnionSet, Node], ...] | None:
    groups = statement_groups(position)
    if groups is None:
        return None
    return tuple((keep, nest(_inner_loops(loops, plan, sums=keep_sums(plan, name)), Leaf())) for name, keep in groups)


def _by_block(loops: tuple[Loop, ...], plan: BandPlan, position: Position, around: tuple[Loop, ...],
              summing: list[str], child: Node) -> tuple[tuple[isl.UnionSet, Node], ...] | None:
    """What shares a part of a block with other statements as plain loops, and all the rest as register blocks.

    Parts are cut by the innermost loop of the sum, so that the plain loops stay near the diagonal.  No part
    reaches over the end of a block's columns: where the sum ends at the diagonal, that is where a part ends.  The
    tile loops outside are left out of the question: blocks mostly lie in one tile, and the sets stay simple.

    Parameters
    ----------
    summing : the statements of which the parts that they have for themselves become register blocks.
    """
    assert plan.shape is not None
    part_of_sum = block_of(loops[plan.shape.inner[-1]], gcd(PART, plan.shape.column_count), Role.POINT)
    coordinates = multi_union_pw_aff((*position.path, *(loop.function for loop in (*around, part_of_sum))))
    place = isl.UnionMap.from_multi_union_pw_aff(coordinates).intersect_domain(position.domain)
    rest, blocks = position.domain, []
    for part in sets_of(position.domain):
        if part.get_tuple_name() in summing:
            main = isl.UnionSet.from_set(part)
            others = place.subtract_domain(main).range()
            pure = main.subtract(place.intersect_domain(main).intersect_range(others).domain()).coalesce()
            rest = rest.subtract(pure)
            blocks += [] if pure.is_empty() else [(pure, nest(_inner_loops(loops, plan, sums=True), Leaf()))]
    plain = nest(_inner_loops(loops, plan, sums=False), child)
    return ((rest.coalesce(), plain), *blocks) if blocks else None


def keep_sums(plan: BandPlan, statement: str) -> bool:
    """The statement adds into the accumulators, so it runs as a register block."""
    assert plan.shape is not None
    own = [r for r in plan.nest.references if statement in r.statements]
    loops = plan.shape.inner
    return any(r.moves_with(loop) for r in own for loop in loops) and not any(
        r.writes and r.moves_with(loop) for r in own for loop in loops)


def _inner_loops(loops: tuple[Loop, ...], plan: BandPlan, *, sums: bool) -> tuple[Loop, ...]:
    shape = plan.shape
    assert shape is not None
    rows, columns = loops[shape.rows], loops[shape.columns]
    if sums:
        rows = replace(rows, mark=replace(rows.mark, register=True, unroll=shape.row_count))
        columns = replace(columns, mark=replace(columns.mark, register=True, unroll=shape.column_count,
                                                in_place=shape.in_place, packs_few=shape.packs_few))
    return (*(loops[k] for k in shape.inner), rows, columns)
