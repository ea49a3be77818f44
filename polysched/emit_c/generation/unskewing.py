"""Loops over skewed iterators, rewritten to run over the source's own iterators where one shift does it.

Rewrite:  for (v = lower; v < upper; v++) S(v - 2 * t)  ->  for (i = lower - 2 * t; i < upper - 2 * t; i++) S(i)

The same instances run in the same order; subscripts become those of the source again.
"""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.loop_ir.facts import arms_of
from polysched.emit_c.loop_ir.index import Linear, Variable, extreme, substitute_condition, variable, variables
from polysched.emit_c.loop_ir.loops import For, Node
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import instances, loop_names, map_children
from polysched.scheduling.marks import Role


def unskew(node: Node) -> Node:
    """Shift every loop below a node whose instances all want the same shift."""
    if isinstance(node, For) and (shift := _wanted_shift(node)) is not None:
        node = _shifted_loop(node, shift)
    return map_children(node, unskew)


def _wanted_shift(loop: For) -> Linear | None:
    """What to add to the loop's variable so that it becomes an iterator; None when that is nothing."""
    if loop.mark.register or loop.mark.role in (Role.TILE, Role.WAVEFRONT):
        return None
    inner = loop_names(loop.body)
    shifts: list[list[Linear]] = []
    for instance in instances(loop.body):
        own = [form - variable(loop.variable) for form in instance.iterators
               if form.coefficient(Variable(loop.variable)) == 1]
        shifts.append([s for s in own if not variables(s) & inner and loop.variable not in variables(s)])
    if not shifts or not all(shifts):
        return None
    first = shifts[0][0]
    if first.is_constant or not all(any((s - first).is_constant for s in own) for own in shifts):
        return None
    return first


def _shifted_loop(loop: For, shift: Linear) -> For:
    old = {loop.variable: variable(loop.variable) - shift}
    body = substitute_node(loop.body, old)
    guard = None if loop.guard is None else substitute_condition(loop.guard, old)
    return replace(loop, lower=_moved(loop.lower, "max", shift), upper=_moved(loop.upper, "min", shift), body=body,
                   guard=guard)


def _moved(bound: Linear, kind: str, shift: Linear) -> Linear:
    return extreme(kind, (arm + shift for arm in arms_of(bound, kind)))
