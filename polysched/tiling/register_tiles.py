"""The loops of a register block: block loops outside, the loops of the sum, then rows and columns.

Rewrite:  [i, j, k]  ->  [i//MR, j//NR, k, i, j]      (k is the sum; i and j are unrolled into registers)
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.scheduling.loop_tree import Leaf, Node, Sequence
from polysched.scheduling.marks import Role
from polysched.tiling.distribute import statement_groups
from polysched.tiling.loops import Loop, enter, nest
from polysched.tiling.plan import BandPlan
from polysched.tiling.position import Position
from polysched.tiling.register_shape import RegisterShape


def block_of(loop: Loop, size: int, role: Role) -> Loop:
    """The loop over blocks of `size` iterations of a loop."""
    edge = isl.Val.int_from_si(isl.DEFAULT_CONTEXT, size)
    return Loop(function=loop.function.scale_down_val(edge).floor(), mark=replace(loop.mark, role=role))


def register_nest(loops: tuple[Loop, ...], plan: BandPlan, position: Position) -> Node | None:
    """The point loops of a band as a register block; None when its statements cannot be separated.

    Statements without the block's sum stand beside it, below the block loops, in loops of their own.
    """
    shape = plan.shape
    assert shape is not None
    blocks = [block_of(loops[shape.rows], shape.row_count, Role.TILE),
              block_of(loops[shape.columns], shape.column_count, Role.TILE)]
    around = (*(loops[k] for k in shape.outer), *(blocks if plan.rows_first else reversed(blocks)))
    groups = statement_groups(enter(position, around))
    if groups is None:
        return None
    branches = tuple((keep, nest(_inner_loops(loops, shape, sums=keep_sums(plan, name)), Leaf()))
                     for name, keep in groups)
    if len(branches) == 1:
        return nest(around, branches[0][1])
    return nest(around, Sequence(branches=branches))


def keep_sums(plan: BandPlan, statement: str) -> bool:
    """The statement adds into the accumulators, so it runs as a register block."""
    assert plan.shape is not None
    own = [r for r in plan.nest.references if statement in r.statements]
    loops = plan.shape.inner
    return any(r.moves_with(loop) for r in own for loop in loops) and not any(
        r.writes and r.moves_with(loop) for r in own for loop in loops)


def _inner_loops(loops: tuple[Loop, ...], shape: RegisterShape, *, sums: bool) -> tuple[Loop, ...]:
    rows, columns = loops[shape.rows], loops[shape.columns]
    if sums:
        rows = replace(rows, mark=replace(rows.mark, register=True, unroll=shape.row_count))
        columns = replace(columns, mark=replace(columns.mark, register=True, unroll=shape.column_count))
    return (*(loops[k] for k in shape.inner), rows, columns)
