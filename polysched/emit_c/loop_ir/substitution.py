"""Loop nodes with values in place of variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polysched.emit_c.loop_ir.index import (
    Linear,
    substitute,
    substitute_condition,
)
from polysched.emit_c.loop_ir.loops import (
    Block,
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    RegisterTile,
    StatementInstance,
    ThreadReduction,
)


def substitute_node(node: Node, values: Mapping[str, Linear]) -> Node:
    """The node with variables replaced by forms in all bounds, conditions and instances."""
    match node:
        case Block():
            return Block(tuple(substitute_node(child, values) for child in node.children))
        case For():
            guard = None if node.guard is None else substitute_condition(node.guard, values)
            return replace(node, lower=substitute(node.lower, values), upper=substitute(node.upper, values),
                           body=substitute_node(node.body, values), guard=guard)
        case If():
            otherwise = None if node.otherwise is None else substitute_node(node.otherwise, values)
            return If(substitute_condition(node.condition, values), substitute_node(node.then, values), otherwise)
        case Let():
            return replace(node, value=substitute(node.value, values), body=substitute_node(node.body, values))
        case RegisterTile():
            loops = tuple(substitute_node(loop, values) for loop in node.loops)
            edges = tuple(replace(edge, base=substitute(edge.base, values)) for edge in node.edges)
            return RegisterTile(tuple(loop for loop in loops if isinstance(loop, For)), edges,
                                substitute_node(node.body, values))
        case Packed() | OnCopy():
            raise ValueError("panels are made when all substitutions are done")
        case StatementInstance():
            return replace(node, iterators=tuple(substitute(f, values) for f in node.iterators))
        case Local() | ThreadReduction():
            raise ValueError("temporaries are placed when all substitutions are done")
