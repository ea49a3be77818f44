"""Arrays that a program writes in one dimension get the dimensions that extraction found.

Rewrite:  C[i * m + j]  ->  C[i][j], which C spells C[(long)(i) * (m) + j]

Vectors ask how an element moves with a loop, which products of loops and parameters do not tell.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.scop.body import Binary, Expr, IteratorRef, ParameterRef
from polysched.scop.construction.values import integer_literal
from polysched.scop.dtypes import INT64
from polysched.scop.scop import Access, Array, Scop, Statement


def with_row_subscripts(scop: Scop) -> Scop:
    """The program with subscripts per dimension, for all arrays of which every access is known to have them."""
    found: dict[str, tuple[Expr, ...]] = {}
    arrays = {a.name: element for a in scop.arrays if (element := _element(a)) is not None}
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array in arrays:
                subscripts = _subscripts(statement, access)
                if subscripts is None:
                    del arrays[access.array]
                else:
                    found[access.reference] = subscripts
    if not arrays:
        return scop
    statements = tuple(replace(s, accesses=tuple(
        replace(a, subscripts=found[a.reference]) if a.array in arrays else a for a in s.accesses))
        for s in scop.statements)
    return replace(scop, statements=statements, arrays=tuple(
        replace(a, c_element=arrays[a.name]) if a.name in arrays else a for a in scop.arrays))


def _element(array: Array) -> str | None:
    """How C spells an element by one subscript per dimension; None where a program has them already."""
    rank = len(array.extents)
    if rank < 2 or array.c_element.count("{}") != 1 or len(array.c_extents) != rank or None in array.c_extents[1:]:
        return None
    text = "(long)({})"
    for extent in array.c_extents[1:-1]:
        text = f"({text} * ({extent}) + {{}})"
    return array.c_element.replace("{}", f"{text} * ({array.c_extents[-1]}) + {{}}")


def _subscripts(statement: Statement, access: Access) -> tuple[Expr, ...] | None:
    if not access.exact:
        return None
    function = isl.PwMultiAff.from_map(access.relation)
    found = [_expression(function.get_at(k), statement) for k in range(function.dim(isl.dim_type.out))]
    return None if None in found else tuple(e for e in found if e is not None)


def _expression(function: isl.PwAff, statement: Statement) -> Expr | None:
    """An affine function of iterators and parameters without quotients; None for another."""
    pieces: list[isl.Aff] = [aff for _, aff in function.get_pieces()]
    if len(pieces) != 1 or pieces[0].dim(isl.dim_type.div) or not pieces[0].get_denominator_val().is_one():
        return None
    aff = pieces[0]
    total: Expr = integer_literal(int(aff.get_constant_val().to_python()), INT64)
    iterators: list[Expr] = [IteratorRef(name, INT64) for name in statement.iterators]
    parameters: list[Expr] = [ParameterRef(str(aff.get_dim_name(isl.dim_type.param, k)), INT64)
                              for k in range(aff.dim(isl.dim_type.param))]
    for kind, values in ((isl.dim_type.in_, iterators), (isl.dim_type.param, parameters)):
        for k, value in enumerate(values):
            factor = int(aff.get_coefficient_val(kind, k).to_python())
            if factor:
                total = Binary("+", total, Binary("*", integer_literal(factor, INT64), value, INT64), INT64)
    return total
