"""From a schedule tree to launches: coincident members become coordinates, what is left outside becomes host loops.

Every work item runs whole chains of dependent instances, so a launch needs no barrier: a coordinate is a value that no
dependence within a launch changes.  Where a band has no such member, its first members become loops of the host until
one is free, or the sum of all members does (a wavefront).

Source: S. Verdoolaege et al., "Polyhedral Parallel Code Generation for CUDA", ACM TACO 9(4), 2013, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import count, groupby

import islpy as isl

from polysched.dependence.legality import (
    Active,
    active_below,
    all_active,
    backward,
    carrier,
    equal_parts,
    total_values,
)
from polysched.gpu.coalescing import fastest_first
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import HostLoop, HostNode, HostSequence, Launch, launches
from polysched.gpu.options import GpuOptions
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scop.schedule_nodes import NodeKind, kind_of


def host_tree(schedule: Schedule, options: GpuOptions) -> HostNode:
    """What the host does, with the launches as leaves."""
    root = schedule.tree.get_root()
    mapper = _Mapper(schedule=schedule, options=options, numbers=count())
    place = _Place(domain=schedule.tree.get_domain(), host=(), active=all_active(schedule.dependences))
    return numbered(mapper.node(root.child(0), place))


@dataclass(frozen=True, eq=False)
class _Place:
    """Instances that reach a node, the host loops around it, and the dependences that nothing outside orders."""

    domain: isl.UnionSet
    host: tuple[isl.UnionPwAff, ...]
    active: list[Active]

    def inside(self, function: isl.UnionPwAff) -> _Place:
        """Inside a loop of the host."""
        return _Place(self.domain, (*self.host, function), equal_parts(self.active, values_of(function)))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Mapper:
    schedule: Schedule
    options: GpuOptions
    numbers: Iterator[int]

    def node(self, node: isl.ScheduleNode, place: _Place) -> HostNode:
        """The host's part of a node."""
        kind = kind_of(node)
        if kind == NodeKind.leaf:
            return self._alone(place)
        if kind == NodeKind.band:
            return self._band(_members(node), node.child(0), place)
        if kind in (NodeKind.sequence, NodeKind.set):
            return self._sequence(node, place)
        if kind == NodeKind.filter:
            place = replace(place, domain=place.domain.intersect(node.filter_get_filter()),
                            active=active_below(node, place.active, 0))
        return self.node(node.child(0), place)

    def _sequence(self, node: isl.ScheduleNode, place: _Place) -> HostNode:
        """The children in order; neighbours without parallel loops share a launch."""
        parts = [self.node(node.child(k), place) for k in range(node.n_children())]
        joined: list[HostNode] = []
        for alone, group in groupby(parts, key=_is_alone):
            found = list(group)
            joined += [self._alone(replace(place, domain=_domain(found)))] if alone else found
        return joined[0] if len(joined) == 1 else HostSequence(parts=tuple(joined))

    def _band(self, members: tuple[isl.UnionPwAff, ...], below: isl.ScheduleNode, place: _Place) -> HostNode:
        """Rewrite:  [i, j, k] with i, j coincident          ->  launch(i, j)
                     [t, i, j] with i, j coincident for one t ->  for t: launch(i, j)
                     [i, j] permutable, none of that         ->  for i + j: launch(j)
        """
        if not members:
            return self.node(below, place)
        free = free_members(members, below, place.active)
        if free:
            return self._launch(free, place)
        inside = place.inside(members[0])
        peeled = max(len(free_members(members[k:], below, reduce(_Place.inside, members[1:k], inside).active))
                     for k in range(1, len(members) + 1))
        wave = self._wavefront(members, place)
        if wave is not None and len(next(launches(wave)).coordinates) > peeled:
            return wave
        body = self._band(members[1:], below, inside)
        if _is_alone(body):
            return self._alone(place)
        return HostLoop(function=members[0], body=body)

    def _wavefront(self, members: tuple[isl.UnionPwAff, ...], place: _Place) -> HostNode | None:
        """A loop over the sum of all members of a permutable band: no dependence stays within one value of it."""
        if len(members) < 2 or not is_permutable(members, place.active):
            return None
        front = reduce(lambda total, member: total.add(member), members)
        inside = place.inside(front)
        rest = tuple(m for m in members[1:] if is_free(m, inside.active))
        return HostLoop(function=front, body=self._launch(rest, inside)) if rest else None

    def _launch(self, free: tuple[isl.UnionPwAff, ...], place: _Place) -> Launch:
        chosen = fastest_first(self.schedule.scop, free, place.domain)[:LIMITS.most_coordinates]
        return Launch(name=str(next(self.numbers)), domain=place.domain, host=place.host, coordinates=chosen,
                      block=self.options.block_of(len(chosen)))

    def _alone(self, place: _Place) -> Launch:
        return Launch(name=str(next(self.numbers)), domain=place.domain, host=place.host)


def _members(band: isl.ScheduleNode) -> tuple[isl.UnionPwAff, ...]:
    partial = band.band_get_partial_schedule()
    return tuple(partial.get_union_pw_aff(k) for k in range(band.band_n_member()))


def values_of(function: isl.UnionPwAff) -> dict[str, isl.PwAff]:
    """The values of a function of instances by statement, for comparisons."""
    return total_values(multi_union_pw_aff((function,)), 0)


def is_free(member: isl.UnionPwAff, active: list[Active]) -> bool:
    """Whether no active dependence connects two values of a member."""
    return carrier(active, values_of(member)) is None


def is_permutable(members: tuple[isl.UnionPwAff, ...], active: list[Active]) -> bool:
    """Whether no member runs an active pair backward."""
    return all(backward(part, values_of(member)).is_empty() for member in members for part in active if part.ordered)


def free_members(members: tuple[isl.UnionPwAff, ...], below: isl.ScheduleNode,
                 active: list[Active]) -> tuple[isl.UnionPwAff, ...]:
    """The members of a band, and of the bands directly below it, that no active dependence changes.

    Members in between that order dependences become loops of a work item.
    """
    found = [member for member in members if is_free(member, active)]
    while kind_of(below) in (NodeKind.mark, NodeKind.band):
        if kind_of(below) == NodeKind.band:
            found += [member for member in _members(below) if is_free(member, active)]
        below = below.child(0)
    return tuple(found)


def _is_alone(node: HostNode) -> bool:
    """Whether a node is one launch of one work item."""
    return isinstance(node, Launch) and not node.coordinates


def _domain(parts: list[HostNode]) -> isl.UnionSet:
    domains = [launch.domain for part in parts for launch in launches(part)]
    return reduce(lambda total, domain: total.union(domain), domains)


def numbered(node: HostNode) -> HostNode:
    """The launches named in textual order."""
    numbers = count()

    def named(part: HostNode) -> HostNode:
        match part:
            case Launch():
                return replace(part, name=f"kernel{next(numbers)}")
            case HostLoop():
                return replace(part, body=named(part.body))
            case HostSequence():
                return replace(part, parts=tuple(map(named, part.parts)))
    return named(node)
