"""Nests of loops that end in the edges of a register tile, and what bounds the edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from polysched.emit_c.loop_ir.facts import Facts, arms_of, depends_on
from polysched.emit_c.loop_ir.index import Comparison, Linear
from polysched.emit_c.loop_ir.loops import Block, Edge, For, Node, Panel, StatementInstance
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class EdgeRange:
    """The points of one edge.

    Parameters
    ----------
    edge : the edge when full.
    lowers, uppers : further bounds (first point at least, end at most) that are fixed around the tile.
    moving_lowers, moving_uppers : those that depend on the loops between block and tile.
    cross_lowers, cross_uppers : those that depend on other edges and on nothing else inside the block.
    """

    edge: Edge
    lowers: tuple[Linear, ...]
    uppers: tuple[Linear, ...]
    moving_lowers: tuple[Linear, ...]
    moving_uppers: tuple[Linear, ...]
    cross_lowers: tuple[Linear, ...] = ()
    cross_uppers: tuple[Linear, ...] = ()

    @property
    def is_fixed(self) -> bool:
        """Whether the points do not depend on anything inside the block."""
        return not (self.moving_lowers or self.moving_uppers or self.cross_lowers or self.cross_uppers)

    @property
    def starts(self) -> tuple[Linear, ...]:
        return (self.edge.base, *self.lowers)

    @property
    def ends(self) -> tuple[Linear, ...]:
        return (self.end, *self.uppers)

    @property
    def end(self) -> Linear:
        return self.edge.base + self.edge.count

    def is_full(self) -> tuple[Comparison, ...]:
        """The fixed conditions under which the edge has all its points."""
        return (*(Comparison(">=", self.edge.base, low) for low in self.lowers),
                *(Comparison(">=", high, self.end) for high in self.uppers))


@dataclass(frozen=True, kw_only=True)
class RegisterNest:
    """`loops { ranges { body } }`.

    Parameters
    ----------
    columns : iterations of the last edge that the registers hold; its whole loop may be shorter.
    in_place : operands in lanes are read where they lie.
    packs_few : they are copied, however few tiles read the copy.
    """

    loops: tuple[For, ...]
    ranges: tuple[EdgeRange, ...]
    body: Node
    panels: tuple[Panel, ...] = ()
    ahead: str | None = None
    columns: int = 0
    in_place: bool = False
    packs_few: bool = False


def widened(nest: RegisterNest) -> RegisterNest | None:
    """The nest with whole vectors of lanes, where the whole loop of the lanes is shorter than its registers.

    None where the edge is as wide as it may be.
    """
    *rows, last = nest.ranges
    edge = last.edge
    if not edge.simd or edge.count >= nest.columns:
        return None
    count = min(nest.columns, 1 << (edge.count - 1).bit_length())
    if count == edge.count:
        return None
    wide = replace(last, edge=replace(edge, count=count), uppers=(*last.uppers, last.end))
    return replace(nest, ranges=(*rows, wide))


def points_left(part: EdgeRange, facts: Facts) -> int:
    """How many points an edge has where a constant end cuts it off; 0 where that is not one certain number."""
    ends = [high for high in part.uppers if high.is_constant]
    if len(ends) != 1:
        return 0
    count = (ends[0].constant - part.edge.base.constant) % part.edge.count
    return count if count and facts.imply(Comparison("==", ends[0], part.edge.base + count)) else 0


def register_nest(top: For) -> RegisterNest | None:
    """The nest below `top` when all its loops above the edges run inside one block of the tile."""
    loops: list[For] = []
    node: Node = top
    while isinstance(node, For) and not node.mark.register:
        loops.append(node)
        node = node.body
    edge_loops: list[For] = []
    while isinstance(node, For) and node.mark.register:
        edge_loops.append(node)
        node = node.body
    straight = all(isinstance(n, Block | StatementInstance) for n in walk_nodes(node))
    if not edge_loops or not straight or any(loop.guard is not None for loop in (*loops, *edge_loops)):
        return None
    inside = frozenset(loop.variable for loop in (*loops, *edge_loops))
    between = frozenset(loop.variable for loop in loops)
    ranges = [_range(loop, inside, between) for loop in edge_loops]
    known = tuple(r for r in ranges if r is not None)
    return RegisterNest(loops=tuple(loops), ranges=known, body=node, columns=edge_loops[-1].mark.unroll,
                        in_place=edge_loops[-1].mark.in_place,
                        packs_few=edge_loops[-1].mark.packs_few) if (
        len(known) == len(ranges)) else None


def _range(loop: For, inside: frozenset[str], between: frozenset[str]) -> EdgeRange | None:
    """The edge that a register loop is when full, and its other bounds."""
    lowers, uppers = arms_of(loop.lower, "max"), arms_of(loop.upper, "min")
    for low, high in product(lowers, uppers):
        difference = high - low
        if (loop.step == 1 and difference.is_constant and 0 < difference.constant <= loop.mark.unroll
                and not depends_on(low, inside)):
            edge = Edge(variable=loop.variable, base=low, count=difference.constant, simd=loop.mark.simd)
            below = _by_what_moves([arm for arm in lowers if arm != low], inside, between)
            above = _by_what_moves([arm for arm in uppers if arm != high], inside, between)
            return EdgeRange(edge=edge, lowers=below[0], uppers=above[0], moving_lowers=below[1],
                             moving_uppers=above[1], cross_lowers=below[2], cross_uppers=above[2])
    return None


def _by_what_moves(bounds: Sequence[Linear], inside: frozenset[str], between: frozenset[str]
                   ) -> tuple[tuple[Linear, ...], ...]:
    """The bounds that nothing inside moves, those that loops between move, and those that cross."""
    return (tuple(a for a in bounds if not depends_on(a, inside)), tuple(a for a in bounds if depends_on(a, between)),
            tuple(a for a in bounds if _crosses(a, inside, between)))


def _crosses(arm: Linear, inside: frozenset[str], between: frozenset[str]) -> bool:
    return depends_on(arm, inside) and not depends_on(arm, between)
