"""Sets and expressions from affine values: ranges of loops, elements of arrays, extents."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import islpy as isl

from polysched.scop.body import Binary, Expr, ParameterRef, Unary
from polysched.scop.construction.values import Value, integer_literal
from polysched.scop.dtypes import INT64
from polysched.scop.points import isl_value
from polysched.scop.scop import Array


def affine_of(value: Value) -> isl.PwAff:
    """The affine form of a value that has one."""
    if value.affine is None:
        raise ValueError("the value is not affine")
    return value.affine


def range_set(value: Value, start: Value, stop: Value, step: int) -> isl.Set:
    """Where `value` is one of `range(start, stop, step)`."""
    it, first, last = affine_of(value), affine_of(start), affine_of(stop)
    if step > 0:
        result = it.ge_set(first).intersect(it.lt_set(last))
    else:
        result = it.le_set(first).intersect(it.gt_set(last))
    if abs(step) > 1:
        result = result.intersect(it.sub(first).mod_val(isl_value(abs(step))).eq_set(isl.PwAff("{ [(0)] }")))
    return result


def element_set(array: str, subscripts: Sequence[isl.PwAff | None]) -> isl.Set:
    """`{ A[x, y] : x = f, y = g }` for subscripts over parameters and iterators; None may be any number."""
    names = ", ".join(f"x{d}" for d in range(len(subscripts)))
    result = isl.Set(f"{{ {array}[{names}] }}")
    space = result.get_space()
    for d, subscript in enumerate(subscripts):
        if subscript is None:
            continue
        dimension = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, d)
        result = result.intersect(dimension.eq_set(subscript.insert_domain(space)))
    return result


def extent_box(array: Array, dimensions: Collection[int] | None = None) -> isl.Set:
    """The elements that an array has; as far as some dimensions alone say, where these are given."""
    chosen = range(len(array.extents)) if dimensions is None else dimensions
    names = [f"x{d}" for d in range(len(array.extents))]
    result = isl.Set(f"{{ {array.name}[{', '.join(names)}] : "
                     f"{' and '.join(f'{names[d]} >= 0' for d in chosen) or 'true'} }}")
    space = result.get_space()
    for d, extent in enumerate(array.extents):
        if extent is not None and d in chosen:
            dimension = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, d)
            result = result.intersect(dimension.lt_set(extent.insert_domain(space)))
    return result


def linear_expression(affine: isl.PwAff, references: dict[str, Expr]) -> Expr | None:
    """A single-piece affine function without quotients as an expression; None for another.

    Positive terms come first, so that `n - i` is not `-i + n`.
    """
    pieces: list[isl.Aff] = [aff for _, aff in affine.get_pieces()]
    if len(pieces) != 1 or pieces[0].dim(isl.dim_type.div) or not pieces[0].get_denominator_val().is_one():
        return None
    aff = pieces[0]
    terms = [(int(aff.get_coefficient_val(isl.dim_type.param, p).to_python()), references[name])
             for p in range(aff.dim(isl.dim_type.param))
             if not aff.get_coefficient_val(isl.dim_type.param, p).is_zero()
             for name in [str(aff.get_dim_name(isl.dim_type.param, p))]]
    terms.sort(key=lambda term: (term[0] < 0, isinstance(term[1], ParameterRef)))
    constant = int(aff.get_constant_val().to_python())
    result: Expr | None = None
    for coefficient, reference in terms:
        scaled = reference if abs(coefficient) == 1 else Binary(
            "*", integer_literal(abs(coefficient), INT64), reference, INT64)
        if result is None:
            result = scaled if coefficient > 0 else Unary("-", scaled, INT64)
        else:
            result = Binary("+" if coefficient > 0 else "-", result, scaled, INT64)
    if result is None:
        return integer_literal(constant, INT64)
    if constant == 0:
        return result
    return Binary("+" if constant > 0 else "-", result, integer_literal(abs(constant), INT64), INT64)


def largest_extent(value: isl.PwAff, domain: isl.Set, symbols: Sequence[str]) -> isl.PwAff:
    """The largest value that an extent over iterators takes, as a function of the parameters; 0 where there is none."""
    values = isl.Set.from_pw_aff(value).intersect_params(domain)
    for symbol in symbols:
        position = values.find_dim_by_name(isl.dim_type.param, symbol)
        if position >= 0:
            values = values.project_out(isl.dim_type.param, position, 1)
    zero = isl.PwAff("{ [(0)] }")
    return values.dim_max(0).max(zero).union_max(zero).coalesce()
