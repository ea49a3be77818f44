"""Independent iterations with conditions: a loop of its own for each condition, without any inside.

Rewrite:  for v in [a, b): { if (v < p) S(v);  if (v > q) T(n - v) }
      ->  for v in [a, min(b, p)): S(v);   for w in [1 - b, -max(a, q + 1) + 1): T(n + w)

The halves of a ring that is folded flat share a loop like this, along which the second runs backwards: it is turned
round.  Nothing but the order of independent instances changes: no dependence is between two iterations of the loop.

Source: loop distribution and reversal; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", 2001,
sections 2.4 and 6.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from polysched.dependence.dependences import Dependences
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, arms_of, map_inside
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Condition,
    Linear,
    conjuncts,
    extreme,
    growth,
    junction,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node, StatementInstance
from polysched.emit_c.loop_ir.split_loops import at_least, limits_of
from polysched.emit_c.loop_ir.statement_instances import leaves_of
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import block, instances, is_innermost
from polysched.records import dataclass


def separate_pieces(node: Node, facts: Facts, dependences: Dependences) -> Node:
    """Separate the pieces of every innermost simd or parallel loop below a node.

    Those that run backwards are turned round.  Only where no dependence is between two iterations.
    """
    return _Separation(dependences).node(node, facts, ())


@dataclass(frozen=True)
class _Piece:
    """What stands in a loop's body under the same conditions, all of which hold."""

    conditions: tuple[Condition, ...]
    body: Node


@dataclass(frozen=True, eq=False)
class _Separation:
    """The walk over the loops; `around` are the variables around a node, outermost first."""

    dependences: Dependences

    def node(self, node: Node, facts: Facts, around: tuple[str, ...]) -> Node:
        match node:
            case Block():
                return block(tuple(self.node(child, facts, around) for child in node.children))
            case For() if (pieces := _pieces(node)) is not None and self._is_independent(node, facts, around):
                return block(tuple(_loop_of(node, piece, facts) for piece in pieces))
            case For() | Let():
                below = (*around, node.variable)
                return map_inside(node, facts, lambda child, inside: self.node(child, inside, below))
            case _:
                return map_inside(node, facts, lambda child, inside: self.node(child, inside, around))

    def _is_independent(self, loop: For, facts: Facts, around: tuple[str, ...]) -> bool:
        own = tuple(leaves_of(loop, around, facts))
        return not any(True for _ in carried_pairs(own, len(around), self.dependences))


def _pieces(loop: For) -> tuple[_Piece, ...] | None:
    """The pieces of a loop that is worth it: conditions ask for its variable, or all of it runs backwards."""
    if not (loop.mark.simd or loop.mark.parallel) or loop.mark.register or not loop.is_canonical or loop.step != 1 \
            or not is_innermost(loop):
        return None
    found = _flat(loop.body, ())
    if found is None:
        return None
    pieces = tuple(_Piece(conditions, block(tuple(piece.body for piece in own)))
                   for conditions, own in groupby(found, key=lambda piece: piece.conditions))
    asks = any(loop.variable in variables(c) for piece in pieces for c in piece.conditions)
    return pieces if asks or any(_runs_backwards(loop.variable, piece.body) for piece in pieces) else None


def _flat(node: Node, conditions: tuple[Condition, ...]) -> list[_Piece] | None:
    """The instances of a body with their conditions, in order; None for what is more than instances and conditions."""
    match node:
        case StatementInstance():
            return [_Piece(conditions, node)]
        case Block():
            parts = [_flat(child, conditions) for child in node.children]
            return None if None in parts else [piece for part in parts if part is not None for piece in part]
        case If(otherwise=None):
            return _flat(node.then, (*conditions, *conjuncts(node.condition)))
        case _:
            return None


def _loop_of(loop: For, piece: _Piece, facts: Facts) -> Node:
    """The loop over one piece: conditions on its variable become bounds, those on other variables stand around it."""
    outside = [c for c in piece.conditions if loop.variable not in variables(c)]
    lowers, uppers, inside = _bounds(loop.variable, [c for c in piece.conditions if loop.variable in variables(c)])
    known = facts.given(*outside)
    body = If(junction("&&", inside), piece.body) if inside else piece.body
    made = replace(loop, lower=_tight("max", [*arms_of(loop.lower, "max"), *lowers], known),
                   upper=_tight("min", [*arms_of(loop.upper, "min"), *uppers], known), body=body)
    if not inside and _runs_backwards(loop.variable, piece.body):
        made = _turned(made)
    return If(junction("&&", outside), made) if outside else made


def _bounds(name: str, conditions: list[Condition]) -> tuple[list[Linear], list[Linear], list[Condition]]:
    """The values that a variable starts from and ends before where conditions hold, and the conditions that are no
    bounds."""
    lowers: list[Linear] = []
    uppers: list[Linear] = []
    rest: list[Condition] = []
    for condition in conditions:
        limits = limits_of(name, at_least(condition)) if isinstance(condition, Comparison) else None
        if limits is None:
            rest.append(condition)
        else:
            lowers += limits[0]
            uppers += limits[1]
    return lowers, uppers, rest


def _tight(kind: str, arms: list[Linear], facts: Facts) -> Linear:
    """The extreme of the arms, without those that another one makes superfluous."""
    op = "<=" if kind == "max" else ">="
    kept = list(dict.fromkeys(arms))
    for arm in tuple(kept):
        if any(other is not arm and facts.imply(Comparison(op, arm, other)) for other in kept):
            kept = [other for other in kept if other is not arm]
    return extreme(kind, kept)


def _runs_backwards(name: str, body: Node) -> bool:
    """Whether every iterator that moves with a variable moves back by one."""
    steps: Iterator[int | None] = (growth(form, name) for instance in instances(body) for form in instance.iterators)
    moving = {step for step in steps if step != 0}
    return moving == {-1}


def _turned(loop: For) -> For:
    """The loop over the negated variable."""
    return replace(loop, lower=_negated(loop.upper, "min") + 1, upper=_negated(loop.lower, "max") + 1,
                   body=substitute_node(loop.body, {loop.variable: variable(loop.variable) * -1}))


def _negated(bound: Linear, kind: str) -> Linear:
    """A bound of the negated variable."""
    return extreme("min" if kind == "max" else "max", (arm * -1 for arm in arms_of(bound, kind)))
