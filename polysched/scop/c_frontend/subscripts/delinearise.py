"""Linearised subscripts `A[i * n + j]` as subscripts of a multi-dimensional array, where that is exact.

The strides are the products of parameters that multiply a loop counter; each must divide the next, and
the quotients are the extents.  Dividing every subscript by the strides, largest first, gives one
subscript per dimension.  The array may be seen so when each subscript but the first stays within its
extent: this is proved, or becomes an assumption on the parameters.

Rows of `n + 2` elements, `A[i * (n + 2) + j]`, have `i * n + 2 * i + j` for a subscript.  With `n + 2` as the symbol,
`(n + 2) - 2` for `n`, it is like that of rows of `n` elements.  Which number to add is tried out: the quotients of
coefficients are the candidates, and rows of which least has to be assumed are the ones.

Source: Grosser, Ramanujam, Pouchet, Sadayappan, Pop, "Optimistic Delinearization of Parametrically
Sized Arrays", ICS 2015, sections 3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, pairwise, product
from typing import TypeAlias

import islpy as isl
from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import describe
from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.extraction import Extraction, NotAffine
from polysched.scop.c_frontend.order import OpenAccess, OpenStatement
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.affine import affine
from polysched.scop.c_frontend.subscripts.polynomials import (
    Monomial,
    Polynomial,
    add,
    divide,
    from_affine,
    multiply,
    shifted,
    to_affine,
)
from polysched.scop.limits import LIMITS
from polysched.scop.scop import INSIDE_ROWS, STEP_ROWS, Array, Assumption

Offsets: TypeAlias = Mapping[str, int]     # what rows have beyond a parameter, by its name

MOST_SHAPES = LIMITS.row_sizes_tried


@dataclass(frozen=True, eq=False, kw_only=True)
class _Shape:
    """An array in its dimensions, with what has to be assumed for it."""

    array: Array
    accesses: Mapping[str, OpenAccess]
    context: isl.Set
    assumptions: list[Assumption]


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
        shape = _least_assumed(x, array, accesses, counters)
        if shape is None:
            continue
        x.arrays[key], x.context, x.assumptions = shape.array, shape.context, shape.assumptions
        x.open_statements = [replace(s, accesses=tuple(shape.accesses.get(a.reference, a) for a in s.accesses))
                             for s in x.open_statements]


def _least_assumed(x: Extraction, array: Array, accesses: list[tuple[OpenStatement, OpenAccess]],
                   counters: set[str]) -> _Shape | None:
    """The array in rows that are a parameter long where that is proved, else those that assume least; None for none."""
    best: _Shape | None = None
    for offsets in _candidates([a.polynomial for _, a in accesses if a.polynomial is not None], counters):
        shape = _shape(x, array, accesses, offsets, counters)
        if shape is not None and (best is None or best.context.is_strict_subset(shape.context)):
            best = shape
        if best is not None and best.context.is_equal(x.context):
            break
    return best


def _candidates(polynomials: list[Polynomial], counters: set[str]) -> list[Offsets]:
    """What rows may have beyond a parameter; nothing first, then what most subscripts say.

    `c * i * n` beside `b * i` comes from a factor `n + b / c` of `i`, and `c * n` beside `b` from one of a constant;
    the quotient is a little smaller where a further subscript adds to `b`.
    """
    votes: dict[str, Counter[int]] = {}
    for polynomial in polynomials:
        for monomial, coefficient in polynomial.items():
            for name in sorted(set(monomial) - counters):
                rest = divide(monomial, (name,)) or ()
                quotient = polynomial.get(rest, 0) // (coefficient * monomial.count(name))
                said = votes.setdefault(name, Counter())
                said[quotient] += 1
                if quotient > 0:
                    said[quotient - 1] += 0
    ordered = [sorted(said | {0: 0}, key=lambda c: (c != 0, -said[c], abs(c))) for said in votes.values()]
    return [dict(zip(votes, chosen, strict=True)) for chosen in islice(product(*ordered), MOST_SHAPES)]


def _shape(x: Extraction, array: Array, accesses: list[tuple[OpenStatement, OpenAccess]], offsets: Offsets,
           counters: set[str]) -> _Shape | None:
    """The array with rows that are `n + offsets[n]` long; None when the subscripts are not of that kind."""
    polynomials = {a.reference: shifted(a.polynomial, offsets) for _, a in accesses if a.polynomial is not None}
    strides = _strides(list(polynomials.values()), counters)
    if strides is None:
        return None
    extents = [divide(large, small) for large, small in pairwise(strides)]
    if any(e is None or len(e) != 1 for e in extents):
        return None
    return _reshaped(x, array, accesses, polynomials, strides, [e[0] for e in extents if e is not None], offsets)


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


def _subscripts(polynomial: Polynomial, strides: list[Monomial], offsets: Offsets) -> list[isl.PwAff] | None:
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
    back = {name: -offset for name, offset in offsets.items()}
    return [to_affine(shifted(p, back)) for p in parts]


def _reshaped(x: Extraction, array: Array, accesses: list[tuple[OpenStatement, OpenAccess]],
              polynomials: Mapping[str, Polynomial], strides: list[Monomial], sizes: list[str],
              offsets: Offsets) -> _Shape | None:
    lengths = [polyhedra.symbol(s).add(polyhedra.constant(offsets.get(s, 0))) for s in sizes]
    spelling = {p.name: p.spelling for p in x.parameters.values()}
    spelt = [_length(spelling[s], offsets.get(s, 0)) for s in sizes]
    extents: list[isl.PwAff | None] = [None, *lengths]
    new: dict[str, OpenAccess] = {}
    context, assumptions = x.context, list(x.assumptions)
    try:
        for statement, access in accesses:
            polynomial = polynomials.get(access.reference)
            subscripts = None if polynomial is None else _subscripts(polynomial, strides, offsets)
            for reached, ends in [] if subscripts is None else _ends(access, subscripts):
                _stay_inside(x, statement, reached, ends, lengths, sizes, spelt)
            if subscripts is None or access.count is None:
                relation = polyhedra.relation(access.domain, subscripts or [None] * len(extents), extents)
            else:
                relation = polyhedra.run_of(access.domain, subscripts, [access.count], extents)
            new[access.reference] = replace(access, relation=relation,
                                            exact=subscripts is not None and access.count is None)
        return _Shape(array=replace(array, extents=tuple(extents), c_extents=(None, *spelt)), accesses=new,
                      context=x.context, assumptions=list(x.assumptions))
    except NotAffine:
        return None
    finally:
        x.context, x.assumptions = context, assumptions


def _ends(access: OpenAccess, subscripts: list[isl.PwAff]) -> list[tuple[OpenAccess, list[isl.PwAff]]]:
    """The first and the last element that an access reaches, where it reaches any."""
    if access.count is None:
        return [(access, subscripts)]
    some = replace(access, domain=access.domain.intersect(access.count.ge_set(polyhedra.constant(1))))
    last = subscripts[-1].add(access.count).sub(polyhedra.constant(1))
    return [(some, subscripts), (some, [*subscripts[:-1], last])]


def _length(spelling: str, offset: int) -> str:
    if not offset:
        return spelling
    return f"(long){spelling} {'+' if offset > 0 else '-'} {abs(offset)}"


def _stay_inside(x: Extraction, statement: OpenStatement, access: OpenAccess, subscripts: list[isl.PwAff],
                 lengths: list[isl.PwAff], sizes: list[str], spelt: list[str]) -> None:
    """Every subscript but the first is in its extent: proved, or assumed when parameters of any size can fulfil it.

    Raises
    ------
    NotAffine : it would hold for small parameters only, so the array has another shape.
    """
    good = polyhedra.universe()
    for subscript, length in zip(subscripts[1:], lengths, strict=True):
        below = subscript.lt_set(length)
        good = good.intersect(subscript.ge_set(polyhedra.constant(0))).intersect(below)
    bad = access.domain.intersect(x.context).subtract(good)
    if bad.is_empty():
        return
    shadow = polyhedra.project_out(bad, [name for name, _ in statement.iterators])
    allowed = x.context.subtract(shadow)
    kept = polyhedra.project_out(access.domain, [name for name, _ in statement.iterators]).intersect(allowed)
    if not all(_unbounded(kept, p.name, p.dtype.value_range()[1]) for p in x.parameters.values()):
        raise NotAffine(access.node, "the subscript leaves its row")
    rows = ", ".join(s.removeprefix("(long)") for s in spelt)
    kind = INSIDE_ROWS if x.steps.isdisjoint(sizes) else STEP_ROWS
    x.require(access.domain, good, kind=kind, node=access.node, iterators=[n for n, _ in statement.iterators],
              text=f"`{describe(access.node)}` stays inside rows of {rows} elements")


def _unbounded(parameters: isl.Set, name: str, high: int) -> bool:
    """Whether a parameter can take the largest value of its type."""
    return not parameters.intersect(polyhedra.symbol(name).eq_set(polyhedra.constant(high))).is_empty()
