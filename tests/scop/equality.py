"""Mathematical equality of two Scops up to the names of arrays and iterators: domains, accesses, order, arrays."""

from collections.abc import Mapping

import islpy as isl

from polysched.scop.scop import Access, Scop, Statement


def differences(left: Scop, right: Scop, names: Mapping[str, str] | None = None) -> list[str]:
    """What tells two Scops apart, for parameter values that both are for; empty when they are equal.

    Statements without an instance and arrays without an access do not count.

    Parameters
    ----------
    names : arrays of the right Scop that have another name in the left one.
    """
    names = names or {}
    context = left.context.intersect(right.context)
    first, second = alive(left, context), alive(right, context)
    if len(first) != len(second):
        return [f"{len(first)} and {len(second)} statements"]
    found = [] if not context.is_empty() else ["no parameter values are common"]
    for a, b in zip(first, second, strict=True):
        if not domain_of(a, context).is_equal(domain_of(b, context)):
            found.append(f"{a.name}: domains {a.domain} and {b.domain}")
        found += _access_differences(a, b, context, names)
    if not before(left, first, context).is_equal(before(right, second, context)):
        found.append("another order")
    return found + _array_differences(left, right, context, names)


def alive(scop: Scop, context: isl.Set) -> list[Statement]:
    """The statements that have an instance."""
    return [s for s in scop.statements if not s.domain.intersect_params(context).is_empty()]


def domain_of(statement: Statement, context: isl.Set) -> isl.Set:
    return statement.domain.intersect_params(context).set_tuple_name("S")


def _access_differences(left: Statement, right: Statement, context: isl.Set, names: Mapping[str, str]) -> list[str]:
    """Accesses that have no equal one of the same kind on the other side; repeats of one count once."""
    first = [(a, _relation(a, context, {})) for a in left.accesses]
    second = [(a, _relation(a, context, names)) for a in right.accesses]
    found = []
    for which, own, other in (("first", first, second), ("second", second, first)):
        found += [f"{left.name}: only the {which} has {a.kind.value} {r}" for a, r in own
                  if not r.is_empty() and not any(b.kind is a.kind and q.is_equal(r) for b, q in other)]
    return found


def _relation(access: Access, context: isl.Set, names: Mapping[str, str]) -> isl.Map:
    relation = access.relation.intersect_params(context).set_tuple_name(isl.dim_type.in_, "S")
    return relation.set_tuple_name(isl.dim_type.out, names.get(access.array, access.array))


def before(scop: Scop, statements: list[Statement], context: isl.Set) -> isl.UnionMap:
    """`{ x -> y : x runs before y }` of the order as written, the statements numbered."""
    times = scop.schedule.get_map().intersect_domain(scop.domain).intersect_params(context)
    numbered = isl.UnionMap("{ }")
    for position, statement in enumerate(statements):
        own = isl.Map.identity(statement.domain.get_space().map_from_set())
        numbered = numbered.union(isl.UnionMap.from_map(own.set_tuple_name(isl.dim_type.out, f"S{position}")))
    times = times.apply_domain(numbered)
    return times.lex_lt_union_map(times)


def _array_differences(left: Scop, right: Scop, context: isl.Set, names: Mapping[str, str]) -> list[str]:
    used = [{a.array for s in alive(scop, context) for a in s.accesses} for scop in (left, right)]
    arrays = {a.name: a for a in left.arrays if a.name in used[0]}
    others = {names.get(a.name, a.name): a for a in right.arrays if a.name in used[1]}
    found = [f"only one has the array {name}" for name in arrays.keys() ^ others.keys()]
    for name in arrays.keys() & others.keys():
        a, b = arrays[name], others[name]
        if a.dtype != b.dtype or len(a.extents) != len(b.extents):
            found.append(f"{name} is {a.dtype} of {len(a.extents)} and {b.dtype} of {len(b.extents)} dimensions")
            continue
        for x, y in zip(a.extents, b.extents, strict=True):
            if x is not None and y is not None and not context.is_subset(x.eq_set(y)):
                found.append(f"{name} has the extents {x} and {y}")
    return found
