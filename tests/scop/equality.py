"""Mathematical equality of two Scops up to the names of arrays and iterators: domains, accesses, order, arrays."""

from collections.abc import Mapping

import islpy as isl

from polysched.scop.scop import Access, Scop


def differences(left: Scop, right: Scop, names: Mapping[str, str] | None = None) -> list[str]:
    """What tells two Scops apart, for parameter values that both are for; empty when they are equal.

    Parameters
    ----------
    names : arrays of the right Scop that have another name in the left one.
    """
    names = names or {}
    context = left.context.intersect(right.context)
    if len(left.statements) != len(right.statements):
        return [f"{len(left.statements)} and {len(right.statements)} statements"]
    found = [] if not context.is_empty() else ["no parameter values are common"]
    for a, b in zip(left.statements, right.statements, strict=True):
        if not restricted(a.domain, context).is_equal(restricted(b.domain, context)):
            found.append(f"{a.name}: domains {a.domain} and {b.domain}")
        found += _access_differences(a.name, a.accesses, b.accesses, context, names)
    if not before(left, context).is_equal(before(right, context)):
        found.append("another order")
    return found + _array_differences(left, right, context, names)


def restricted(item: isl.Set, context: isl.Set) -> isl.Set:
    return item.intersect_params(context)


def _access_differences(name: str, left: tuple[Access, ...], right: tuple[Access, ...], context: isl.Set,
                        names: Mapping[str, str]) -> list[str]:
    """Accesses that have no equal one of the same kind on the other side; repeats of one count once."""
    first = [(a, _relation(a, context, {})) for a in left]
    second = [(a, _relation(a, context, names)) for a in right]
    found = []
    for which, own, other in (("first", first, second), ("second", second, first)):
        found += [f"{name}: only the {which} has {a.kind.value} {r}" for a, r in own
                  if not any(b.kind is a.kind and q.is_equal(r) for b, q in other)]
    return found


def _relation(access: Access, context: isl.Set, names: Mapping[str, str]) -> isl.Map:
    relation = access.relation.intersect_params(context)
    return relation.set_tuple_name(isl.dim_type.out, names.get(access.array, access.array))


def before(scop: Scop, context: isl.Set) -> isl.UnionMap:
    """`{ x -> y : x runs before y }` of the order as written."""
    times = scop.schedule.get_map().intersect_domain(scop.domain).intersect_params(context)
    return times.lex_lt_union_map(times)


def _array_differences(left: Scop, right: Scop, context: isl.Set, names: Mapping[str, str]) -> list[str]:
    arrays = {a.name: a for a in left.arrays}
    others = {names.get(a.name, a.name): a for a in right.arrays}
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
