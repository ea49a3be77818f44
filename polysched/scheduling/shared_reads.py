"""Sums below fused rows that read the same elements in the same iteration share one loop.

Rewrite:  { for k: s += A[i][k];  for k: t += A[i][k] * v[k] }   ->   for k { s += A[i][k];  t += A[i][k] * v[k] }

A sum in the order of the source waits for itself, so two of them in one loop cost what one of them costs, and what both
read is read once.  Nothing is lost where neither runs in lanes: loops that carry nothing stay apart.
"""

from __future__ import annotations

import islpy as isl

from polysched.scheduling.problem import band_values
from polysched.scheduling.rows import StatementRow
from polysched.scheduling.search import Band, Found, Names, Search


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


def _read(search: Search, names: Names, band: Band, found: Found) -> isl.UnionMap:
    """The elements of arrays that every iteration reads, by the rows above and those of the band."""
    above = [{n: StatementRow(iterators=found[n][k], constant=0,
                              parameters=(0,) * len(next(iter(band.rows)).of[n].parameters)) for n in names}
             for k in range(min(len(found[n]) for n in names))]
    values = isl.UnionMap.from_multi_union_pw_aff(
        band_values(search.problem, [*above, *({n: row.of[n] for n in names} for row in band.rows)]))
    read = isl.UnionMap.empty_ctx(isl.DEFAULT_CONTEXT)
    for name in names:
        statement = search.problem.scop.statement(name)
        for access in statement.reads:
            if not search.problem.scop.array(access.array).is_scalar:
                read = read.add_map(access.relation.intersect_domain(statement.domain))
    return read.apply_domain(values)
