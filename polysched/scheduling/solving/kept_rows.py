"""What a scheduler had found when its budget ran out: those rows are kept, and the rest stays as written below them.

While it searches it notes, level by level, the components, the band of each, and the groups after fusion.  A tree made
of that respects every dependence: bands and their order do, by the integer programs that gave them, and below a band
the order as written orders whatever is left.  It is checked like every other schedule.

      band of S0 and S1, found in time                      band of S0 and S1
        S0: band of S0, found in time           ->            S0: band of S0
        S1: budget spent while its cones were computed        S1: as written
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from itertools import chain
from typing import TypeAlias

import islpy as isl

from polysched.dependence.legality import violation
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.solving.problem import band_values
from polysched.scheduling.solving.search import Band, Found, Names, Search, missing_of
from polysched.scheduling.tree.flags import with_flags_in_budget
from polysched.scop.budget import LEAST_SECONDS, with_budget
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Scop

Key: TypeAlias = tuple[tuple[str, int], ...]
Groups: TypeAlias = list[tuple[tuple[Names, ...], Band | None]]

PART = LIMITS.kept_rows_divisor

LEAST_OPERATIONS = LIMITS.kept_rows_operations


@dataclass(eq=False)
class Level:
    """What is known of some statements below the rows they have.

    Parameters
    ----------
    components : in an order that respects the dependences.
    bands : of the first components, as far as the search came.
    groups : of all components after fusion, with their bands; empty until then.
    """

    components: tuple[Names, ...] = ()
    bands: list[Band | None] = field(default_factory=list)
    groups: Groups = field(default_factory=list)

    def known(self) -> Groups:
        """The groups, or the components with what was found of their bands."""
        missing = [None] * (len(self.components) - len(self.bands))
        return self.groups or [((c,), band) for c, band in zip(self.components, [*self.bands, *missing], strict=True)]


def key(names: Names, found: Found) -> Key:
    """Where a level stands: its statements, and how many rows each has above it."""
    return tuple((name, len(found[name])) for name in names)


def kept(search: Search, levels: dict[Key, Level]) -> tuple[isl.Schedule, str] | None:
    """The tree of what was found in time, checked exactly, and what it is in words; None when that is nothing.

    Only called after the budget of the search is spent; has a smaller one of its own.
    """
    found = dict.fromkeys(search.problem.spaces, ())
    names = tuple(found)
    if not any(band for level in levels.values() for _, band in level.known()):
        return None
    rest: list[str] = []

    dependences = search.problem.dependences

    def build() -> isl.Schedule | None:
        tree = _without_constant_loops(_below(search, levels, names, found, rest))
        return None if violation(dependences, tree) else tree

    tree = with_budget(max(search.options.isl_operations // PART, LEAST_OPERATIONS), build,
                       seconds=max(search.options.seconds / PART, LEAST_SECONDS))
    if tree is None:
        return None
    flagged = with_flags_in_budget(dependences, tree)
    return flagged, f"the rows found in time are kept; as written below them: {', '.join(rest) or 'nothing'}"


def _below(search: Search, levels: dict[Key, Level], names: Names, found: Found, rest: list[str]) -> isl.Schedule:
    """The subtree for some statements; those that stay as written are added to `rest`."""
    level = levels.get(key(names, found))
    if level is None:
        return _as_written(search, names, found, rest)
    tree: isl.Schedule | None = None
    for members, band in level.known():
        inside = tuple(n for n in search.problem.spaces if n in set(chain(*members)))
        child = _group(search, levels, inside, band, found, rest)
        tree = child if tree is None else tree.sequence(child)
    assert tree is not None, "a level has components"
    return tree


def _group(search: Search, levels: dict[Key, Level], names: Names, band: Band | None, found: Found, rest: list[str]
           ) -> isl.Schedule:
    if band is None:
        return _as_written(search, names, found, rest)
    rows = [row.of for row in band.rows]
    deeper = {n: (*found[n], *(row[n].iterators for row in rows)) for n in names}
    subtree = _below(search, levels, names, {**found, **deeper}, rest)
    return subtree.insert_partial_schedule(band_values(search.problem, rows))


def _as_written(search: Search, names: Names, found: Found, rest: list[str]) -> isl.Schedule:
    scop = search.problem.scop
    rest += (n for n in names if missing_of(search, n, found))
    return scop.schedule.intersect_domain(domain_of(scop, names))


def domain_of(scop: Scop, names: Iterable[str]) -> isl.UnionSet:
    """The instances of some statements."""
    domain = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    for name in names:
        domain = domain.union(isl.UnionSet.from_set(scop.statement(name).domain))
    return domain


def _without_constant_loops(tree: isl.Schedule) -> isl.Schedule:
    """The tree without the single loops that have one value in every iteration of the loops around them.

    A loop as written is such a one where the rows above it already fix its iterator.
    """
    return tree.map_schedule_node_bottom_up(_without_constant_loop)


def _without_constant_loop(node: isl.ScheduleNode) -> isl.ScheduleNode:
    if kind_of(node) != NodeKind.band or node.band_n_member() != 1:
        return node
    around = node.get_prefix_schedule_union_map()
    value = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_union_pw_aff(0))
    by_place = around.reverse().apply_range(value.intersect_domain(node.get_domain()))
    return node.delete() if by_place.is_single_valued() else node
