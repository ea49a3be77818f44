"""Distribution of an innermost loop over its statements, so that each row becomes a loop of its own.

Skewed and shifted stencils interleave statements in one innermost loop that then carries a dependence from
one statement to the other, although each row of one statement is free of dependences.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from graphlib import CycleError, TopologicalSorter

import islpy as isl

from polysched.scheduling.tree.loop_tree import Leaf, Node, Sequence
from polysched.tiling.tree.loops import Loop, nest
from polysched.tiling.tree.position import Position, branch, is_independent

Groups = list[tuple[str, isl.UnionSet]]     # statements with their filters, in order


def distribute(position: Position, loop: Loop) -> Iterator[Sequence]:
    """The loop in copies that are ordered by the dependences that nothing outside orders.

    Rewrite:  for j { P(j); Q(j); R(j - 1) }  ->  { for j { P(j); Q(j); }  for j R(j - 1) },
                                                  { for j P(j);  for j Q(j);  for j R(j - 1) }

    First, where that is another distribution, statements stay together that depend on each other in one iteration
    alone: what one of them writes, the other reads from a register.  Then every statement has a copy of its own.
    Nothing when there is one statement only, or when the dependences between statements form a cycle.

    Source: Kennedy and McKinley 1993, "Maximizing Loop Parallelism and Improving Data Locality via Loop Fusion and
    Distribution" (typed fusion, here of statements that share values).
    """
    groups = statement_groups(position)
    if groups is None or len(groups) < 2:
        return
    clusters = _clusters(position, loop, groups)
    if 1 < len(clusters) < len(groups):
        yield Sequence(branches=tuple(_loop_of(loop, cluster) for cluster in clusters))
    yield Sequence(branches=tuple(_loop_of(loop, [group]) for group in groups))


def _clusters(position: Position, loop: Loop, groups: Groups) -> list[Groups]:
    """Statements that share values within one iteration, each cluster after those that it depends on."""
    before = _sources(position)
    clusters: list[Groups] = []
    homes: dict[str, int] = {}
    for name, keep in groups:
        home = max((homes[other] for other in before[name]), default=len(clusters))
        if home == len(clusters) or not is_independent(
                branch(position, _rooms([*clusters[home], (name, keep)])), loop.function):
            home = len(clusters)
            clusters.append([])
        clusters[home].append((name, keep))
        homes[name] = home
    return clusters


def _loop_of(loop: Loop, cluster: Groups) -> tuple[isl.UnionSet, Node]:
    """The loop around the statements of a cluster, one after the other."""
    inner = Leaf() if len(cluster) == 1 else Sequence(branches=tuple((keep, Leaf()) for _, keep in cluster))
    return _rooms(cluster), nest((loop,), inner)


def _rooms(cluster: Groups) -> isl.UnionSet:
    return reduce(isl.UnionSet.union, (keep for _, keep in cluster))


def statement_groups(position: Position) -> Groups | None:
    """The statements at a position, each with its filter, in an order that the dependences there allow.

    None when the dependences between statements form a cycle.
    """
    try:
        order = list(TopologicalSorter(_sources(position)).static_order())
    except CycleError:
        return None
    rooms = {part.get_tuple_name(): isl.UnionSet.from_set(isl.Set.universe(part.get_space()))
             for part in sets_of(position.domain)}
    return [(name, rooms[name]) for name in order]


def _sources(position: Position) -> dict[str, set[str]]:
    """The other statements that each statement depends on."""
    before: dict[str, set[str]] = {name: set() for name in statement_names(position.domain)}
    for relation in maps_of(position.dependences):
        source, sink = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
        if source != sink:
            before[sink].add(source)
    return before


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
