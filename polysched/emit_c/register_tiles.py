"""Full register tiles: index sets are split so that the edges of a tile have constant lengths.

Rewrite:  for r: for i in [max(a, L), min(a + MR, U)): S
      ->  if (full for all r):  for r in [full range]: tile a .. a + MR: S,  other r: the loop as it was

`a` and `a + MR` come from the schedule, `L` and `U` are what the domain adds; they may depend on the loops
`r` between the tile and its block (a triangular domain) and on other edges.  The order of instances does
not change, so nothing has to be legal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polysched.emit_c.facts import Facts, arms_of, depends_on
from polysched.emit_c.index import (
    Comparison,
    Condition,
    Linear,
    Variable,
    constant,
    extreme,
    junction,
    quotient,
    variable,
    variables,
)
from polysched.emit_c.loops import Block, Edge, For, If, Let, Node, RegisterTile, StatementInstance, walk_nodes


def separate_register_tiles(node: Node, facts: Facts) -> Node:
    """Replace each nest of register loops by full `RegisterTile`s and the remaining loops."""
    match node:
        case For():
            tile = _separated(node, facts)
            return tile or replace(node, body=separate_register_tiles(node.body, facts.inside(node)))
        case Block():
            return Block(tuple(separate_register_tiles(child, facts) for child in node.children))
        case If():
            otherwise = None if node.otherwise is None else separate_register_tiles(node.otherwise, facts)
            return replace(node, then=separate_register_tiles(node.then, facts.given(node.condition)),
                           otherwise=otherwise)
        case Let():
            known = Comparison("==", variable(node.variable), node.value)
            return replace(node, body=separate_register_tiles(node.body, facts.given(known)))
        case _:
            return node


@dataclass(frozen=True, kw_only=True)
class _Nest:
    """`loops { edges { body } }` with what has to hold for the edges to be full."""

    loops: tuple[For, ...]
    edges: tuple[Edge, ...]
    body: Node
    conditions: tuple[Comparison, ...]


def _separated(top: For, facts: Facts) -> Node | None:
    nest = _nest(top)
    if nest is None:
        return None
    whole = facts
    for loop in nest.loops:
        whole = whole.inside(loop)
    wanted = tuple(c for c in nest.conditions if not whole.imply(c))
    between = [loop.variable for loop in nest.loops]
    invariant = tuple(c for c in wanted if not _mentions(c, frozenset(between)))
    if any(facts.exclude(c) for c in invariant):
        return None
    full = _build(nest, 0, tuple(c for c in wanted if c not in invariant))
    if full is None:
        return None
    return If(junction("&&", invariant), full, top) if invariant else full


def _nest(top: For) -> _Nest | None:
    """The nest below `top` when all its loops above the edges run inside one block of the tile."""
    loops: list[For] = []
    node: Node = top
    while isinstance(node, For) and not node.mark.register:
        loops.append(node)
        node = node.body
    edge_loops: list[For] = []
    while isinstance(node, For) and node.mark.register:
        edge_loops.append(node)
        node = node.body
    if not edge_loops or not _is_straight(node) or any(loop.guard is not None for loop in (*loops, *edge_loops)):
        return None
    made = [_edge(loop) for loop in edge_loops]
    edges = tuple(found[0] for found in made if found is not None)
    if len(edges) < len(edge_loops):
        return None
    inside = frozenset(loop.variable for loop in loops) | {e.variable for e in edges}
    if any(depends_on(edge.base, inside) for edge in edges):
        return None
    conditions = _spread([c for found in made if found is not None for c in found[1]], edges)
    if conditions is None:
        return None
    return _Nest(loops=tuple(loops), edges=edges, body=node, conditions=conditions)


def _is_straight(node: Node) -> bool:
    return all(isinstance(n, Block | StatementInstance) for n in walk_nodes(node))


def _edge(loop: For) -> tuple[Edge, list[Comparison]] | None:
    """The edge that a register loop is when full, and when it is full."""
    lowers, uppers = arms_of(loop.lower, "max"), arms_of(loop.upper, "min")
    for low in lowers:
        for high in uppers:
            difference = high - low
            if loop.step == 1 and difference.is_constant and 0 < difference.constant <= loop.mark.unroll:
                edge = Edge(variable=loop.variable, base=low, count=difference.constant, simd=loop.mark.simd)
                others = [Comparison(">=", low, arm) for arm in lowers if arm != low]
                return edge, others + [Comparison(">=", arm, high) for arm in uppers if arm != high]
    return None


def _spread(conditions: Sequence[Comparison], edges: tuple[Edge, ...]) -> tuple[Comparison, ...] | None:
    """The conditions for every point of the tile: edge variables at the end that is hardest to meet."""
    for edge in edges:
        stronger = []
        for condition in conditions:
            difference = condition.left - condition.right
            factor = difference.coefficient(Variable(edge.variable))
            rest = difference - variable(edge.variable) * factor
            if depends_on(rest, frozenset({edge.variable})):
                return None
            worst = edge.base if factor > 0 else edge.base + (edge.count - 1)
            stronger.append(_nonnegative(rest + worst * factor) if factor else condition)
        conditions = stronger
    return tuple(conditions)


def _nonnegative(form: Linear) -> Comparison:
    """`form >= 0` with the negative terms on the right."""
    right = Linear(tuple((a, -c) for a, c in form.terms if c < 0), 0)
    left = Linear(tuple((a, c) for a, c in form.terms if c > 0), 0)
    if form.constant > 0:
        return Comparison(">=", left + form.constant, right)
    return Comparison(">=", left, right + -form.constant)


def _mentions(condition: Condition, names: frozenset[str]) -> bool:
    return bool(variables(condition) & names)


def _build(nest: _Nest, level: int, conditions: tuple[Comparison, ...]) -> Node | None:
    """The loops from `level` inwards, split where a condition depends on their variables."""
    if level == len(nest.loops):
        return RegisterTile(loops=(), edges=nest.edges, body=nest.body)
    loop = nest.loops[level]
    deeper = frozenset(inner.variable for inner in nest.loops[level + 1:])
    here = tuple(c for c in conditions if not _mentions(c, deeper))
    inner = _build(nest, level + 1, tuple(c for c in conditions if c not in here))
    if inner is None:
        return None
    if not here:
        return _around(loop, inner)
    limits = _limits(loop.variable, here)
    if limits is None or loop.step != 1:
        return None
    return _split(loop, inner, *limits)


def _around(loop: For, inner: Node) -> Node:
    if isinstance(inner, RegisterTile):
        return replace(inner, loops=(replace(loop, body=Block(())), *inner.loops))
    return replace(loop, body=inner)


def _limits(name: str, conditions: tuple[Comparison, ...]) -> tuple[list[Linear], list[Linear]] | None:
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
            lowers.append(quotient(rest * -1 + (factor - 1), factor, truncates=False))
        else:
            uppers.append(quotient(rest, -factor, truncates=False) + 1)
    return lowers, uppers


def _split(loop: For, inner: Node, lowers: list[Linear], uppers: list[Linear]) -> Node:
    parts: list[Node] = []
    first = extreme("max", lowers) if lowers else None
    last = extreme("min", uppers) if uppers else None
    if first is not None:
        parts.append(replace(loop, upper=extreme("min", [loop.upper, first])))
    full_lower = loop.lower if first is None else extreme("max", [loop.lower, first])
    full_upper = loop.upper if last is None else extreme("min", [loop.upper, last])
    parts.append(_around(replace(loop, lower=full_lower, upper=full_upper), inner))
    if last is not None:
        parts.append(replace(loop, lower=extreme("max", [full_lower, last])))
    return Block(tuple(parts))


def nothing_missing(loop: For) -> Comparison:
    """The condition that a loop runs at least once."""
    return Comparison(">", loop.upper - loop.lower, constant(0))
