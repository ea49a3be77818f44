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

from collections.abc import Callable, Sequence
from dataclasses import replace

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, arms_of, depends_on
from polysched.emit_c.loop_ir.index import Remainder, of_atom, variable
from polysched.emit_c.loop_ir.loops import Block, Edge, For, Node, RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.named_bounds import NamedBounds
from polysched.emit_c.loop_ir.traversal import block
from polysched.emit_c.nests.scalar_replacement import Promotes
from polysched.emit_c.nests.unroll_and_jam import Site, in_blocks
from polysched.records import dataclass

ROWS_OF_SEVERAL = LIMITS.jammed_rows_of_several


InLanes = Callable[[RegisterTile, For, Facts], RegisterTile | None]


@dataclass(frozen=True, kw_only=True)
class IndependentRows:
    """What the rewriting asks of others.

    Parameters
    ----------
    promotes : whether a tile holds some written element in a register around all its loops.
    gains : whether rows gain in step: sums wait for each other, or rows share what they read.
    in_lanes : the loop of a row for as many rows as make whole vectors, if it has such a form.
    count : rows of a block that is not in lanes (`EmitOptions.rows_in_flight`).
    """

    promotes: Promotes
    gains: Callable[[RegisterTile, For], bool]
    in_lanes: InLanes
    count: int

    def jam(self, site: Site) -> Node | None:
        """Blocks of rows that only hold elements in registers, and the last rows."""
        loop, parts = site.loop, _parts(site.loop)
        if parts is None:
            return None
        held = [part for part in parts if isinstance(part, RegisterTile)]
        if not any(self.gains(part, loop) for part in held):
            return None
        count, vectors = self._lanes(held, site)
        edge = Edge(variable=loop.variable, base=variable(loop.variable), count=count, simd=False)
        blocks = [_block(part, edge, site, self) for part in parts]
        whole: list[Node] = [part for part in blocks if part is not None]
        if len(whole) < len(blocks):
            return None
        places = [k for k, part in enumerate(parts) if isinstance(part, RegisterTile)]
        for number, tile in zip(places, vectors, strict=False):
            whole[number] = tile if tile.loops[0].step == 1 else block((tile, last_columns(blocks[number], tile)))
        return in_blocks(loop, NamedBounds(lower=loop.lower, upper=loop.upper, names=()), block(tuple(whole)), count)

    def _lanes(self, held: Sequence[RegisterTile], site: Site) -> tuple[int, list[RegisterTile]]:
        """How many rows make a block, and their loops with the rows in lanes where all of them have such a form."""
        found = [self.in_lanes(part, site.loop, site.inside) for part in held]
        vectors = [tile for tile in found if tile is not None]
        if len(vectors) == len(held) and len({tile.edges[0].count for tile in vectors}) == 1:
            return vectors[0].edges[0].count, vectors
        return (self.count if len(held) == 1 else ROWS_OF_SEVERAL), []


def _parts(loop: For) -> tuple[Node, ...] | None:
    """What a loop over rows has inside: loops with elements in registers, and statements; None for other loops."""
    if not loop.mark.parallel or loop.step != 1 or not loop.is_canonical or len(arms_of(loop.lower, "max")) > 1 or len(
            arms_of(loop.upper, "min")) > 1:
        return None
    parts = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    held = any(isinstance(part, RegisterTile) for part in parts)
    return parts if held and all(isinstance(part, RegisterTile | StatementInstance) for part in parts) else None


def last_columns(scalar: RegisterTile | None, vectors: RegisterTile) -> Node:
    """What the loop over whole vectors leaves of the rows."""
    assert scalar is not None, "every row has a form without vectors"
    (loop,), step = scalar.loops, vectors.loops[0].step
    return replace(scalar, loops=(replace(loop, lower=loop.upper - of_atom(Remainder(loop.upper - loop.lower, step))),))


def _block(part: Node, edge: Edge, site: Site, how: IndependentRows) -> RegisterTile | None:
    """One part of a row for several rows."""
    if isinstance(part, StatementInstance):
        return RegisterTile(loops=(), edges=(edge,), body=part)
    if not isinstance(part, RegisterTile) or part.edges or part.private or any(
            depends_on(bound, frozenset({site.loop.variable})) for inner in part.loops
            for bound in (inner.lower, inner.upper)):
        return None
    tile = replace(part, edges=(edge,))
    return tile if how.promotes(tile, site.inside) else None
