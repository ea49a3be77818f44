"""Fusion of rows: nests with a common outermost parallel loop run row by row, while what they share is in the cache.

Rewrite:  for i: for j: T[i][j] = ...;    for i: for j: ... = T[i][j]
      ->  for i { for j: T[i][j] = ...;  for j: ... = T[i][j] }

Fusion of whole bands needs bands of one shape.  Here bands may differ in depth; what is fused is one loop, or several
where an iteration of one of them is too much for the cache, at distance zero in every dependence, where the data that
several of the nests touch is more than the cache holds, a row of it is less, and no nest loses by it: none that walks a
matrix down its columns then, none that uses a whole matrix for every row (tiles and registers keep it better),
none with a recurrence along the row (which several rows at a time hide).

Source: the benefit is that of Kennedy and McKinley, "Maximizing loop parallelism and improving data locality via loop
fusion and distribution", LCPC 1993; the rows are found as for fusion of bands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import prod

import islpy as isl

from polysched.dependence.legality import Active
from polysched.records import dataclass
from polysched.scheduling.fusion.fusion import extended_band
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.solving.problem import at_large_size
from polysched.scheduling.solving.rows import Row, StatementRow
from polysched.scheduling.solving.search import Band, Found, Names, Search, missing_of
from polysched.scop.points import isl_value
from polysched.scop.scop import Access

Groups = list[tuple[tuple[Names, ...], Band | None]]

LEAST_ROWS = LIMITS.least_fused_rows


@dataclass(frozen=True, kw_only=True)
class _Cluster:
    """Groups that shall share a loop: their positions among all groups, and their band."""

    groups: tuple[int, ...]
    band: Band


def fuse_rows(search: Search, groups: Groups, active: list[Active], found: Found) -> Groups:
    """Merge groups, given in topological order, whose rows fit; the others stay as they are, in an order that fits."""
    if len(groups) < 2:
        return groups
    bands = [band for _, band in groups]
    clusters = [_Cluster(groups=(n,), band=band) for n, band in enumerate(bands)
                if band is not None and not _has_recurrence(band, active)]
    edges = _edges(groups, active)
    for sink in range(len(groups)):
        for source in sorted((a for a, b in edges if b == sink), reverse=True):
            clusters = _joined(search, clusters, source, sink, edges, range(len(groups)), active, found)
    return _in_order(groups, [c for c in clusters if len(c.groups) > 1 and _pays(search, c, bands)], edges)


def _in_order(groups: Groups, merged: Sequence[_Cluster], edges: set[tuple[int, int]]) -> Groups:
    """The groups with clusters in the place of their members, each behind what it depends on."""
    of = {c.groups: (c.band.components, c.band) for c in merged}
    taken = {n for part in of for n in part}
    parts = [*of, *((n,) for n in range(len(groups)) if n not in taken)]
    ordered = list(_topological(parts, edges))
    assert len(ordered) == len(parts), "clusters were only merged where an order is left"
    return [of.get(part) or groups[part[0]] for part in ordered]


def _has_recurrence(band: Band, active: list[Active]) -> bool:
    """Whether iterations wait for each other, other than for a sum: several rows at a time hide what they wait for."""
    component = {n: i for i, names in enumerate(band.components) for n in names}
    return any(not a.dependence.reduction and a.dependence.source in component and a.dependence.sink in component
               and component[a.dependence.source] == component[a.dependence.sink] for a in active)


def _edges(groups: Groups, active: list[Active]) -> set[tuple[int, int]]:
    """Which group has to run before which."""
    place = {n: i for i, (components, _) in enumerate(groups) for c in components for n in c}
    pairs = {(place[a.dependence.source], place[a.dependence.sink]) for a in active
             if a.dependence.source in place and a.dependence.sink in place}
    return {(a, b) for a, b in pairs if a != b}


def _joined(search: Search, clusters: list[_Cluster], source: int, sink: int, edges: set[tuple[int, int]],
            everything: range, active: list[Active], found: Found) -> list[_Cluster]:
    """The clusters with those of two groups merged, if one loop fits both."""
    first = next((c for c in clusters if source in c.groups), None)
    second = next((c for c in clusters if sink in c.groups), None)
    if first is None or second is None or first is second or search.apart(first.band.names, second.band.names):
        return clusters
    rest = [c for c in clusters if c is not first and c is not second]
    together = (*first.groups, *second.groups)
    if not _have_an_order([together, *(c.groups for c in rest)], everything, edges):
        return clusters
    for rows in filter(partial(_fits, search), _shared_rows(first)):
        band = extended_band(search, replace(first.band, rows=rows), second.band, active, found)
        if band is not None and _costs_nothing(band) and _fits(search, band.rows) and _is_deeper(search, band, found):
            return [*rest, _Cluster(groups=tuple(sorted(together)), band=band)]
    return clusters


def _have_an_order(merged: Sequence[tuple[int, ...]], everything: range, edges: set[tuple[int, int]]) -> bool:
    """Whether merged groups and all others, one by one, can run in some order."""
    parts = [*merged, *((n,) for n in everything if not any(n in part for part in merged))]
    return len(list(_topological(parts, edges))) == len(parts)


def _costs_nothing(band: Band) -> bool:
    return all(cost == (0, 0) for row in band.rows for cost in row.costs)


def _shared_rows(cluster: _Cluster) -> Iterator[tuple[Row, ...]]:
    """The parallel rows that nests may share, few before many; nests that are fused already keep theirs."""
    rows = [row for row in cluster.band.rows if all(cost == (0, 0) for cost in row.costs[:-1])]
    if len(cluster.groups) > 1:
        yield cluster.band.rows
        return
    for count in range(1, len(rows) + 1):
        yield from combinations(rows, count)


def _is_deeper(search: Search, band: Band, found: Found) -> bool:
    """Whether a statement has further loops below one shared row; below several, which are then the loops' heads."""
    return len(band.rows) == 1 or any(len(missing_of(search, n, found)) > len(band.rows) for n in band.names)


def _topological(parts: list[tuple[int, ...]], edges: set[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """The parts in an order that every edge agrees with, those first that come first; cut short by a cycle."""
    place = {n: part for part in parts for n in part}
    before = {part: {place[a] for a, b in edges if b in part and a in place and place[a] != part} for part in parts}
    left = sorted(parts)
    while left:
        part = next((p for p in left if not before[p] & set(left)), None)
        if part is None:
            return
        left.remove(part)
        yield part


def _pays(search: Search, cluster: _Cluster, bands: list[Band | None]) -> bool:
    """Whether what several of the groups touch is more than the cache holds."""
    touched: dict[str, list[int]] = {}
    for n in cluster.groups:
        band = bands[n]
        assert band is not None, "only groups with a band are merged"
        for array, size in _touched_bytes(search, band.names).items():
            touched.setdefault(array, []).append(size)
    shared = sum(sorted(sizes)[-2] for sizes in touched.values() if len(sizes) > 1)
    return shared > search.options.kept_bytes


def _touched_bytes(search: Search, names: Names) -> dict[str, int]:
    """Bytes of each array that some statements touch, as the largest box of an access."""
    found: dict[str, int] = {}
    scop = search.problem.scop
    for name in names:
        statement = scop.statement(name)
        for access in statement.accesses:
            box = _extents(access.relation.intersect_domain(statement.domain).range())
            size = search.options.kept_bytes if box is None else prod(box) * scop.array(access.array).dtype.bytes
            found[access.array] = max(found.get(access.array, 0), size)
    return found


def _fits(search: Search, rows: Sequence[Row]) -> bool:
    """Whether one row of every statement fits the cache together, and no statement loses by going row by row.

    With several shared loops a row is what one iteration of all of them does.  Then no loop may use a matrix again from
    one iteration to the next (tiles keep it better).
    """
    footprints: dict[str, int] = {}
    count = 0
    for name in rows[0].of:
        sides = _sides(search, name, [row.of[name] for row in rows])
        if sides is None:
            return False
        one, everything, length = sides
        count = max(count, length)
        planes = [_neighbours(search, name, row.of[name]) for row in rows] if len(rows) > 1 else []
        for access in search.problem.scop.statement(name).accesses:
            here = _extents(access.relation.intersect_domain(one).range())
            there = _extents(access.relation.intersect_domain(everything).range())
            if here is None or there is None:
                return False
            size = prod(here) * search.problem.scop.array(access.array).dtype.bytes
            if _loses(here, there) or (here == there and 2 * size > search.options.kept_bytes):
                return False
            if any(_is_used_again(search, access, plane) for plane in planes):
                return False
            footprints[access.array] = max(footprints.get(access.array, 0), size)
    return count >= LEAST_ROWS and sum(footprints.values()) <= search.options.kept_bytes


def _is_used_again(search: Search, access: Access, planes: tuple[isl.Set, isl.Set]) -> bool:
    """Whether two iterations of one loop touch the same part of a matrix, or more than the cache holds."""
    first, second = (access.relation.intersect_domain(plane).range() for plane in planes)
    common = _extents(first.intersect(second))
    return common is None or sum(extent > 1 for extent in common) >= 2 \
        or prod(common) * search.problem.scop.array(access.array).dtype.bytes > search.options.kept_bytes


def _neighbours(search: Search, name: str, row: StatementRow) -> tuple[isl.Set, isl.Set]:
    """The instances of two iterations in the middle of a loop, one after the other; no second one in the shortest."""
    sides = _sides(search, name, [row]), _sides(search, name, [row], behind=1)
    assert sides[0] is not None, "there are rows of all loops together"
    assert sides[1] is not None, "there are rows of all loops together"
    return sides[0][0], sides[1][0]


def _loses(row: tuple[int, ...], everything: tuple[int, ...]) -> bool:
    """Down a column, one element of every line; or the same matrix, to be used again for every row."""
    inner = sum(extent > 1 for extent in row)
    down_a_column = bool(inner) and row[-1] == 1 and everything[-1] > 1
    return down_a_column or (row == everything and inner >= 2)


def _sides(search: Search, name: str, rows: Sequence[StatementRow], behind: int = 0
           ) -> tuple[isl.Set, isl.Set, int] | None:
    """The instances of one row in the middle, all of them, and how many rows there are, at one large size.

    With several rows: of one iteration in the middle of all of them, one after the other.

    Parameters
    ----------
    behind : how many iterations behind the middle.
    """
    domain = search.problem.scop.statement(name).domain
    everything = at_large_size(domain)
    if everything.is_empty() or not everything.is_bounded():
        return None
    one, count = everything, 1
    for row in rows:
        if one.is_empty():
            return None
        value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(everything.get_space()))
        for k, coefficient in enumerate(row.iterators):
            number = isl_value(coefficient)
            value = value.set_coefficient_val(isl.dim_type.in_, k, number)
        values = isl.Map.from_aff(value).intersect_domain(one)
        reached = values.range()
        low, high = (int(v.to_python()) for v in (reached.dim_min_val(0), reached.dim_max_val(0)))
        middle = isl_value((low + high) // 2 + behind)
        one, count = values.fix_val(isl.dim_type.out, 0, middle).domain(), count * (high - low + 1)
    return one, everything, count


def _extents(elements: isl.Set) -> tuple[int, ...] | None:
    """The edges of the bounding box; None where there is none."""
    elements = at_large_size(elements)
    if elements.is_empty():
        return (0,) * elements.dim(isl.dim_type.set)
    if not elements.is_bounded():
        return None
    return tuple(int(elements.dim_max_val(k).sub(elements.dim_min_val(k)).to_python()) + 1
                 for k in range(elements.dim(isl.dim_type.set)))
