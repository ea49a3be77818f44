"""Subscripts with a few cases, as where they go round: loops are cut between the cases, and ask nothing in either.

Rewrite:  for i in [0, n): S(A[(i + 1) % n])
      ->  for i in [0, n - 1): S(A[i + 1]);   for i in [n - 1, n): S(A[(i + 1) % n])

So are choices such as `A[i == 0 ? n - 1 : i - 1]`.  A part of a few iterations stays as it is; two long parts are both
settled.  Where the innermost loop does not move a dividend, a comparison takes the place of the division:
`A[i + 1 < n ? i + 1 : i + 1 - n][j]`.  The order of instances stays.

Source: index-set splitting; M. Griebl, P. Feautrier, C. Lengauer, "Index set splitting", IJPP 28(6), 2000.
"""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, arms_of, map_inside
from polysched.emit_c.loop_ir.index import Comparison, Linear, constant, extreme
from polysched.emit_c.loop_ir.loops import Block, For, Node, Settled, StatementInstance
from polysched.emit_c.loop_ir.split_loops import in_parts, limits_of
from polysched.emit_c.loop_ir.statement_instances import leaves_of
from polysched.emit_c.loop_ir.subscript_cases import Cases, subscript_cases
from polysched.emit_c.loop_ir.traversal import block, instances, is_innermost, map_children
from polysched.records import dataclass
from polysched.scop.body import Binary, Literal
from polysched.scop.scop import Scop

RIM = LIMITS.rim_iterations
MOST_CUTS = LIMITS.most_long_cuts


def settle_subscripts(node: Node, facts: Facts, scop: Scop) -> Node:
    """Cut every innermost loop below a node where a case of its subscripts ends."""
    if not any(subscript_cases(scop, instance) for instance in instances(node)):
        return node
    return _Settling(scop).node(node, facts)


@dataclass(frozen=True, eq=False)
class _Settling:
    scop: Scop

    def node(self, node: Node, facts: Facts) -> Node:
        match node:
            case Block():
                return block(tuple(self.node(child, facts) for child in node.children))
            case For() if is_innermost(node) and node.is_canonical and node.step == 1 and not node.mark.register:
                return self.loop(node, facts, MOST_CUTS)
            case StatementInstance():
                return self.settled(node, facts, "")
            case _:
                return map_inside(node, facts, self.node)

    def body(self, node: Node, facts: Facts, variable: str) -> Node:
        """What is inside of an innermost loop over a variable."""
        if isinstance(node, StatementInstance):
            return self.settled(node, facts, variable)
        return map_inside(node, facts, lambda child, inside: self.body(child, inside, variable))

    def loop(self, loop: For, facts: Facts, left: int) -> Node:
        """An innermost loop in parts.

        Parameters
        ----------
        left : the number of cuts that may still leave two long parts.
        """
        loop = replace(loop, body=self.body(loop.body, facts.inside(loop), loop.variable))
        lowers: list[Linear] = []
        uppers: list[Linear] = []
        told: dict[Cases, int] = {}
        for cases in self.moving_cases(loop, facts):
            for case in cases.cases:
                limits = limits_of(loop.variable, case.conditions)
                if limits is not None and _rims_are_short(loop, *limits, facts):
                    lowers += limits[0]
                    uppers += limits[1]
                    told[cases] = case.value
                    break
            else:
                ends = limits_of(loop.variable, cases.ends) if left and cases.ends else None
                if ends is not None and _has_two(cases, facts.inside(loop)):
                    (place,) = (*ends[0], *ends[1])
                    first = replace(loop, upper=extreme("min", [loop.upper, place]))
                    second = replace(loop, lower=extreme("max", [loop.lower, place]))
                    return block((self.loop(first, facts, left - 1), self.loop(second, facts, left - 1)))
        return self.parts(loop, lowers, uppers, told, facts) if told else loop

    def parts(self, loop: For, lowers: list[Linear], uppers: list[Linear], told: dict[Cases, int],
              facts: Facts) -> Node:
        """The first iterations, all others in the cases that are told, and the last iterations."""
        rim = replace(loop, mark=replace(loop.mark, parallel=False, simd=False))
        lowers = [low for low in dict.fromkeys(lowers) if not any(
            facts.imply(Comparison("<=", low, arm)) for arm in arms_of(loop.lower, "max"))]
        uppers = [high for high in dict.fromkeys(uppers) if not any(
            facts.imply(Comparison(">=", high, arm)) for arm in arms_of(loop.upper, "min"))]
        before, within, after = in_parts(rim, lowers, uppers)
        parts = (before, self.told(replace(within, mark=loop.mark), told), after)
        return block(tuple(part for part in parts if part is not None))

    def moving_cases(self, loop: For, facts: Facts) -> list[Cases]:
        """The parts of subscripts in a loop whose case changes as it runs."""
        found: dict[Cases, bool] = {}
        for leaf in leaves_of(loop, (), facts):
            for cases in subscript_cases(self.scop, leaf.instance):
                if cases not in found and loop.variable in cases.moved_by:
                    found[cases] = all(map(leaf.facts.imply, cases.provided))
        return [cases for cases, holds in found.items() if holds]

    def told(self, loop: For, told: dict[Cases, int]) -> For:
        """The loop with cases that are the same in all of its iterations."""

        def change(node: Node) -> Node:
            if not isinstance(node, StatementInstance):
                return map_children(node, change)
            own = tuple(Settled(c.part, told[c]) for c in subscript_cases(self.scop, node) if c in told)
            return replace(node, settled=(*node.settled, *own))

        return replace(loop, body=change(loop.body))

    def settled(self, instance: StatementInstance, facts: Facts, variable: str) -> StatementInstance:
        """The instance with cases that are certain, and without divisions that a loop over `variable` does not move."""
        own = tuple(one for cases in subscript_cases(self.scop, instance)
                    if all(map(facts.imply, cases.provided)) and (one := _certain(cases, facts, variable)) is not None)
        return replace(instance, settled=(*instance.settled, *own)) if own else instance


def _certain(cases: Cases, facts: Facts, variable: str) -> Settled | None:
    """The only case, or the comparisons in place of a division that a loop over `variable` does not move.

    A division by a constant stays: compilers make a product or a mask of it.
    """
    for case in cases.cases:
        if all(map(facts.imply, case.conditions)):
            return Settled(cases.part, case.value)
    if variable in cases.moved_by or (isinstance(cases.part, Binary) and isinstance(cases.part.right, Literal)):
        return None
    count = next((count for count, known in enumerate(cases.rounds, start=2) if all(map(facts.imply, known))), None)
    return None if count is None else Settled(cases.part, None, count)


def _has_two(cases: Cases, facts: Facts) -> bool:
    """Whether there are certainly no more than two cases."""
    return all(map(facts.imply, cases.rounds[0] if cases.rounds else ()))


def _rims_are_short(loop: For, lowers: list[Linear], uppers: list[Linear], facts: Facts) -> bool:
    """Whether certainly few iterations lie outside of a range."""
    return all(any(facts.imply(Comparison("<=", place - low, constant(RIM))) for low in arms_of(loop.lower, "max"))
               for place in lowers) and all(
        any(facts.imply(Comparison("<=", high - place, constant(RIM))) for high in arms_of(loop.upper, "min"))
        for place in uppers)
