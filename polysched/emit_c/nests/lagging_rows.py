"""Recurrences along rows that wait for the row before: several rows in step, each some columns behind the one above.

Rewrite:  for i: for j: a[i][j] = (a[i - 1][j + 1] + a[i][j - 1] + a[i][j]) / 3
      ->  for i by 8: for s: { a[i][s] = ...;  a[i + 1][s - 2] = ...;  ...  a[i + 7][s - 14] = ... }

Iterations of one step do not wait for each other, whereas along a row each one waits for the one before.  A row is as
many columns behind as every dependence between rows of a block needs and one more, so that nothing that a step
computes is used in the same step.  Columns in front of those at which all rows are busy, and behind them, are
computed row by row: what comes before them in the program's order does so here.  Every number is computed as before.

Neighbouring steps read the same elements of every row, more than there are registers: gcc's predictive commoning keeps
them nevertheless, on the stack (seidel-2d on a Zen 4 with AVX2, one thread: 236 ms, and 167 with
-fno-predictive-commoning).  So nothing is kept from one step to the next.

Source: the wavefront method, L. Lamport, "The parallel execution of DO loops", CACM 17(2), 1974; as a loop skewed by
the one around it, then unrolled and jammed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.index import Linear, extreme, shifted, substitute, variable
from polysched.emit_c.loop_ir.loops import Block, For, Let, Node, RegisterTile
from polysched.emit_c.loop_ir.named_bounds import named_bounds
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.statement_instances import Leaf
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import block, instances, loop_names, straight, variables_of, walk_nodes
from polysched.emit_c.nests.scalar_replacement import Promotes
from polysched.emit_c.nests.unroll_and_jam import Site, in_blocks, is_plain, waits
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark
from polysched.tiling.tree.rows_in_step import MOST_LAG, ROWS


@dataclass(frozen=True, kw_only=True)
class LaggingRows:
    """What the rewriting asks of others.

    Parameters
    ----------
    dependences : of the program.
    taken : names that must not be made up.
    promotes : whether a tile holds some written element in a register around all its loops.
    """

    dependences: Dependences
    taken: TakenNames
    promotes: Promotes


    def jam(self, site: Site) -> Node | None:
        """Blocks of rows around a single plain loop with a recurrence that also orders the rows.

        Rows that are independent need no lag (`recurrent_rows`).
        """
        loop, row = site.loop, site.loop.body
        if not isinstance(row, For) or not _is_row(loop) or not _is_row(row) or straight(row.body) is None:
            return None
        own = site.leaves(row.body)
        if any(i.temporaries for i in instances(row.body)) or not waits(own, site.depth + 1, self.dependences):
            return None
        bare = RegisterTile(loops=(replace(row, body=Block(())),), edges=(), body=row.body)
        if self.promotes(bare, site.inside):
            return None
        lag = _lag(own, site.depth, self.dependences)
        return None if lag is None else _blocks(loop, row, lag, self.taken)


def _is_row(loop: For) -> bool:
    return is_plain(loop) and not loop.mark.simd


def _lag(own: Sequence[Leaf], depth: int, dependences: Dependences) -> int | None:
    """How many columns each row is behind the one before; None where no small number is enough, or none is needed."""
    least = None
    for pairs in carried_pairs(own, depth, dependences, inner=1):
        if pairs is None:
            return None
        distances = pairs.deltas().project_out(isl.dim_type.set, 0, depth)
        rows = distances.dim_min_val(0)
        if not rows.is_int() or rows.is_neg():
            return None
        for apart in range(1, ROWS):
            columns = distances.fix_val(isl.dim_type.set, 0, isl.Val(apart))
            if columns.is_empty():
                continue
            nearest = columns.dim_min_val(1)
            if not nearest.is_int():
                return None
            least = max(least or 0, -((int(nearest.to_python()) - 1) // apart))
    return least if least is not None and least <= MOST_LAG else None


def _blocks(loop: For, row: For, lag: int, taken: TakenNames) -> Node:
    """The loop over blocks of rows, and the one over the last rows as they were."""
    named = loop_names(loop) | frozenset().union(*map(variables_of, walk_nodes(loop)))
    first_row = taken.fresh(f"{loop.variable}_block", named)
    return in_blocks(loop, named_bounds(loop, taken), _block(loop, row, lag, first_row, taken, named), ROWS,
                     variable=first_row)


def _block(loop: For, row: For, lag: int, first_row: str, taken: TakenNames, named: frozenset[str]) -> Node:
    """One block: columns in front row by row, those where all rows are busy in step, and the last ones row by row."""
    def at(form: Linear, number: int) -> Linear:
        return substitute(form, {loop.variable: variable(first_row) + number})

    step, start, end = (taken.fresh(f"{row.variable}_{word}", named) for word in ("step", "all", "none"))
    starts = extreme("max", (shifted(at(row.lower, k), lag * k) for k in range(ROWS)))
    ends = extreme("min", (shifted(at(row.upper, k), lag * k) for k in range(ROWS)))
    behind = (variable(loop.variable) - variable(first_row)) * lag
    rows = replace(loop, lower=variable(first_row), upper=variable(first_row) + ROWS,
                   mark=LoopMark(role=loop.mark.role))
    front = replace(rows, body=_anew(replace(row, upper=extreme("min", (row.upper, variable(start) - behind)))))
    back = replace(rows, body=_anew(replace(row, lower=variable(end) - behind)))
    together = block(tuple(
        substitute_node(row.body, {loop.variable: variable(first_row) + k, row.variable: variable(step) - lag * k})
        for k in range(ROWS)))
    main = replace(row, variable=step, lower=variable(start), upper=variable(end), body=together, forgets=True,
                   behind=lag * (ROWS - 1))
    return Let(start, starts, Let(end, extreme("max", (variable(start), ends)), block((front, main, back))))


def _anew(node: Node) -> Node:
    """The node made of other objects: each statement instance stands at one place only."""
    return substitute_node(node, {})
