"""What one order of loops costs per statement instance: memory lines touched and lanes used.

A coarse, purely structural estimate that compares orders of the same loops; it does not look at cache sizes
(`volume` does).  Per instance of the deepest statements it adds the share of a cache line that each access
moves when the innermost loop advances, and the time of the operations: full when the innermost loop is
sequential, a vector lane's share when its iterations are independent.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, Mark, Node, Sequence
from polysched.scop.scop import Array, Scop, Statement
from polysched.target.target import Target
from polysched.tiling.footprints.strides import Stride, advance, kind_of, movements
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.distribute import sets_of, statement_names
from polysched.tiling.tree.loops import has_loops
from polysched.tiling.tree.position import Position, branch, inside, is_independent

DEPTH_WEIGHT = LIMITS.depth_weight
GUARD = LIMITS.guard_cost
LOOP_OVERHEAD = LIMITS.loop_overhead


def order_cost(scop: Scop, position: Position, node: Node, target: Target) -> float:
    """The estimated cost of the subtree, for comparison with other orders of the same statements."""
    match node:
        case Leaf():
            return 0.0
        case Mark():
            return order_cost(scop, position, node.child, target)
        case Filter():
            return order_cost(scop, branch(position, node.keep), node.child, target)
        case Sequence():
            return sum(order_cost(scop, branch(position, keep), child, target) for keep, child in node.branches)
        case Band():
            member, rest = node.members[0], node.members[1:]
            if node.mark is not None and node.mark.role in (Role.TILE, Role.WAVEFRONT):
                return order_cost(scop, inside(position, member, on_path=False), node.child, target)
            child = replace(node, members=rest, coincident=node.coincident[1:]) if rest else node.child
            if has_loops(child):
                return order_cost(scop, inside(position, member), child, target)
            return _innermost_cost(scop, inside(position, member), target, is_independent(position, member))


def _innermost_cost(scop: Scop, position: Position, target: Target, independent: bool) -> float:
    statements = [scop.statement(name) for name in statement_names(position.domain)]
    guarded = len({_fixed_loops(statement, position) for statement in statements}) > 1 or _ranges_differ(position)
    cost = LOOP_OVERHEAD
    seen: set[str] = set()
    for statement in statements:
        per_instance = _statement_cost(scop, statement, position.path, target, independent and not guarded, seen)
        cost += (per_instance + GUARD * guarded) * DEPTH_WEIGHT ** statement.depth
    return cost


def _fixed_loops(statement: Statement, position: Position) -> tuple[bool, ...]:
    return tuple(advance(statement, position.path, loop) is None for loop in range(len(position.path)))


def _ranges_differ(position: Position) -> bool:
    """Whether one statement runs at iterations of the loops where another does not."""
    ranges: list[isl.Set] = []
    for part in sets_of(position.domain):
        values = isl.Map.from_domain(part)
        for member in position.path:
            row = isl.UnionMap.from_union_pw_aff(member).intersect_domain(isl.UnionSet.from_set(part))
            values = values.flat_range_product(isl.Map.from_union_map(row))
        ranges.append(values.range())
    return any(not other.is_equal(ranges[0]) for other in ranges[1:])


def _statement_cost(scop: Scop, statement: Statement, path: tuple[isl.UnionPwAff, ...], target: Target,
                    independent: bool, seen: set[str]) -> float:
    """Lines and operations of one instance; `seen` holds the arrays of structs whose lines the loop moves already."""
    moved = movements(scop, statement, path)
    lines = 0.0
    lanes = target.vector_bytes
    for access in statement.accesses:
        size = scop.array(access.array).dtype.bytes
        lanes = min(lanes, target.vector_bytes // min(size, target.vector_bytes))
        elements = moved[access.reference]
        struct = _struct(scop.array(access.array))
        if struct:
            size = sum(array.dtype.bytes for array in scop.arrays if _struct(array) == struct)
            if struct in seen:
                continue
            seen.add(struct)
        lines += 1.0 if elements is None else min(1.0, elements * size / target.line_bytes)
    alike = all(kind_of(elements) is not Stride.OTHER for elements in moved.values()) and not any(
        _struct(scop.array(access.array)) for access in statement.accesses)
    operations = 1.0 / lanes if independent and alike else 1.0
    return lines + operations


def _struct(array: Array) -> str:
    """How C spells an element of the array of structs that an array is a member of; "" where it is none."""
    place, dot, _ = array.c_element.rpartition("}].")
    return place if dot else ""
