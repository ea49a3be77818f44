"""From a schedule to groups: loop nests that share tiles, so that what one computes stays on the chip for the next.

Rewrite:  for i, j: S    for i, k: T reading S       ->  for tiles of i: S, T

A coordinate of a group is a value that no dependence within the group changes.  Tiles of it may run in any order, and
all statements of a tile run one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import pairwise

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import Active, all_active, equal_parts
from polysched.gpu.bands import is_free, values_of
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import HostLoop, HostNode, HostSequence, Launch


def runs_of(node: HostNode) -> Iterator[HostLoop | tuple[Launch, ...]]:
    """What a node of the host has in order: loops, and runs of neighbouring launches."""
    waiting: list[Launch] = []
    for child in _children(node):
        if isinstance(child, Launch):
            waiting.append(child)
            continue
        if waiting:
            yield tuple(waiting)
            waiting = []
        yield child
    if waiting:
        yield tuple(waiting)


def _children(node: HostNode) -> Iterator[HostLoop | Launch]:
    if isinstance(node, HostSequence):
        for part in node.parts:
            yield from _children(part)
    else:
        yield node


def partitions(count: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """The ways to cut a run of neighbours into groups, the coarsest first; all of a long run, or none of it."""
    if count > LIMITS.most_cut_nests:
        yield ((0, count),)
        yield tuple((k, k + 1) for k in range(count))
        return
    for bits in range(1 << (count - 1)):
        cuts = [0, *(k + 1 for k in range(count - 1) if bits >> k & 1), count]
        yield tuple(pairwise(cuts))


def joined(dependences: Dependences, launches: tuple[Launch, ...]) -> Launch | None:
    """Neighbours as one launch over the coordinates that they can share; None where they share none."""
    found: Launch | None = launches[0]
    for other in launches[1:]:
        found = None if found is None else _pair(dependences, found, other)
    return found


def _pair(dependences: Dependences, first: Launch, second: Launch) -> Launch | None:
    domain = first.domain.union(second.domain)
    active = active_inside(dependences, domain, first.host)
    left = list(second.coordinates)
    found = []
    for own in first.coordinates:
        free = next((at for at, other in enumerate(left) if is_free(own.union_add(other), active)), None)
        if free is not None:
            found.append(own.union_add(left.pop(free)))
    if not found:
        return None
    return replace(first, name=f"{first.name}_{second.name}", domain=domain, coordinates=tuple(found))


def active_inside(dependences: Dependences, domain: isl.UnionSet, host: tuple[isl.UnionPwAff, ...]) -> list[Active]:
    """What orders instances of a domain at one value of every loop of the host."""
    found = []
    for part in all_active(dependences):
        inside = isl.UnionMap.from_map(part.relation).intersect_domain(domain).intersect_range(domain)
        if not inside.is_empty():
            found.append(replace(part, relation=isl.Map.from_union_map(inside)))
    return reduce(lambda rest, function: equal_parts(rest, values_of(function)), host, found)
