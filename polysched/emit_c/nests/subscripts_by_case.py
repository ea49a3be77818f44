"""Subscripts with two cases, as where they go round: loops are cut between the cases, and ask nothing in either.

Rewrite:  for i in [0, n): S(A[(i + 1) % n])
      ->  for i in [0, n - 1): S(A[i + 1]);   for i in [n - 1, n): S(A[(i + 1) % n])

So are choices such as `A[i == 0 ? n - 1 : i - 1]`.  A part of a few iterations stays as it is; two long parts are both
settled.  Where the innermost loop does not move a dividend, a comparison takes the place of the division:
`A[i + 1 < n ? i + 1 : i + 1 - n][j]`.  The order of instances stays.

Source: index-set splitting; M. Griebl, P. Feautrier, C. Lengauer, "Index set splitting", IJPP 28(6), 2000.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, arms_of, map_inside
from polysched.emit_c.loop_ir.index import Comparison, Linear, constant, extreme, variables
from polysched.emit_c.loop_ir.leaves import leaves_of
from polysched.emit_c.loop_ir.loops import Block, For, Node, Settled, StatementInstance
from polysched.emit_c.loop_ir.split_loops import at_least, limits_of
from polysched.emit_c.loop_ir.subscript_cases import TwoCases, subscript_cases
from polysched.emit_c.loop_ir.traversal import block, instances, is_innermost, map_children
from polysched.scop.scop import Scop

RIM = LIMITS.rim_iterations
MOST_CUTS = LIMITS.most_long_cuts


def settle_subscripts(node: Node, facts: Facts, scop: Scop) -> Node:
    """Cut every innermost loop below a node where a case of its subscripts ends."""
    if not any(subscript_cases(scop, instance) for instance in instances(node)):
        return node
    return _Settling(scop).node(node, facts)


@dataclass(frozen=True)
class _Cut:
    """Where a case ends as a loop runs.

    Parameters
    ----------
    before, behind : whether the condition holds in the iterations before `place`, and from there on.
    only : the condition holds in one iteration alone, that before `place`, or that from there on.
    """

    cases: TwoCases
    place: Linear
    before: bool
    behind: bool
    only: bool = False


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
        told: dict[TwoCases, bool] = {}
        for cut in self.cuts(loop, facts):
            if cut.cases in told:
                continue
            if _is_short(loop, cut, facts, first=True):
                lowers.append(cut.place)
                told[cut.cases] = cut.behind
            elif _is_short(loop, cut, facts, first=False):
                uppers.append(cut.place)
                told[cut.cases] = cut.before
            elif left and not cut.only:
                return block((self.loop(replace(loop, upper=extreme("min", [loop.upper, cut.place])), facts, left - 1),
                              self.loop(replace(loop, lower=extreme("max", [loop.lower, cut.place])), facts, left - 1)))
        return self.parts(loop, lowers, uppers, told) if told else loop

    def parts(self, loop: For, lowers: list[Linear], uppers: list[Linear], told: dict[TwoCases, bool]) -> Node:
        """The first iterations, all others in the cases that are told, and the last iterations."""
        rim = replace(loop, mark=replace(loop.mark, parallel=False, simd=False))
        full_lower = extreme("max", [loop.lower, *lowers])
        parts: list[Node] = []
        if lowers:
            parts.append(replace(rim, upper=extreme("min", [loop.upper, extreme("max", lowers)])))
        parts.append(self.told(replace(loop, lower=full_lower, upper=extreme("min", [loop.upper, *uppers])), told))
        if uppers:
            parts.append(replace(rim, lower=extreme("max", [full_lower, extreme("min", uppers)])))
        return block(tuple(parts))

    def cuts(self, loop: For, facts: Facts) -> list[_Cut]:
        """Where the cases in a loop end."""
        found: dict[TwoCases, tuple[_Cut, ...]] = {}
        for leaf in leaves_of(loop, (), facts):
            for cases in subscript_cases(self.scop, leaf.instance):
                if cases not in found and all(map(leaf.facts.imply, cases.provided)):
                    found[cases] = _cuts(cases, loop)
        return [cut for cuts in found.values() for cut in cuts]

    def told(self, loop: For, told: dict[TwoCases, bool]) -> For:
        """The loop with cases that are the same in all of its iterations."""

        def change(node: Node) -> Node:
            if not isinstance(node, StatementInstance):
                return map_children(node, change)
            own = tuple(Settled(c.part, told[c]) for c in subscript_cases(self.scop, node) if c in told)
            return replace(node, settled=(*node.settled, *own))

        return replace(loop, body=change(loop.body))

    def settled(self, instance: StatementInstance, facts: Facts, variable: str) -> StatementInstance:
        """The instance with cases that are certain, and without divisions that a loop over `variable` does not move."""
        own: list[Settled] = []
        for cases in subscript_cases(self.scop, instance):
            if not all(map(facts.imply, cases.provided)):
                continue
            holds = _case(cases.condition, facts)
            if holds is not None or (cases.divides and variable not in variables(cases.condition)):
                own.append(Settled(cases.part, holds))
        return replace(instance, settled=(*instance.settled, *own)) if own else instance


def _case(condition: Comparison, facts: Facts) -> bool | None:
    """Whether a condition holds, where that is certain."""
    if facts.imply(condition):
        return True
    return False if facts.exclude(condition) else None


def _is_short(loop: For, cut: _Cut, facts: Facts, *, first: bool) -> bool:
    """Whether the iterations before a cut, or those behind it, are certainly few."""
    if cut.only and cut.before is first:   # then the condition holds on the other side
        return _is_short(loop, replace(cut, only=False), facts, first=first)
    if cut.only:
        return False
    if first:
        return any(facts.imply(Comparison("<=", cut.place - low, constant(RIM))) for low in arms_of(loop.lower, "max"))
    return any(facts.imply(Comparison("<=", high - cut.place, constant(RIM))) for high in arms_of(loop.upper, "min"))


def _cuts(cases: TwoCases, loop: For) -> tuple[_Cut, ...]:
    """The places where a case may end; the ends of one iteration where the condition is an equation."""
    condition, name = cases.condition, loop.variable
    limits = limits_of(name, at_least(condition)) if name in variables(condition) else None
    if limits is None:
        return ()
    lowers, uppers = limits
    if condition.op == "==":   # from the one to the other, one iteration at most
        return (_Cut(cases, uppers[0], True, False, only=True), _Cut(cases, lowers[0], False, True, only=True))
    return (_Cut(cases, lowers[0], False, True),) if lowers else (_Cut(cases, uppers[0], True, False),)
