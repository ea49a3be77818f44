"""The way through the loop IR: children, all nodes below, the names that they set and use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from polysched.emit_c.loop_ir.index import variables
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
    Temporary,
    ThreadReduction,
)
from polysched.scheduling.marks import LoopMark, Role


def as_loops(tile: RegisterTile) -> Node:
    """The loop nest that a register tile stands for."""
    node: Node = Local(tile.private, tile.body) if tile.private else tile.body
    spans = tile.within or [(edge.base, edge.base + edge.count) for edge in tile.edges]
    for edge, (lower, upper) in reversed(tuple(zip(tile.edges, spans, strict=True))):
        if edge.is_own_variable:
            continue
        node = For(edge.variable, lower, upper, 1, node, LoopMark(role=Role.POINT, simd=edge.simd))
    for loop in reversed(tile.loops):
        node = replace(loop, body=node)
    return node


def loop_names(node: Node) -> frozenset[str]:
    """The names of all loop variables below a node."""
    names: set[str] = set()
    for found in walk_nodes(node):
        if isinstance(found, For | Let):
            names.add(found.variable)
        elif isinstance(found, ThreadReduction):
            names |= {found.first, found.end, found.part}
        elif isinstance(found, Packed):
            names |= {loop.variable for loop in found.panel.loops}
        elif isinstance(found, RegisterTile):
            names |= {loop.variable for loop in found.loops} | {edge.variable for edge in found.edges}
    return frozenset(names)


def child_nodes(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in textual order."""
    match node:
        case Block():
            return node.children
        case For() | Let() | Local() | RegisterTile():
            return (node.body,)
        case Packed() | OnCopy():
            return (node.body,)
        case ThreadReduction():
            return (node.loop,)
        case If():
            return (node.then,) if node.otherwise is None else (node.then, node.otherwise)
        case StatementInstance():
            return ()


def variables_set_by(node: Node) -> tuple[str, ...]:
    """The variables that a node gives a value to for what is below it."""
    match node:
        case For() | Let():
            return (node.variable,)
        case ThreadReduction():
            return (node.first, node.end)
        case _:
            return ()


def map_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with every node directly below it changed; a register tile keeps its body."""
    match node:
        case Block():
            return Block(tuple(change(child) for child in node.children))
        case For() | Let() | Local() | Packed() | OnCopy():
            return replace(node, body=change(node.body))
        case ThreadReduction():
            return replace(node, loop=change(node.loop))
        case If():
            otherwise = None if node.otherwise is None else change(node.otherwise)
            return replace(node, then=change(node.then), otherwise=otherwise)
        case StatementInstance() | RegisterTile():
            return node


def walk_nodes(node: Node) -> Iterator[Node]:
    """The node and everything below it, in pre-order."""
    yield node
    for child in child_nodes(node):
        yield from walk_nodes(child)


def holds(node: Node, part: Node) -> bool:
    """Whether a node is another one, or has it inside."""
    return any(n is part for n in walk_nodes(node))


def instances(node: Node) -> Iterator[StatementInstance]:
    """The statement instances below a node, in textual order."""
    return (n for n in walk_nodes(node) if isinstance(n, StatementInstance))


def statements_in_blocks(node: Node) -> frozenset[str]:
    """The statements that register tiles of two edges compute."""
    return frozenset(instance.statement for n in walk_nodes(node)
                     if isinstance(n, RegisterTile) and len(n.edges) > 1 for instance in instances(n.body))


def is_innermost(loop: For) -> bool:
    """Whether no other loop is below."""
    return not any(isinstance(n, For) for n in walk_nodes(loop.body))


def variables_of(node: Node) -> frozenset[str]:
    """The variables that a node itself names in bounds, conditions and values of iterators; not those below it."""
    match node:
        case For():
            return variables(node.lower) | variables(node.upper)
        case If():
            return variables(node.condition)
        case Let():
            return variables(node.value)
        case StatementInstance():
            return frozenset().union(*map(variables, node.iterators))
        case RegisterTile():
            inner = [variables_of(loop) for loop in node.loops] + [variables(edge.base) for edge in node.edges]
            return frozenset().union(*inner, *(variables(bound) for span in node.within for bound in span))
        case _:
            return frozenset()


def straight(node: Node) -> tuple[Node, tuple[Temporary, ...]] | None:
    """A body without loops and conditions, and the temporaries that it declares, all single variables; else None."""
    private: tuple[Temporary, ...] = ()
    body = node
    if isinstance(node, Local) and not any(t.kept for t in node.temporaries):
        private, body = node.temporaries, node.body
    plain = all(isinstance(n, Block | StatementInstance) for n in walk_nodes(body))
    return (body, private) if plain else None


def block(children: tuple[Node, ...]) -> Node:
    """The children as one node, nested blocks opened up."""
    flat: list[Node] = []
    for child in children:
        flat += child.children if isinstance(child, Block) else (child,)
    return flat[0] if len(flat) == 1 else Block(tuple(flat))
