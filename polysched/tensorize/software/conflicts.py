"""Every earlier access that conflicts with a later one: memory-based dependences, asked statement by statement.

Whether one instance runs ahead of another is the same for all their accesses, so the order of two statements is
computed once, and only for those that touch one array.  That is a fraction of what data-flow analysis takes, which
looks for the last source of every sink.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.reductions import mark_reductions
from polysched.scop.scop import Access, Scop, Statement

KINDS = {(True, False): DependenceKind.FLOW, (False, True): DependenceKind.ANTI, (True, True): DependenceKind.OUTPUT}


def conflicts(scop: Scop, *, of: Collection[str] | None = None) -> Dependences:
    """The memory-based dependences of a program, as `analyse(scop, value_based=False)` has them.

    Parameters
    ----------
    of : only those from or to these statements; None for all.
    """
    maps = scop.schedule.get_map().get_map_list()
    times = {m.get_tuple_name(isl.dim_type.in_): m for m in map(maps.get_at, range(maps.n_map()))}
    found: list[Dependence] = []
    for source in scop.statements:
        for sink in scop.statements:
            touching = list(_touching(scop, source, sink)) if of is None or {source.name, sink.name} & {*of} else []
            if touching:
                ahead = times[source.name].lex_lt_map(times[sink.name])
                found += (_dependence(source, a, sink, b, ordered) for a, b, relation in touching
                          if not (ordered := relation.intersect(ahead)).is_empty())
    return mark_reductions(Dependences(scop=scop, pairs=tuple(found), value_based=False))


def _touching(scop: Scop, source: Statement, sink: Statement) -> Iterator[tuple[Access, Access, isl.Map]]:
    """Accesses of two statements, one of them a write, and the pairs of instances in which they meet."""
    for a in source.accesses:
        for b in sink.accesses:
            if a.array == b.array and (a.is_write or b.is_write):
                yield a, b, a.relation.intersect_params(scop.context).apply_range(b.relation.reverse())


def _dependence(source: Statement, a: Access, sink: Statement, b: Access, relation: isl.Map) -> Dependence:
    return Dependence(kind=KINDS[a.is_write, b.is_write], array=a.array, source=source.name, sink=sink.name,
                      source_reference=a.reference, sink_reference=b.reference, relation=relation)
