"""Fusion policies: which components share a band.

Source: the fusion of whole bands follows Verdoolaege and Janssens, "Scheduling for PPCG", report CW 706,
2017, section 3.3; typed fusion follows Kennedy and McKinley, "Typed fusion with applications to parallel
and sequential code generation", 1993.
"""

from __future__ import annotations

from functools import partial
from math import prod

import islpy as isl

from polysched.dependence.dependences import DependenceKind
from polysched.dependence.legality import Active
from polysched.scheduling.fusion.interleaving import Interleaving
from polysched.scheduling.fusion.shared_reads import in_one_nest, share_reads, share_streams
from polysched.scheduling.solving.problem import at_large_size
from polysched.scheduling.solving.rows import NON_NEGATIVE, Row, find_row
from polysched.scheduling.solving.search import Band, Found, Names, Search, among, find_band, missing_of
from polysched.scop.body import Assign, Binary, Call, walk

Groups = list[tuple[tuple[Names, ...], Band | None]]
"""Components that run together, with their band where they have one."""


def fuse(search: Search, groups: Groups, active: list[Active], found: Found) -> Groups:
    """Apply the fusion policy to components in topological order.

    A component may join the last group that it depends on: everything that it depends on runs no later.  The other
    groups that it depends on may come there, too.  One that depends on none may join the last one with elements
    between its own.  Any may join a later one in the same loops of the source that reads the same stream, or
    reaches the same records.
    """
    policy = search.options.fusion
    if policy == "none" or len(groups) < 2:
        return groups
    interleaving = Interleaving(search.problem.scop, line_bytes=search.options.line_bytes)
    fused: Groups = []
    place: dict[str, int] = {}
    for members, band in groups:
        names = {n for c in members for n in c}
        before = [place[a.dependence.source] for a in active
                  if a.dependence.sink in names and a.dependence.source not in names]
        target = max(before) if before else _interleaved(interleaving, fused, names)
        joined = None
        if band is not None:
            target, joined = _place_for(search, fused, target, max(before, default=-1), band, active, found,
                                        interleaving)
        if joined is not None and target is not None:
            fused[target] = (joined.components, joined)
        else:
            target = len(fused)
            fused.append((members, band))
        _gather(search, fused, target, sorted({p for p in before if p != target}, reverse=True), active, found)
        place.update({n: target for c in fused[target][0] for n in c} | dict.fromkeys(names, target))
    return [group for group in fused if group[0]]


def _place_for(search: Search, fused: Groups, target: int | None, last: int, band: Band, active: list[Active],
               found: Found, interleaving: Interleaving) -> tuple[int | None, Band | None]:
    """The group that a band joins, and the band of both; a later one only where it reads the same.

    Parameters
    ----------
    target : the group that is tried first.
    last : the last group that the band depends on; -1 for none.
    """
    joined = None
    if target is not None and fused[target][1] is not None:
        joined = _fused_band(search, fused[target][1], band, active, found)
    for partner in (_with_same_reads, partial(_with_same_streams, interleaving),
                    partial(_with_same_records, interleaving)):
        if joined is None:
            target, joined = partner(search, fused, last, band, active, found)
    return target, joined


def _gather(search: Search, fused: Groups, target: int, sources: list[int],
            active: list[Active], found: Found) -> None:
    """Let further groups that a group depends on come to it, the last one first; their old places stay empty.

    A group may run later where nothing in between depends on it.
    """
    for source in sources:
        own = {n for c in fused[source][0] for n in c}
        between = {n for group in fused[source + 1:target] for c in group[0] for n in c}
        first, second = fused[source][1], fused[target][1]
        if first is None or second is None or any(
                a.dependence.source in own and a.dependence.sink in between for a in active):
            continue
        joined = _fused_band(search, first, second, active, found)
        if joined is not None:
            fused[target], fused[source] = (joined.components, joined), ((), None)


def _with_same_reads(search: Search, fused: Groups, after: int, band: Band,
                     active: list[Active], found: Found) -> tuple[int | None, Band | None]:
    """The last group in loops in common with a sum that reads what the sum reads, with the band of both.

    Neither of the two has a parallel loop.

    Parameters
    ----------
    after : the last group that the sum depends on.
    """
    if _parallel_rows(band):
        return None, None
    for target in reversed(range(after + 1, len(fused))):
        first = fused[target][1]
        if first is None or _parallel_rows(first) or not _have_loops_in_common(search, first, band, found):
            continue
        joined = _fused_band(search, first, band, active, found)
        if joined is not None and share_reads(search, first.names, joined, found):
            return target, joined
    return None, None


def _have_loops_in_common(search: Search, first: Band, second: Band, found: Found) -> bool:
    """Whether two bands have loops in common: a nest of the source, or loops that are found already.

    A nest of the source does not count where both write one array: sums into its elements get lanes and threads of
    their own.  Below loops that are found, both bands are all that is left of their statements.
    """
    scop = search.problem.scop
    one, other = ({a.array for n in band.names for a in scop.statement(n).writes} for band in (first, second))
    if one.isdisjoint(other) and in_one_nest(scop, (*first.names, *second.names)):
        return True
    return any(found.values()) and all(len(b.rows) == _depth(search, b, found) for b in (first, second))


def _with_same_streams(interleaving: Interleaving, search: Search, fused: Groups, after: int, band: Band,
                       active: list[Active], found: Found) -> tuple[int | None, Band | None]:
    """The last group in the same loops of the source with a stream that a group without carried dependences reads, too.

    Members of one array of structs, and elements of one array of short rows, are one stream.

    Parameters
    ----------
    after : the last group that the group depends on.
    """
    if not _is_free(search, band, found):
        return None, None
    for target in reversed(range(after + 1, len(fused))):
        first = fused[target][1]
        if first is None or not _is_free(search, first, found) \
                or not in_one_nest(search.problem.scop, (*first.names, *band.names)):
            continue
        joined = _fused_band(search, first, band, active, found)
        if joined is not None and _is_free(search, joined, found) \
                and (share_streams(search, first.names, joined, found)
                     or interleaving.in_records(first.names, band.names)):
            return target, joined
    return None, None


def _with_same_records(interleaving: Interleaving, search: Search, fused: Groups, after: int, band: Band,
                       active: list[Active], found: Found) -> tuple[int | None, Band | None]:
    """The last group in the same loop of the source that writes other members of the same structs in order.

    A loop that carries a value waits for it from iteration to iteration; what another one does with lines that are
    there already costs it nothing.  One with calls or divisions keeps its lanes and threads.

    Parameters
    ----------
    after : the last group that the group depends on.
    """
    for target in reversed(range(after + 1, len(fused))):
        first = fused[target][1]
        if first is None or any(len(b.rows) != 1 or _depth(search, b, found) != 1 for b in (first, band)) \
                or all(_is_free(search, b, found) for b in (first, band)) \
                or any(_is_free(search, b, found) and _is_dear(search, b) for b in (first, band)) \
                or not in_one_nest(search.problem.scop, (*first.names, *band.names)) \
                or not interleaving.in_records(first.names, band.names, written=True):
            continue
        joined = _in_order(search, first, band, active, found)
        if joined is not None:
            return target, joined
    return None, None


def _is_dear(search: Search, band: Band) -> bool:
    """Whether statements call functions or divide, or have loops or conditions of their own."""
    items = [item for name in band.names for item in search.problem.scop.statement(name).body]
    return any(not isinstance(item, Assign) or any(
        isinstance(e, Call) or (isinstance(e, Binary) and e.op in "/%") for e in walk(item.value)) for item in items)


def _in_order(search: Search, first: Band, second: Band, active: list[Active], found: Found) -> Band | None:
    """The one loop of two groups, of which one at least carries a value."""
    if search.apart(first.names, second.names):
        return None
    band = extended_band(search, first, second, active, found)
    if band is not None and _own_cost(band) <= _own_cost(first) + _own_cost(second):
        return band
    return None


def _is_free(search: Search, band: Band, found: Found) -> bool:
    """Whether a band is all that is left of its statements, and all of its loops are parallel."""
    return _parallel_rows(band) == len(band.rows) == _depth(search, band, found)


def _interleaved(interleaving: Interleaving, fused: Groups,
                 names: set[str]) -> int | None:
    """The last group that reaches elements between those of some statements."""
    return next((n for n in reversed(range(len(fused))) if fused[n][1] is not None and interleaving.between(
        [m for c in fused[n][0] for m in c], sorted(names))), None)


def _fused_band(search: Search, first: Band | None, second: Band, active: list[Active], found: Found) -> Band | None:
    """The band of two groups together, if the policy accepts it."""
    if first is None or search.apart(first.names, second.names):
        return None
    policy = search.options.fusion
    if policy != "max" and (_depth(search, first, found) != _depth(search, second, found)
                            or len(first.rows) != len(second.rows)):
        return None

    def cheap(row: Row) -> bool:
        u, w = row.costs[-1]
        return policy == "max" or (u == 0 and w <= search.options.max_shift)

    band = extended_band(search, first, second, active, found) if policy != "max" else None
    if band is None:
        components = (*first.components, *second.components)
        names = tuple(n for c in components for n in c)
        band = find_band(search, components, among(active, names), found, accept=cheap)
    if band is None or policy == "max":
        return band
    if len(band.rows) != len(first.rows) or _own_cost(band) > _own_cost(first) + _own_cost(second):
        return None
    if policy == "cost" and _shared_bytes(search, first, second, active) <= search.options.kept_bytes:
        return None
    return band if _keeps_parallel_rows(band, first, second, policy) else None


def _keeps_parallel_rows(band: Band, first: Band, second: Band, policy: str) -> bool:
    """Whether fusing costs no parallelism: all that both had for the policy `typed`, for others some of it."""
    kept, least = _parallel_rows(band), min(_parallel_rows(first), _parallel_rows(second))
    return kept >= least if policy == "typed" else bool(kept or not least)


def extended_band(search: Search, first: Band, second: Band, active: list[Active], found: Found) -> Band | None:
    """The first band as it is, with rows for the second at distance zero; None when there are none.

    At distance zero no common search finds anything better, and this one has the variables of the second
    group only: a chain of a hundred statements is fused in a hundred small programs.
    """
    touching = [a for a in active if a.dependence.sink in second.names
                and a.dependence.source in (*first.names, *second.names)]
    edges = search.edges(touching)
    have = {n: found[n] for n in second.names}
    rows: list[Row] = []
    for row in first.rows:
        group = search.group(second.names, second.components, edges, have, fixed=row.of)
        outcome = find_row(group, NON_NEGATIVE, search.options, search.count)
        if not isinstance(outcome, Row) or outcome.costs[-1] != (0, 0):
            return None
        have = {n: (*have[n], outcome.of[n].iterators) for n in second.names}
        rows.append(Row(of={**row.of, **outcome.of}, costs=(*row.costs[:-1], *outcome.costs[:-1], row.costs[-1])))
    return Band(components=(*first.components, *second.components), rows=tuple(rows))


def _shared_bytes(search: Search, first: Band, second: Band, active: list[Active]) -> int:
    """Bytes that the second group reads from the first, as boxes, with every parameter at one large size.

    What fits the cache is read from there whether the groups are fused or not.
    """
    scop = search.problem.scop
    elements: dict[str, isl.Set] = {}
    for part in (*active, *search.problem.inputs):
        pair = part.dependence
        if pair.source not in first.names or pair.sink not in second.names \
                or pair.kind not in (DependenceKind.FLOW, DependenceKind.INPUT):
            continue
        access = scop.statement(pair.sink).access(pair.sink_reference).relation
        reached = at_large_size(access.intersect_domain(part.relation.range()).range())
        elements[pair.array] = reached.union(elements[pair.array]) if pair.array in elements else reached
    return sum(_box(reached) * scop.array(array).dtype.bytes for array, reached in elements.items())


def _box(elements: isl.Set) -> int:
    """The number of elements in the bounding box."""
    if elements.is_empty():
        return 0
    return prod(int(elements.dim_max_val(k).sub(elements.dim_min_val(k)).to_python()) + 1
                for k in range(elements.dim(isl.dim_type.set)))


def _own_cost(band: Band) -> int:
    """What the distances inside components cost, over all rows."""
    return sum(u + w for row in band.rows for u, w in row.costs[:-1])


def _parallel_rows(band: Band) -> int:
    return sum(all(u == w == 0 for u, w in row.costs) for row in band.rows)


def _depth(search: Search, band: Band, found: Found) -> int:
    return max(len(missing_of(search, n, found)) for n in band.names)
