"""Small sets and affine functions over named symbols.

While a region is read, loop iterators and parameters are both isl parameters, told apart by name: an
affine value stays valid under every deeper loop, and isl aligns parameters by itself.  Everything
lives over the unit set `{ [] }`.  `to_set` and `to_map` move the iterators into the tuple at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polysched.scop.plain_c import expression_in_c
from polysched.scop.points import isl_value
from polysched.scop.scop import Parameter

CONTEXT = isl.DEFAULT_CONTEXT
UNIT = isl.Space.set_alloc(CONTEXT, 0, 0)
PARAM, SET, IN, OUT = isl.dim_type.param, isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


def universe() -> isl.Set:
    return isl.Set.universe(UNIT)


def constant(value: int) -> isl.PwAff:
    """The constant function."""
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(UNIT))
    return isl.PwAff.from_aff(zero.set_constant_val(isl_value(value)))


def symbol(name: str) -> isl.PwAff:
    """The value of a parameter or iterator."""
    space = isl.Space.set_alloc(CONTEXT, 1, 0).set_dim_name(PARAM, 0, name)
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), PARAM, 0))


def constant_value(value: isl.PwAff) -> int | None:
    """The number that a function always gives; None when it varies."""
    pieces = value.get_pieces()
    if len(pieces) != 1 or not pieces[0][1].is_cst():
        return None
    number = pieces[0][1].get_constant_val()
    return int(number.to_python()) if number.is_int() else None


def between(value: isl.PwAff, low: int, high: int) -> isl.Set:
    """Where a value is in a range, both ends included."""
    return value.ge_set(constant(low)).intersect(value.le_set(constant(high)))


def select(condition: isl.Set, then: isl.PwAff, otherwise: isl.PwAff) -> isl.PwAff:
    """`condition ? then : otherwise`."""
    return then.intersect_domain(condition).union_add(otherwise.intersect_domain(condition.complement()))


def indicator(condition: isl.Set) -> isl.PwAff:
    """1 where the condition holds, else 0."""
    return select(condition, constant(1), constant(0))


def position(thing: isl.Set | isl.Map, name: str) -> int:
    """The position of a symbol among the parameters; -1 when it does not occur."""
    return int(thing.find_dim_by_name(PARAM, name))


def project_out(domain: isl.Set, names: Sequence[str]) -> isl.Set:
    """The shadow of a set on the symbols that remain."""
    for name in names:
        at = position(domain, name)
        if at >= 0:
            domain = domain.project_out(PARAM, at, 1)
    return domain


def to_set(domain: isl.Set, iterators: Sequence[tuple[str, str]], tuple_name: str) -> isl.Set:
    """Move the iterators, given as (symbol, name to show), into the tuple."""
    for at, (name, shown) in enumerate(iterators):
        found = position(domain, name)
        if found < 0:
            domain = domain.insert_dims(SET, at, 1)
        else:
            domain = domain.move_dims(SET, at, PARAM, found, 1)
        domain = domain.set_dim_name(SET, at, shown)
    return domain.set_tuple_name(tuple_name)


def to_map(relation: isl.Map, iterators: Sequence[tuple[str, str]], domain_name: str, range_name: str) -> isl.Map:
    """Move the iterators of `{ [] -> [x] }` into the input tuple."""
    for at, (name, shown) in enumerate(iterators):
        found = position(relation, name)
        if found < 0:
            relation = relation.insert_dims(IN, at, 1)
        else:
            relation = relation.move_dims(IN, at, PARAM, found, 1)
        relation = relation.set_dim_name(IN, at, shown)
    return relation.set_tuple_name(IN, domain_name).set_tuple_name(OUT, range_name)


def relation(domain: isl.Set, subscripts: Sequence[isl.PwAff | None],
             extents: Sequence[isl.PwAff | None]) -> isl.Map:
    """`{ [] -> [x...] }` on a domain; a subscript that is None reaches everything within its extent."""
    result = isl.Map.from_domain(domain)
    for subscript, extent in zip(subscripts, extents, strict=True):
        if subscript is not None:
            part = isl.Map.from_pw_aff(subscript)
        else:
            part = isl.Map.universe(isl.Space.alloc(CONTEXT, 0, 0, 1))
            if extent is not None:
                limit = isl.Map.from_pw_aff(extent)
                below = isl.Map.lex_lt(isl.Space.set_alloc(CONTEXT, 0, 1)).reverse()
                part = limit.apply_range(below).lower_bound_val(OUT, 0, isl_value(0))
        result = result.flat_range_product(part)
    return result


def run_of(domain: isl.Set, firsts: Sequence[isl.PwAff | None], counts: Sequence[isl.PwAff | None],
           extents: Sequence[isl.PwAff | None]) -> isl.Map:
    """`{ [] -> [x...] }` with the elements of a run, in the last dimensions of as many as there are counts.

    Where a first subscript or a count is not known, everything within its extent is reached.
    """
    outer = len(firsts) - len(counts)
    known = [first if at < outer or counts[at - outer] is not None else None for at, first in enumerate(firsts)]
    single = [known[at] if at < outer else None for at in range(len(firsts))]
    result = relation(domain, single, [e if k is None else None for e, k in zip(extents, known, strict=True)])
    for at in range(outer, len(firsts)):
        first, count = known[at], counts[at - outer]
        if first is not None and count is not None:
            begin, end = isl.Map.from_pw_aff(first), isl.Map.from_pw_aff(first.add(count))
            space = isl.Space.set_alloc(CONTEXT, 0, 1)
            reached = begin.apply_range(isl.Map.lex_le(space)).intersect(end.apply_range(isl.Map.lex_gt(space)))
            before = isl.Map.universe(isl.Space.alloc(CONTEXT, 0, 0, at))
            behind = isl.Map.universe(isl.Space.alloc(CONTEXT, 0, 0, len(firsts) - at - 1))
            result = result.intersect(before.flat_range_product(reached).flat_range_product(behind))
    return result


def later_than(domain: isl.Set, iterator: str, *, forward: bool) -> isl.Set:
    """The points that come after some point of the domain when the iterator runs forward (or backward)."""
    at = position(domain, iterator)
    points = domain.move_dims(SET, 0, PARAM, at, 1) if at >= 0 else domain.insert_dims(SET, 0, 1)
    space = isl.Space.set_alloc(CONTEXT, 0, 1)
    order = isl.Map.lex_lt(space) if forward else isl.Map.lex_gt(space)
    later = points.apply(order)
    count = later.dim(PARAM)
    later = later.move_dims(PARAM, count, SET, 0, 1)
    return later.set_dim_name(PARAM, count, iterator)


def last_value(domain: isl.Set, iterator: str, *, forward: bool) -> isl.PwAff:
    """The last value of an iterator for each value of the other symbols; defined where there is one."""
    points = isl.Map.from_range(domain.move_dims(SET, 0, PARAM, position(domain, iterator), 1))
    last = points.lexmax_pw_multi_aff() if forward else points.lexmin_pw_multi_aff()
    return last.get_pw_aff(0)


def widened(parameter: Parameter) -> str:
    """How C spells a parameter in a type in which sums and products of it do not wrap."""
    return f"({'__int128' if parameter.dtype.bits > 32 else 'long'}){parameter.spelling}"


def c_condition(parameters: isl.Set, spelling: dict[str, str]) -> str:
    """The C expression that is true exactly for these parameter values."""
    values = parameters.params()
    for at in range(values.dim(PARAM)):
        name = values.get_dim_name(PARAM, at) or ""
        values = values.set_dim_name(PARAM, at, spelling.get(name, name))
    build = isl.AstBuild.from_context(isl.Set.universe(values.get_space()))
    return expression_in_c(build.expr_from_set(values))
