"""Which statements a schedule moves in comparison with another one."""

from __future__ import annotations

import islpy as isl

from polysched.scop.scop import Scop


def moved_statements(scop: Scop, before: isl.Schedule, after: isl.Schedule) -> tuple[str, ...]:
    """The statements with an instance that one tree runs before another instance and the other tree does not.

    Exact: the pairs that each tree orders are compared as sets.  Both statements of such a pair have moved in
    relation to each other, so both are named.  A loop that is only marked parallel moves nothing.

    Returns
    -------
    names : in textual order.
    """
    first, second = _ordered(before, scop.domain), _ordered(after, scop.domain)
    changed = first.subtract(second).union(second.subtract(first)).intersect_params(scop.context)
    names: set[str] = set()
    changed.foreach_map(lambda pair: names.update(
        (pair.get_tuple_name(isl.dim_type.in_), pair.get_tuple_name(isl.dim_type.out))))
    return tuple(s.name for s in scop.statements if s.name in names)


def _ordered(tree: isl.Schedule, domain: isl.UnionSet) -> isl.UnionMap:
    """`{ x -> y }`: x runs before y."""
    times = tree.get_map().intersect_domain(domain)
    return times.lex_lt_union_map(times)
