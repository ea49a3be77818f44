"""The loops of one point -> those of all points of a work item: unroll-and-jam by coordinates.

No dependence connects two points, so any interleaving keeps the order of each.  Loops whose bounds do not change with a
coordinate are shared by all points; what is inside of them stands once per point, a block's edge apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product as combinations

import islpy as isl

from polysched.emit_c.loop_ir.index import Condition, Linear, constant, variable, variables
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node, StatementInstance, Temporary
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import block, map_children, walk_nodes
from polysched.gpu.instances import fixed
from polysched.gpu.mapping import Launch, Phase
from polysched.gpu.staging import Names
from polysched.records import dataclass


@dataclass(frozen=True, eq=False, kw_only=True)
class Point:
    """A point of a work item.

    Parameters
    ----------
    number : per coordinate.
    values : the coordinates as forms of those of the first point.
    """

    number: tuple[int, ...]
    values: dict[str, Linear]


def points_of(launch: Launch, coordinates: Sequence[str]) -> tuple[Point, ...]:
    """The points of a work item, those along the fastest coordinate first."""
    if not launch.points:
        return (Point(number=(0,) * len(coordinates), values={}),)
    numbers = (tuple(reversed(own)) for own in combinations(*(range(count) for count in reversed(launch.points))))
    return tuple(Point(number=number, values={
        name: variable(name) + constant(edge * k)
        for name, edge, k in zip(coordinates, launch.block, number, strict=True) if k}) for number in numbers)


def jammed(node: Node, points: Sequence[Point], coordinates: frozenset[str],
           held: Sequence[tuple[Temporary, ...]]) -> Node:
    """The loops of all points.

    Rewrite:  for k: S(x, k)          ->  for k: { S(x, k); S(x + 32, k) }
              if (x < n) S(x)         ->  if (x < n) S(x); if (x + 32 < n) S(x + 32)
              if (x < n) for k: S(x)  ->  for k: { if (x < n) S(x); if (x + 32 < n) S(x + 32) }

    Parameters
    ----------
    node : of the first point; it places no temporaries.
    held : per point the temporaries that its instances use.
    """
    def inside(child: Node) -> Node:
        return jammed(child, points, coordinates, held)

    match node:
        case Block():
            return block(tuple(map(inside, node.children)))
        case For() if not (variables(node.lower) | variables(node.upper)) & coordinates and node.guard is None:
            return replace(node, body=inside(node.body))
        case If() if not variables(node.condition) & coordinates:
            otherwise = None if node.otherwise is None else inside(node.otherwise)
            return If(node.condition, inside(node.then), otherwise)
        case Let() if not variables(node.value) & coordinates:
            return replace(node, body=inside(node.body))
        case If(condition=condition, then=then, otherwise=None) if len(points) > 1 and is_shared(then, coordinates):
            return inside(_guarded(condition, then))
    return block(tuple(with_temporaries(substitute_node(node, own.values), temporaries)
                       for own, temporaries in zip(points, held, strict=True)))


def _guarded(condition: Condition, node: Node) -> Node:
    """A condition around loops that do not change with coordinates, as one of what is inside of them."""
    match node:
        case Block():
            return block(tuple(_guarded(condition, child) for child in node.children))
        case For() | Let():
            return replace(node, body=_guarded(condition, node.body))
        case If():
            otherwise = None if node.otherwise is None else _guarded(condition, node.otherwise)
            return If(node.condition, _guarded(condition, node.then), otherwise)
    return If(condition, node)


def with_temporaries(node: Node, temporaries: Sequence[Temporary]) -> Node:
    """The loops, whose instances find some arrays elsewhere."""
    if isinstance(node, StatementInstance):
        return replace(node, temporaries=(*node.temporaries, *temporaries))
    return map_children(node, lambda child: with_temporaries(child, temporaries))


def is_shared(node: Node, coordinates: frozenset[str]) -> bool:
    """Whether all points run the same loops, without a condition on any of them."""
    return any(isinstance(own, For) for own in walk_nodes(node)) and has_no_forms(node, coordinates)


def has_no_forms(node: Node, coordinates: frozenset[str]) -> bool:
    """Whether no loop, condition or variable changes with a coordinate."""
    return not any(_forms(own) & coordinates for own in walk_nodes(node) if isinstance(own, For | If | Let))


def _forms(node: For | If | Let) -> frozenset[str]:
    match node:
        case For():
            guard = frozenset[str]() if node.guard is None else variables(node.guard)
            return variables(node.lower) | variables(node.upper) | guard
        case If():
            return variables(node.condition)
        case Let():
            return variables(node.value)


def full_blocks(launch: Launch, phase: Phase, places: Names) -> isl.Set:
    """The places of blocks, and of tiles, at which every point of the block has every step of the tile.

    Empty where there are none, or where isl cannot say so by the parameters alone.
    """
    inside = fixed(phase.domain, dict(zip(places.host, launch.host, strict=True)))
    functions, firsts, edges = [*launch.coordinates], [*places.firsts], [*launch.edges]
    if phase.step is not None:
        functions, firsts, edges = [*functions, phase.step], [*firsts, places.tile], [*edges, phase.edge]
    values = _values(inside, functions)
    names = [f"at{k}" for k in range(len(firsts))]
    ranges = " and ".join(f"{first} <= {name} < {first} + {edge}"
                          for name, first, edge in zip(names, firsts, edges, strict=True))
    box = isl.Set(f"[{', '.join(firsts)}] -> {{ [{', '.join(names)}] : {ranges} }}")
    full: isl.Set | None = None
    for own in values:
        missing = box.subtract(own).params()
        full = missing.complement() if full is None else full.subtract(missing)
    return isl.Set.empty(isl.Space.params_alloc(box.get_ctx(), 0)) if full is None else full.coalesce()


def _values(instances: isl.UnionSet, functions: Sequence[isl.UnionPwAff]) -> list[isl.Set]:
    """Per statement the values of some functions."""
    sets = instances.get_set_list()
    found = []
    for k in range(sets.n_set()):
        own = sets.get_at(k)
        relation = isl.Map.from_domain(own)
        for function in functions:
            values = isl.UnionMap.from_union_pw_aff(function).intersect_domain(isl.UnionSet.from_set(own))
            if values.is_empty():
                return []
            relation = relation.flat_range_product(isl.Map.from_union_map(values))
        found.append(relation.range().reset_tuple_id())
    return found
