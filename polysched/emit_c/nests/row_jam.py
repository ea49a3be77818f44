"""Independent rows in step: several iterations of a parallel loop share the loop inside.

Rewrite:  for i (independent): { s = y[i]; for j: s += A[i][j] * x[j]; y[i] = s; }
      ->  for i by 8: { s0 = y[i]; s1 = y[i + 1]; ...; for j: { s0 += A[i][j] * x[j]; s1 += A[i + 1][j] * x[j]; ... }
                        y[i] = s0; y[i + 1] = s1; ... }

A sum whose order is kept waits for each addition; eight sums side by side do not wait for each other, and
what the rows share is loaded once.  Where vectors fit, the rows are their lanes (`transposition`).  Every number is
computed as before.

Source: unroll-and-jam; S. Carr, K. Kennedy, "Improving the ratio of memory operations to
floating-point operations in loops", TOPLAS 16(6), 1994.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, arms_of, depends_on, map_inside
from polysched.emit_c.loop_ir.index import Remainder, of_atom, variable
from polysched.emit_c.loop_ir.loops import (
    Block,
    Edge,
    For,
    Node,
    RegisterTile,
    StatementInstance,
    block,
)
from polysched.emit_c.nests.held_elements import Promotes

ROWS = LIMITS.jammed_rows
ROWS_OF_SEVERAL = LIMITS.jammed_rows_of_several


InLanes = Callable[[RegisterTile, For, Facts], RegisterTile | None]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What the rewriting asks of others.

    Parameters
    ----------
    promotes : whether a tile holds some written element in a register around all its loops.
    in_lanes : the loop of a row for as many rows as make whole vectors, if it has such a form.
    """

    promotes: Promotes
    in_lanes: InLanes


def jam_rows(node: Node, facts: Facts, how: Rows) -> Node:
    """Rewrite every parallel loop over rows that only hold elements in registers."""
    jammed = _jammed(node, facts, how) if isinstance(node, For) and node.mark.parallel else None
    return jammed or map_inside(node, facts, lambda child, inside: jam_rows(child, inside, how))


def _jammed(loop: For, facts: Facts, how: Rows) -> Node | None:
    """The loop over blocks of rows and the one over the last rows; None where rows are no such thing."""
    if loop.step != 1 or not loop.is_canonical or len(arms_of(loop.lower, "max")) > 1 or len(
            arms_of(loop.upper, "min")) > 1:
        return None
    parts = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    held = [part for part in parts if isinstance(part, RegisterTile)]
    if not held or not all(isinstance(part, RegisterTile | StatementInstance) for part in parts):
        return None
    lanes = [how.in_lanes(part, loop, facts.inside(loop)) for part in held]
    vectors = [tile for tile in lanes if tile is not None]
    if len(vectors) == len(held) and len({tile.edges[0].count for tile in vectors}) == 1:
        count = vectors[0].edges[0].count
    else:
        count, vectors = (ROWS if len(held) == 1 else ROWS_OF_SEVERAL), []
    edge = Edge(variable=loop.variable, base=variable(loop.variable), count=count, simd=False)
    blocks = [_block(part, edge, loop, facts, how) for part in parts]
    whole: list[Node] = [part for part in blocks if part is not None]
    if len(whole) < len(blocks):
        return None
    places = [k for k, part in enumerate(parts) if isinstance(part, RegisterTile)]
    for number, tile in zip(places, vectors, strict=False):
        whole[number] = tile if tile.loops[0].step == 1 else block((tile, last_columns(blocks[number], tile)))
    length = loop.upper - loop.lower
    mark = replace(loop.mark, least_iterations=-(-loop.mark.least_iterations // count))
    main = replace(loop, upper=loop.upper - (count - 1), step=count, body=block(tuple(whole)), mark=mark)
    if length.is_constant and length.constant % count == 0:
        return main
    rest = replace(loop, lower=loop.upper - of_atom(Remainder(length, count)), mark=replace(loop.mark, parallel=False))
    return block((main, rest))  # a negative length leaves nothing: C's remainder is negative too


def last_columns(scalar: RegisterTile | None, vectors: RegisterTile) -> Node:
    """What the loop over whole vectors leaves of the rows."""
    assert scalar is not None, "every row has a form without vectors"
    (loop,), step = scalar.loops, vectors.loops[0].step
    return replace(scalar, loops=(replace(loop, lower=loop.upper - of_atom(Remainder(loop.upper - loop.lower, step))),))


def _block(part: Node, edge: Edge, loop: For, facts: Facts, how: Rows) -> RegisterTile | None:
    """One part of a row for several rows."""
    if isinstance(part, StatementInstance):
        return RegisterTile(loops=(), edges=(edge,), body=part)
    if not isinstance(part, RegisterTile) or part.edges or part.private or any(
            depends_on(bound, frozenset({loop.variable})) for inner in part.loops
            for bound in (inner.lower, inner.upper)):
        return None
    tile = replace(part, edges=(edge,))
    return tile if how.promotes(tile, facts.inside(loop)) else None
