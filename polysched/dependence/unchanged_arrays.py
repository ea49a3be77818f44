"""Arrays with the same accesses in the same order in two programs: their dependences are the same, too."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polysched.dependence.access_order import access_stages
from polysched.scop.scop import Access, Scop, Statement

Uses = Sequence[tuple[Statement, Access]]


def unchanged_arrays(before: Scop, after: Scop) -> frozenset[str]:
    """The arrays of which a rewrite has changed no access, no instance and no order among these.

    Recognised by their form: sets that are equal but written in another way count as changed.
    """
    if not before.context.plain_is_equal(after.context):
        return frozenset()
    old, new = uses_of_arrays(before), uses_of_arrays(after)
    same = {array for array, uses in new.items() if _are_same(old.get(array, ()), uses)}
    if before.schedule.plain_is_equal(after.schedule):
        return frozenset(same)
    return frozenset(array for array in same
                     if _order(before, old[array]).plain_is_equal(_order(after, new[array])))


def uses_of_arrays(scop: Scop) -> dict[str, list[tuple[Statement, Access]]]:
    """The accesses to each array that is used, in textual order, with their statements."""
    uses: dict[str, list[tuple[Statement, Access]]] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            uses.setdefault(access.array, []).append((statement, access))
    return uses


def _are_same(old: Uses, new: Uses) -> bool:
    return len(old) == len(new) and all(_is_same(*pair) for pair in zip(old, new, strict=True))


def _is_same(old: tuple[Statement, Access], new: tuple[Statement, Access]) -> bool:
    (statement, access), (other, following) = old, new
    if statement is other and access is following:
        return True
    return (statement.name == other.name and access.reference == following.reference
            and access.kind is following.kind and access.exact == following.exact
            and statement.domain.plain_is_equal(other.domain)
            and access.relation.plain_is_equal(following.relation)
            and access_stages(statement)[access.reference] == access_stages(other)[access.reference])


def _order(scop: Scop, uses: Uses) -> isl.Schedule:
    """The order as written of the instances that use an array."""
    instances = isl.UnionSet.empty_ctx(isl.DEFAULT_CONTEXT)
    for statement in dict.fromkeys(statement for statement, _ in uses):
        instances = instances.union(isl.UnionSet.from_set(statement.domain))
    return scop.schedule.intersect_domain(instances)
