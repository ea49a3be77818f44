"""Loops with steps, counted by one where their number of iterations is plain.

Rewrite:  for (i = lower; i < upper; i += s) S(i)
      ->  for (k = 0; k < (upper - lower + s - 1) / s; k++) S(lower + s * k)

What is computed of every third element, and written to the elements `i / 3`, is then a row like any other: vectors,
register tiles and rows in step want neighbours one iteration apart.
"""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.loop_ir.index import Extreme, constant, quotient, variable
from polysched.emit_c.loop_ir.loops import For, Node
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import map_children


def count_by_one(node: Node) -> Node:
    """Every loop below a node with a step and a number of iterations without a rounded quotient, counted by one."""
    node = map_children(node, count_by_one)
    if not isinstance(node, For) or node.step == 1 or not node.is_canonical:
        return node
    length = node.upper - node.lower
    if any(isinstance(atom, Extreme) or factor % node.step for atom, factor in length.terms):
        return node
    body = substitute_node(node.body, {node.variable: node.lower + variable(node.variable) * node.step})
    return replace(node, lower=constant(0), upper=quotient(length + (node.step - 1), node.step, truncates=False),
                   step=1, body=body)
