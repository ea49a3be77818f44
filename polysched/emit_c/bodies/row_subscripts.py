"""Arrays that a program writes in one dimension get the dimensions that extraction found.

Rewrite:  C[i * m + j]  ->  C[i][j], which C spells C[(long)(i) * (m) + j]

Vectors ask how an element moves with a loop, which products of loops and parameters do not tell.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.scop.body import Expr, IteratorRef, ParameterRef
from polysched.scop.construction.affine_sets import linear_expression
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
    """The element by its dimensions; None where it is no affine function of iterators and parameters."""
    if not access.exact:
        return None
    relation, first = access.relation, access.relation.dim(isl.dim_type.param)
    relation = relation.move_dims(isl.dim_type.param, first, isl.dim_type.in_, 0, statement.depth)
    parameters = [str(relation.get_dim_name(isl.dim_type.param, k)) for k in range(first)]
    names: dict[str, Expr] = {name: ParameterRef(name, INT64) for name in parameters}
    for k, iterator in enumerate(statement.iterators):
        relation = relation.set_dim_name(isl.dim_type.param, first + k, iterator)
        names[iterator] = IteratorRef(iterator, INT64)
    element = isl.PwMultiAff.from_set(relation.range())
    found = [linear_expression(element.get_at(k), names) for k in range(element.dim(isl.dim_type.out))]
    return None if None in found else tuple(e for e in found if e is not None)
