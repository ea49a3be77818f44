"""Linearised subscripts `A[i * n + j]` as subscripts of a multi-dimensional array, where that is exact.

The strides are the products of parameters that multiply a loop counter; each must divide the next, and
the quotients are the extents.  Dividing every subscript by the strides, largest first, gives one
subscript per dimension.  The array may be seen so when each subscript but the first stays within its
extent: this is proved, or becomes an assumption on the parameters.

Source: Grosser, Ramanujam, Pouchet, Sadayappan, Pop, "Optimistic Delinearization of Parametrically
Sized Arrays", ICS 2015, sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import islpy as isl
from pycparser import c_ast

from polysched.scop.c_frontend import polyhedra
from polysched.scop.c_frontend.affine import affine
from polysched.scop.c_frontend.bindings import describe
from polysched.scop.c_frontend.c_types import Scalar
from polysched.scop.c_frontend.extraction import Extraction, NotAffine
from polysched.scop.c_frontend.order import OpenAccess, OpenStatement
from polysched.scop.c_frontend.polynomials import (
    Monomial,
    Polynomial,
    add,
    divide,
    from_affine,
    multiply,
    to_affine,
)
from polysched.scop.scop import Array


def subscript_polynomial(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Polynomial | None:
    """The value of a subscript as a polynomial in counters and parameters; None when it is none."""
    try:
        with x.attempt(strict=True):
            return from_affine(affine(x, node, domain).value)
    except NotAffine:
        pass
    if isinstance(node, c_ast.ID) and (value := x.derived.get(x.bindings.symbol(node))) is not None:
        return subscript_polynomial(x, value, domain)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
        left, right = subscript_polynomial(x, node.left, domain), subscript_polynomial(x, node.right, domain)
        if left is None or right is None:
            return None
        return multiply(left, right) if node.op == "*" else add(left, right, 1 if node.op == "+" else -1)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("-", "+"):
        inner = subscript_polynomial(x, node.expr, domain)
        return None if inner is None else add({}, inner, -1 if node.op == "-" else 1)
    if isinstance(node, c_ast.Cast):
        ctype = x.bindings.types.get(node.to_type)
        if isinstance(ctype, Scalar) and ctype.dtype.is_integer and ctype.dtype.bits == 64:
            return subscript_polynomial(x, node.expr, domain)
    return None


def delinearise(x: Extraction) -> None:
    """Give every array with linearised subscripts its dimensions, where all accesses agree; others stay as they are."""
    for key, array in list(x.arrays.items()):
        accesses = [(s, a) for s in x.open_statements for a in s.accesses if a.array == array.name]
        if len(array.extents) != 1 or all(a.exact or a.polynomial is None for _, a in accesses):
            continue
        counters = {name for s, _ in accesses for name, _ in s.iterators}
        strides = _strides([a.polynomial for _, a in accesses if a.polynomial is not None], counters)
        if strides is None:
            continue
        extents = [divide(large, small) for large, small in pairwise(strides)]
        if any(e is None or len(e) != 1 for e in extents):
            continue
        sizes = [e[0] for e in extents if e is not None]
        _reshape(x, key, array, accesses, strides, sizes)


def _strides(polynomials: list[Polynomial], counters: set[str]) -> list[Monomial] | None:
    """The products of parameters that multiply a counter, largest first, down to 1; None when they form no chain."""
    found: set[Monomial] = {()}
    for polynomial in polynomials:
        for monomial in polynomial:
            parameters = tuple(n for n in monomial if n not in counters)
            if len(monomial) - len(parameters) > 1:
                return None
            if len(monomial) > len(parameters) or len(parameters) > 1:
                found.add(parameters if len(monomial) > len(parameters) else ())
    chain = sorted(found, key=len, reverse=True)
    if any(divide(large, small) is None for large, small in pairwise(chain)):
        return None
    return chain if len(chain) > 1 else None


def _subscripts(polynomial: Polynomial, strides: list[Monomial]) -> list[isl.PwAff] | None:
    """One subscript per stride; None when a part is not affine."""
    parts: list[Polynomial] = [{} for _ in strides]
    for monomial, coefficient in polynomial.items():
        for at, stride in enumerate(strides):
            quotient = divide(monomial, stride)
            if quotient is not None:
                if len(quotient) > 1:
                    return None
                parts[at] = add(parts[at], {quotient: coefficient})
                break
    return [to_affine(p) for p in parts]


def _reshape(x: Extraction, key: tuple[object, ...], array: Array, accesses: list[tuple[OpenStatement, OpenAccess]],
             strides: list[Monomial], sizes: list[str]) -> None:
    extents: list[isl.PwAff | None] = [None, *(polyhedra.symbol(s) for s in sizes)]
    new: dict[str, OpenAccess] = {}
    try:
        with x.attempt():
            for statement, access in accesses:
                subscripts = None if access.polynomial is None else _subscripts(access.polynomial, strides)
                if subscripts is not None:
                    _stay_inside(x, statement, access, subscripts, sizes)
                relation = polyhedra.relation(
                    access.domain, subscripts if subscripts is not None else [None] * len(extents), extents)
                new[access.reference] = replace(access, relation=relation, exact=subscripts is not None)
    except NotAffine:
        return
    spelling = {p.name: p.spelling for p in x.parameters.values()}
    x.arrays[key] = replace(array, extents=tuple(extents), c_extents=(None, *(spelling[s] for s in sizes)))
    x.open_statements = [
        replace(s, accesses=tuple(new.get(a.reference, a) for a in s.accesses)) for s in x.open_statements]


def _stay_inside(x: Extraction, statement: OpenStatement, access: OpenAccess, subscripts: list[isl.PwAff],
                 sizes: list[str]) -> None:
    """Every subscript but the first is in its extent: proved, or assumed when parameters of any size can fulfil it.

    Raises
    ------
    NotAffine : it would hold for small parameters only, so the array has another shape.
    """
    good = polyhedra.universe()
    for subscript, size in zip(subscripts[1:], sizes, strict=True):
        below = subscript.lt_set(polyhedra.symbol(size))
        good = good.intersect(subscript.ge_set(polyhedra.constant(0))).intersect(below)
    bad = access.domain.intersect(x.context).subtract(good)
    if bad.is_empty():
        return
    shadow = polyhedra.project_out(bad, [name for name, _ in statement.iterators])
    allowed = x.context.subtract(shadow)
    kept = polyhedra.project_out(access.domain, [name for name, _ in statement.iterators]).intersect(allowed)
    if not all(_unbounded(kept, p.name, p.dtype.value_range()[1]) for p in x.parameters.values()):
        raise NotAffine(access.node, "the subscript leaves its row")
    x.require(access.domain, good, kind="in-bounds", node=access.node, iterators=[n for n, _ in statement.iterators],
              text=f"`{describe(access.node)}` stays inside rows of {', '.join(sizes)} elements")


def _unbounded(parameters: isl.Set, name: str, high: int) -> bool:
    """Whether a parameter can take the largest value of its type."""
    return not parameters.intersect(polyhedra.symbol(name).eq_set(polyhedra.constant(high))).is_empty()
