"""Loops that end at a multiple of a number, where a condition in their body said so.

Rewrite:  for (s = lower; s < upper; s++) if (s - s % 32 + 32 <= n) S(s)
      ->  for (s = lower; s < min(upper, n / 32 * 32); s++) S(s)

Where two loops, one of them by steps, become one over their sum, the last step that the source does not take is such a
condition: isl's generator has no bound for it (what is rounded down twice has no convex description).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.emit_c.loop_ir.facts import Facts, arms_of, map_inside
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Condition,
    Linear,
    Remainder,
    Variable,
    conjuncts,
    constant,
    extreme,
    junction,
    quotient,
    variable,
)
from polysched.emit_c.loop_ir.loops import For, If, Node


def end_at_multiples(node: Node, facts: Facts) -> Node:
    """End every loop below a node where a condition in its body fails for good."""
    node = map_inside(node, facts, end_at_multiples)
    if not isinstance(node, For) or node.step != 1 or not isinstance(node.body, If) or node.body.otherwise is not None:
        return node
    kept: list[Condition] = []
    ends: list[Linear] = []
    for part in conjuncts(node.body.condition):
        end = _end(part, node.variable, facts)
        if end is None:
            kept.append(part)
        else:
            ends.append(end)
    if not ends:
        return node
    body = If(junction("&&", kept), node.body.then) if kept else node.body.then
    return replace(node, upper=extreme("min", _least([*arms_of(node.upper, "min"), *ends], facts)), body=body)


def _end(condition: Condition, name: str, facts: Facts) -> Linear | None:
    """The first value of a variable for which, and for all larger ones, a condition is false."""
    slack = _slack(condition)
    if slack is None or slack.coefficient(Variable(name)) != -1:
        return None
    found = [atom for atom, factor in slack.terms if isinstance(atom, Remainder) and factor == 1
             and (atom.numerator - variable(name)).variables.isdisjoint({name})]
    if len(found) != 1:
        return None
    (part,) = found
    offset = part.numerator - variable(name)
    limit = slack + variable(name) - Linear(((part, 1),)) + offset + part.divisor
    if name in limit.variables:
        return None
    # numerator - numerator % d <= limit - d   is   numerator < d * floor(limit / d)
    natural = facts.imply(Comparison(">=", limit, constant(0)))
    return quotient(limit, part.divisor, truncates=natural) * part.divisor - offset


def _slack(condition: Condition) -> Linear | None:
    """What is at least 0 where a comparison holds."""
    if not isinstance(condition, Comparison) or condition.op == "==":
        return None
    difference = condition.left - condition.right
    return {">=": difference, ">": difference - 1, "<=": difference * -1, "<": difference * -1 - 1}[condition.op]


def _least(arms: list[Linear], facts: Facts) -> Iterator[Linear]:
    """The arms that decide: none that another one is known not to exceed."""
    for at, arm in enumerate(arms):
        if not any(facts.imply(Comparison("<=", other, arm)) for k, other in enumerate(arms)
                   if k > at or (k < at and not facts.imply(Comparison("<=", arm, other)))):
            yield arm
