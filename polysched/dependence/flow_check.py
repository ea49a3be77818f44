"""A second witness for isl's data-flow analysis, by compositions alone.

A source reaches a later sink of the same element unless a certain write in between hides it.  So the answer is what
touches one element in this order, without what is hidden; no parametric programming is asked.  That costs more than
isl's analysis and gives less simple relations, so it only checks and mends.

isl (of islpy 2026.2.2) loses pairs where a domain is a union whose parts differ in their strides: of tiles of 16 up to
48 and a shorter one at 64, the first element of the last tile read what the first tile wrote.
"""

from __future__ import annotations

import islpy as isl


def is_risky(*relations: isl.UnionMap) -> bool:
    """Whether some access is a union of several parts, for which isl's answer is checked."""
    found: list[bool] = []
    for relation in relations:
        relation.foreach_map(lambda each: found.append(each.n_basic_map() > 1))
    return any(found)


def mended(schedule: isl.Schedule, *, sink: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap,
           answer: isl.UnionMap) -> isl.UnionMap:
    """The answer where it is right, else the pairs that it should have had.

    Parameters
    ----------
    sink, must, may : tagged access relations, those of certain writes apart.
    answer : pairs of a source and a sink that it reaches, tagged.
    """
    times = schedule.get_map()
    order = times.lex_lt_union_map(times)
    sources = must.union(may)
    earlier = sources.apply_range(sink.reverse()).intersect(order)
    overwritten = sources.apply_range(must.reverse()).intersect(order)
    hidden = overwritten.apply_range(must.apply_range(sink.reverse()).intersect(order))
    right = answer.is_subset(earlier) and answer.is_disjoint(hidden) and earlier.subtract(answer).is_subset(hidden)
    return answer if right else earlier.subtract(hidden).coalesce()
