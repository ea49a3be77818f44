"""Loops cut into ranges: where conditions on their variable hold, and where not; the order of instances stays.

Rewrite:  for v in [a, b): { if (v >= L) S;  T }  ->  for v in [a, min(b, L)): T;  for v in [max(a, L), b): { S;  T }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Condition,
    Linear,
    Variable,
    conjuncts,
    extreme,
    quotient,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import Block, For, If, Node, RegisterTile
from polysched.emit_c.loop_ir.traversal import block


def split_where(loop: For, condition_of: If) -> tuple[Node, For, Node] | None:
    """A loop before, in and after the range where a condition directly in its body holds.

    None where the condition stands elsewhere, or is more than comparisons of the loop's variable with other values.
    """
    children = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    comparisons = _comparisons(condition_of.condition)
    if loop.step != 1 or loop.guard is not None or comparisons is None or not all(
            loop.variable in variables(c) for c in comparisons) or all(child is not condition_of for child in children):
        return None
    limits = limits_of(loop.variable, comparisons)
    if limits is None:
        return None
    otherwise = () if condition_of.otherwise is None else (condition_of.otherwise,)
    outside = block(tuple(node for child in children for node in (otherwise if child is condition_of else (child,))))
    inside = block(tuple(condition_of.then if child is condition_of else child for child in children))
    before, within, after = in_parts(loop, *limits)
    first, last = (Block(()) if part is None else replace(part, body=outside) for part in (before, after))
    return first, replace(within, body=inside), last


def _comparisons(condition: Condition) -> tuple[Comparison, ...] | None:
    arms = conjuncts(condition)
    found = tuple(arm for arm in arms if isinstance(arm, Comparison) and arm.op == ">=")
    return found if found and len(found) == len(arms) else None


def limits_of(name: str, conditions: Sequence[Comparison]) -> tuple[list[Linear], list[Linear]] | None:
    """The range of a variable in which conditions hold: values from, and one past."""
    lowers: list[Linear] = []
    uppers: list[Linear] = []
    for condition in conditions:
        difference = condition.left - condition.right
        factor = difference.coefficient(Variable(name))
        rest = difference - variable(name) * factor
        if factor == 0 or depends_on(rest, frozenset({name})):
            return None
        if factor > 0:
            lowers.append(_rounded_down(rest * -1 + (factor - 1), factor))
        else:
            uppers.append(_rounded_down(rest, -factor) + 1)
    return lowers, uppers


def at_least(condition: Comparison) -> list[Comparison]:
    """A comparison as comparisons by `>=` alone, all of which hold."""
    left, right = condition.left, condition.right
    above, below = Comparison(">=", left, right), Comparison(">=", right, left)
    return {"<": [Comparison(">=", right, left + 1)], "<=": [below], ">": [Comparison(">=", left, right + 1)],
            ">=": [above], "==": [above, below]}[condition.op]


def _rounded_down(form: Linear, divisor: int) -> Linear:
    """The quotient, with what the divisor divides outside of it: 2 t + n / 2 rather than (4 t + n) / 2."""
    whole = Linear(tuple((atom, c // divisor) for atom, c in form.terms if c % divisor == 0))
    return whole + quotient(form - whole * divisor, divisor, truncates=False)


def split_loop(loop: For, inner: Node, lowers: list[Linear], uppers: list[Linear]) -> Node:
    """The loop before, in (around another node) and after a range, as `in_parts` has it."""
    before, within, after = in_parts(loop, lowers, uppers)
    return Block(tuple(part for part in (before, around(within, inner), after) if part is not None))


def in_parts(loop: For, lowers: list[Linear], uppers: list[Linear]) -> tuple[For | None, For, For | None]:
    """The loop before, in and after the range from the largest of `lowers` to the least of `uppers`."""
    lower = extreme("max", [loop.lower, *lowers])
    before = replace(loop, upper=extreme("min", [loop.upper, extreme("max", lowers)])) if lowers else None
    after = replace(loop, lower=extreme("max", [lower, extreme("min", uppers)])) if uppers else None
    return before, replace(loop, lower=lower, upper=extreme("min", [loop.upper, *uppers])), after


def around(loop: For, inner: Node) -> Node:
    """A loop around a node; around a register tile it becomes one of its loops."""
    if isinstance(inner, RegisterTile):
        return replace(inner, loops=(replace(loop, body=Block(())), *inner.loops))
    return replace(loop, body=inner)
