"""Loops that never run and conditions that are certain where they stand, left out before anything is printed.

Rewrite:  for (j = 104; j < 104; j++) S        ->  nothing
          if (j_end <= 112) S else R            ->  S, where what is known of j_end decides it
          for (j = 96; j < 100; j += 8) S       ->  j = 96; S

Vector loops, their tails and register tiles are made for every length that a loop could have; where sizes are
constants, or a condition around says more, some of them have nothing to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Comparison, Condition, Linear, constant, junction, numerators, variables
from polysched.emit_c.loop_ir.loops import (
    Block,
    For,
    If,
    Let,
    Local,
    Node,
    Packed,
    Panel,
    RegisterTile,
    StatementInstance,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.traversal import block, variables_of, walk_nodes

_NOTHING = Block(())


def without_dead_code(node: Node, facts: Facts) -> Node:
    """The node without what is never executed; a block of no children where nothing is left."""
    match node:
        case For():
            return _for(node, facts)
        case If():
            return _if(node, facts)
        case Block():
            return block(tuple(without_dead_code(child, facts) for child in node.children))
        case Let():
            body = without_dead_code(node.body, facts.where(node))
            if body == _NOTHING or not _mentions(body, node.variable):
                return body
            return replace(node, body=body)
        case Packed() | Local():
            body = without_dead_code(node.body, facts)
            return body if body == _NOTHING else replace(node, body=body)
        case ThreadReduction():
            return replace(node, loop=without_dead_code(node.loop, facts.inside_part(node)))
        case _:
            return node


def _for(loop: For, facts: Facts) -> Node:
    length = loop.upper - loop.lower
    if facts.exclude(Comparison("<", loop.lower, loop.upper)):
        return _NOTHING
    body = without_dead_code(loop.body, facts.inside(loop))
    if body == _NOTHING:
        return _NOTHING
    if length.is_constant and length.constant <= loop.step and loop.is_canonical and not loop.mark.parallel:
        if not _mentions(body, loop.variable):
            return body
        return Let(loop.variable, loop.lower, body, depth=loop.depth)
    return replace(loop, body=body)


def _if(node: If, facts: Facts) -> Node:
    unsure, here = [], facts
    for arm in _arms(node.condition):
        if isinstance(arm, Comparison) and here.exclude(arm):
            return _NOTHING if node.otherwise is None else without_dead_code(node.otherwise, facts)
        if not (here.imply(arm) and _is_as_in_c(arm, here)):
            unsure.append(arm)
            here = here.given(arm)
    then = without_dead_code(node.then, here)
    if not unsure:
        return then
    otherwise = None
    if node.otherwise is not None:
        known = [c for c in _negations(unsure) if _is_as_in_c(c, facts)]
        otherwise = without_dead_code(node.otherwise, facts.given(*known))
        otherwise = None if otherwise == _NOTHING else otherwise
    if then != _NOTHING:
        return If(junction("&&", unsure), then, otherwise)
    if otherwise is None:
        return _NOTHING
    opposite = _negations(unsure)
    return If(opposite[0], otherwise) if opposite else If(junction("&&", unsure), _NOTHING, otherwise)


def _arms(condition: Condition) -> tuple[Condition, ...]:
    """What has to hold together."""
    return (condition,) if isinstance(condition, Comparison) or condition.op != "&&" else condition.arms


def _negations(conditions: list[Condition]) -> tuple[Comparison, ...]:
    """The negation of a single inequality; nothing that could be said as conditions that hold together, else."""
    match conditions:
        case [Comparison(op=op) as only] if op != "==":
            return (only.negation(),)
        case _:
            return ()


def _is_as_in_c(condition: Condition, facts: Facts) -> bool:
    """Whether no remainder in a condition can be negative, as those of C are for negative numbers and isl's are not."""
    return all(facts.imply(Comparison(">=", numerator, constant(0))) for numerator in numerators(condition))


def _mentions(node: Node, name: str) -> bool:
    """Whether anything below a node names a variable."""
    return any(isinstance(n, ThreadReduction) or name in variables_of(n)
               or any(name in variables(form) for form in _further_forms(n)) for n in walk_nodes(node))


def _further_forms(node: Node) -> Iterator[Linear]:
    """What a node names beside its bounds and iterators: places in buffers."""
    match node:
        case StatementInstance(temporaries=temporaries) | Local(temporaries=temporaries):
            yield from (base for t in temporaries for base in t.bases)
        case Packed(panel=panel):
            yield from _forms_of(panel)
        case RegisterTile():
            yield from (form for panel in node.panels for form in _forms_of(panel))
            yield from (form for partial in node.partials for form in partial.subscripts)
            yield from (base for t in node.private for base in t.bases)


def _forms_of(panel: Panel) -> Iterator[Linear]:
    yield from panel.subscripts
    for loop in panel.loops:
        yield from (loop.lower, loop.upper)
