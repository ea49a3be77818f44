"""Statements that do not depend on each other and read the same elements in the same iteration share one loop.

Sums below fused rows:

    { for k: s += A[i][k];  for k: t += A[i][k] * v[k] }   ->   for k { s += A[i][k];  t += A[i][k] * v[k] }

A sum in the order of the source waits for itself, so two of them in one loop cost what one of them costs, and what both
read is read once.  Nothing is lost where neither runs in lanes.

Streams, an element of an array for every iteration, in the loops that the source has around both:

    for i { s[i] = A[i] + B[i];  d[i] = A[i] - B[i] }   stays one loop

Apart, each of them would move the stream through all caches; in loops that carry nothing nothing else is lost or won.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polysched.dependence.source_loops import shared_loops
from polysched.scheduling.solving.problem import at_large_size, band_values
from polysched.scheduling.solving.rows import StatementRow
from polysched.scheduling.solving.search import Band, Found, Names, Search
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop


def share_reads(search: Search, first: Names, band: Band, found: Found) -> bool:
    """Whether some statements of a band read an element in the very iteration in which the others do.

    Parameters
    ----------
    first : the statements on one side; the others of the band are on the other.
    band : the rows of both.
    found : the rows above, which are the same loops for both.
    """
    second = tuple(n for n in band.names if n not in first)
    return not _read(search, first, band, found).is_disjoint(_read(search, second, band, found))


def share_streams(search: Search, first: Names, band: Band, found: Found) -> bool:
    """Whether some statements of a band read elements once each, and the others the same a few iterations away.

    Parameters as for `share_reads`.
    """
    second = tuple(n for n in band.names if n not in first)
    streams = [read for read in _reads(search, first, band, found) if read.is_injective()]
    others = _reads(search, second, band, found)
    return any(_near(one, other, search.options.max_shift) for one in streams for other in others
               if one.get_tuple_name(isl.dim_type.out) == other.get_tuple_name(isl.dim_type.out))


def in_one_nest(scop: Scop, names: Sequence[str]) -> bool:
    """Whether the program as written has the same loops around all of these statements."""
    depth = len(list(shared_loops(scop, names)))
    return all(scop.statement(name).depth == depth for name in names)


def _near(one: isl.Map, other: isl.Map, most: int) -> bool:
    """Whether two reads reach a common element in iterations that are at most so many apart in every loop."""
    apart = one.apply_range(other.reverse()).deltas()
    for k in range(apart.dim(isl.dim_type.set)):
        apart = apart.lower_bound_val(isl.dim_type.set, k, isl_value(-most))
        apart = apart.upper_bound_val(isl.dim_type.set, k, isl_value(most))
    return not apart.is_empty()


def _reads(search: Search, names: Names, band: Band, found: Found) -> list[isl.Map]:
    """The reads of elements by iteration, for the rows above and those of the band; parameters at one large size."""
    values = _iterations(search, names, band, found)
    return [at_large_size(part.wrap()).unwrap() for name in names
            for read in _reading(search, name) for part in _maps(isl.UnionMap.from_map(read).apply_domain(values))]


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    maps = union.get_map_list()
    return [maps.get_at(k) for k in range(maps.n_map())]


def _read(search: Search, names: Names, band: Band, found: Found) -> isl.UnionMap:
    """The elements of arrays that every iteration reads, by the rows above and those of the band."""
    read = isl.UnionMap.empty_ctx(isl.DEFAULT_CONTEXT)
    for name in names:
        for one in _reading(search, name):
            read = read.add_map(one)
    return read.apply_domain(_iterations(search, names, band, found))


def _reading(search: Search, name: str) -> list[isl.Map]:
    """The reads of arrays by the instances of a statement."""
    statement = search.problem.scop.statement(name)
    return [access.relation.intersect_domain(statement.domain) for access in statement.reads
            if not search.problem.scop.array(access.array).is_scalar]


def _iterations(search: Search, names: Names, band: Band, found: Found) -> isl.UnionMap:
    """The iteration of every instance, by the rows above and those of the band."""
    above = [{n: StatementRow(iterators=found[n][k], constant=0,
                              parameters=(0,) * len(next(iter(band.rows)).of[n].parameters)) for n in names}
             for k in range(min(len(found[n]) for n in names))]
    return isl.UnionMap.from_multi_union_pw_aff(
        band_values(search.problem, [*above, *({n: row.of[n] for n in names} for row in band.rows)]))
