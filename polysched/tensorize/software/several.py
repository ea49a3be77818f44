"""A statement of several assignments as what it writes at once, in terms of the values before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.scop.body import Assign, Expr, Load, rebuild, walk
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.software.fragment import (
    Assigned,
    Fragment,
    known_domain,
    loops_of_domain,
    new_value,
    one_name_per_element,
    same_element,
    statement_fragment,
)


def fragment_of_several(scop: Scop, statement: Statement, sizes: Mapping[str, int]) -> Fragment | None:
    """A statement of several assignments, one after the other, as what it writes at once.

    Arrays of its own that no other statement accesses are none of its results.  None where it is no such statement, an
    assignment reads an element that may or may not have been written just before, or results lie in other patterns.
    """
    if len(statement.body) < 2 or not all(isinstance(b, Assign) for b in statement.body):
        return None
    domain, values = known_domain(scop, statement, sizes), _values_behind(statement)
    if domain is None or values is None:
        return None
    own = own_arrays(scop, statement)
    shown = [t for t in values if statement.access(t).array not in own]
    if not _one_pattern([fix_parameters(statement.access(t).relation, sizes).intersect_domain(domain) for t in shown]):
        return None
    results = [Assigned(t, one_name_per_element(values[t], statement, *map(statement.access, shown))) for t in shown]
    loops = loops_of_domain(statement, domain)
    return Fragment(scop=scop, statement=statement, sizes=sizes, domain=domain, loops=loops,
                    target=results[0].target, update=results[0].update, others=tuple(results[1:]))


def at_sizes(fragment: Fragment, sizes: Mapping[str, int], *, tables: bool) -> Fragment | None:
    """The statement of a fragment at other sizes; None where it is none there.

    Parameters
    ----------
    tables : as of `statement_fragment`.
    """
    if fragment.others:
        return fragment_of_several(fragment.scop, fragment.statement, sizes)
    return statement_fragment(fragment.scop, fragment.statement, sizes, tables=tables)


def own_arrays(scop: Scop, statement: Statement) -> set[str]:
    """The temporaries that no other statement accesses."""
    used = {x.array for s in scop.statements if s.name != statement.name for x in s.accesses}
    return {a.name for a in scop.arrays if a.is_temporary and a.name not in used}


def _one_pattern(relations: Sequence[isl.Map]) -> bool:
    """Whether the same pairs of iterations meet in one element, for all relations; there is one at least."""
    pairs = [r.apply_range(r.reverse()) for r in relations]
    return bool(pairs) and all(p.is_equal(pairs[0]) for p in pairs)


def _values_behind(statement: Statement) -> dict[str, Expr] | None:
    """What a statement's assignments leave, by the access that wrote last; None as for `_behind`."""
    values: dict[str, Expr] = {}
    for assign in statement.body:
        assert isinstance(assign, Assign)
        value = _behind(new_value(assign, statement), statement, values)
        if value is None:
            return None
        again = same_element(statement, statement.access(assign.target))
        values = {t: v for t, v in values.items() if t not in again} | {assign.target: value}
    return values


def _behind(value: Expr, statement: Statement, values: Mapping[str, Expr]) -> Expr | None:
    """A value in terms of those before the statement; None where it may read what was written in another spelling."""
    written = {r: t for t in values for r in same_element(statement, statement.access(t))}
    for e in walk(value):
        if isinstance(e, Load) and e.reference not in written:
            mine = statement.access(e.reference)
            if any(mine.array == (other := statement.access(t)).array and not mine.relation.intersect(
                    other.relation).is_empty() for t in values):
                return None
    return rebuild(value, lambda e: values[written[e.reference]] if isinstance(e, Load) and e.reference in written
                   else e)
