"""A loop of which one iteration is in the way: the others before and behind it are independent.

Rewrite:  for (i = a; i < b; i++) S(i)
      ->  for (i = a; i < k; i++) S(i);  S(k);  for (i = k + 1; i < b; i++) S(i)

where every dependence that the loop carries begins or ends in iteration k, and k is the variable of a loop around it.
The first and the last part are independent then: run by threads, or in vector lanes when they are innermost.
This is the pattern of elimination with a pivot row and of shortest paths through a node (Floyd, Warshall).

Source: index-set splitting; M. Griebl, P. Feautrier, C. Lengauer, "Index set splitting", IJPP 28(6), 2000.  Here the
cut does not change the order of anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.emit_c.loop_ir.carried import CARRIED_OPERATIONS, carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, arms_of, map_inside
from polysched.emit_c.loop_ir.index import Comparison, Linear, extreme, junction, variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node
from polysched.emit_c.loop_ir.statement_instances import leaves_of
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import block, instances, is_innermost, walk_nodes
from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scop.budget import with_budget


def split_at_pivots(node: Node, facts: Facts, dependences: Dependences, *, least_work: int) -> Node:
    """Split every loop that would be parallel or simd but for one iteration.

    A loop is made parallel where no loop around or inside of it is; before temporaries are placed.
    """
    return _Splitting(dependences, least_work).node(node, facts, ())


@dataclass(frozen=True, eq=False)
class _Splitting:
    """The walk over the loops; `around` are the loops around a node, outermost first."""

    dependences: Dependences
    least_work: int

    def node(self, node: Node, facts: Facts, around: tuple[For | Let, ...]) -> Node:
        match node:
            case Block():
                return block(tuple(self.node(child, facts, around) for child in node.children))
            case For() if parts := self._parts(node, facts, around):
                return block(tuple(parts))
            case _:
                below = (*around, node) if isinstance(node, For | Let) else around
                return map_inside(node, facts, lambda child, inside: self.node(child, inside, below))

    def _inside(self, loop: For, facts: Facts, around: tuple[For | Let, ...]) -> For:
        return replace(loop, body=self.node(loop.body, facts.inside(loop), (*around, loop)))

    def _parts(self, loop: For, facts: Facts, around: tuple[For | Let, ...]) -> Sequence[Node]:
        """The loop before the pivot, the pivot and the loop behind it; empty when the loop stays."""
        if not around or not _may_be_split(loop, around):
            return ()
        pivot = self._pivot(loop, facts, around)
        if pivot is None or not _some_part_repeats(loop, pivot, facts):
            return ()
        innermost = is_innermost(loop)
        mark = replace(loop.mark, parallel=not innermost, simd=innermost,
                       least_work=1 if innermost else self.least_work)
        lower, upper = loop.lower, loop.upper
        starts = all(facts.imply(Comparison("<=", low, pivot)) for low in arms_of(lower, "max"))
        ends = all(facts.imply(Comparison("<", pivot, high)) for high in arms_of(upper, "min"))
        before = replace(loop, upper=pivot if ends else extreme("min", (upper, pivot)), mark=mark)
        behind = replace(loop, lower=pivot + 1 if starts else extreme("max", (lower, pivot + 1)), mark=mark,
                         body=substitute_node(loop.body, {}))
        alone: Node = Let(loop.variable, pivot, substitute_node(loop.body, {}), loop.depth)
        tests = [*([] if starts else [Comparison("<=", low, pivot) for low in arms_of(lower, "max")]),
                 *([] if ends else [Comparison("<", pivot, high) for high in arms_of(upper, "min")])]
        if tests:
            alone = If(junction("&&", tuple(tests)), alone)
        return (self._inside(before, facts, around), alone, self._inside(behind, facts, around))

    def _pivot(self, loop: For, facts: Facts, around: tuple[For | Let, ...]) -> Linear | None:
        """The iteration at which every dependence that the loop carries begins or ends, if there is one."""
        own = tuple(leaves_of(loop, tuple(v.variable for v in around), facts))
        if len(own) != len(list(instances(loop))):
            return None
        candidates = list(range(len(around)))
        carries = False
        for pairs in carried_pairs(own, len(around), self.dependences):
            if pairs is None:
                return None
            carries = True
            candidates = [k for k in candidates if with_budget(
                CARRIED_OPERATIONS, partial(_all_meet, pairs, len(around), k))]
            if not candidates:
                return None
        return variable(around[candidates[-1]].variable) if carries else None


def _may_be_split(loop: For, around: tuple[For | Let, ...]) -> bool:
    mark = loop.mark
    if mark.role is not Role.LOOP or mark.parallel or mark.simd or mark.register or not loop.is_canonical \
            or loop.step != 1:
        return False
    below = [n for n in walk_nodes(loop.body) if isinstance(n, For)]
    if below:
        return not any(n.mark.parallel for n in (*below, *around) if isinstance(n, For))
    return not any(isinstance(n, If) for n in walk_nodes(loop.body))


def _some_part_repeats(loop: For, pivot: Linear, facts: Facts) -> bool:
    """Whether the loop before the pivot or the one behind it may have two iterations."""
    before = not any(facts.imply(Comparison("<=", pivot, low + 1)) for low in arms_of(loop.lower, "max"))
    behind = not any(facts.imply(Comparison("<=", high, pivot + 2)) for high in arms_of(loop.upper, "min"))
    return before or behind


def _all_meet(pairs: isl.Map, depth: int, outer: int) -> bool:
    """Whether each pair begins or ends in the iteration whose number is the value of an outer loop."""
    begins = pairs.equate(isl.dim_type.in_, depth, isl.dim_type.in_, outer)
    ends = pairs.equate(isl.dim_type.out, depth, isl.dim_type.out, outer)
    return bool(pairs.is_subset(begins.union(ends)))

