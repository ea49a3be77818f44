"""Distribution of an innermost loop over its statements, so that each row becomes a loop of its own.

Skewed and shifted stencils interleave statements in one innermost loop that then carries a dependence from
one statement to the other, although each row of one statement is free of dependences.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import islpy as isl

from polysched.scheduling.loop_tree import Leaf, Sequence
from polysched.tiling.loops import Loop, nest
from polysched.tiling.position import Position


def distribute(position: Position, loop: Loop) -> Sequence | None:
    """One copy of the loop per statement, ordered by the dependences that nothing outside orders.

    Rewrite:  for j { P(j); Q(j - 1) }  ->  { for j P(j); for j Q(j - 1) }

    None when there is one statement only, or when the dependences between statements form a cycle.
    """
    groups = statement_groups(position)
    if groups is None or len(groups) < 2:
        return None
    return Sequence(branches=tuple((keep, nest((loop,), Leaf())) for _, keep in groups))


def statement_groups(position: Position) -> list[tuple[str, isl.UnionSet]] | None:
    """The statements at a position, each with its filter, in an order that the dependences there allow.

    None when the dependences between statements form a cycle.
    """
    names = statement_names(position.domain)
    before: dict[str, set[str]] = {name: set() for name in names}
    for relation in maps_of(position.dependences):
        source, sink = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
        if source != sink:
            before[sink].add(source)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        return None
    rooms = {part.get_tuple_name(): isl.UnionSet.from_set(isl.Set.universe(part.get_space()))
             for part in sets_of(position.domain)}
    return [(name, rooms[name]) for name in order]


def statement_names(domain: isl.UnionSet) -> list[str]:
    """The statements with instances in the domain, sorted by name."""
    return sorted(part.get_tuple_name() for part in sets_of(domain))


def sets_of(domain: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, one per statement; empty ones dropped."""
    parts = domain.get_set_list()
    found = [parts.get_at(i) for i in range(parts.n_set())]
    return [part for part in found if not part.is_empty()]


def maps_of(relation: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, one per pair of statements; empty ones dropped."""
    parts = relation.get_map_list()
    found = [parts.get_at(i) for i in range(parts.n_map())]
    return [part for part in found if not part.is_empty()]
