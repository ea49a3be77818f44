"""Polynomials with integer coefficients over named symbols: what linearised subscripts are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

import islpy as isl

from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.points import isl_value

Monomial: TypeAlias = tuple[str, ...]      # names with repetition, sorted; () is the constant
Polynomial: TypeAlias = dict[Monomial, int]


def add(left: Polynomial, right: Polynomial, factor: int = 1) -> Polynomial:
    """`left + factor * right`."""
    total = Counter(left)
    for monomial, coefficient in right.items():
        total[monomial] += factor * coefficient
    return {m: c for m, c in total.items() if c}


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product."""
    total: Counter[Monomial] = Counter()
    for first, a in left.items():
        for second, b in right.items():
            total[tuple(sorted((*first, *second)))] += a * b
    return {m: c for m, c in total.items() if c}


def divide(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """The quotient of two monomials; None when it is none."""
    rest = Counter(monomial)
    rest.subtract(divisor)
    if any(count < 0 for count in rest.values()):
        return None
    return tuple(sorted(rest.elements()))


def shifted(polynomial: Polynomial, offsets: Mapping[str, int]) -> Polynomial:
    """The polynomial in the symbols `n + offsets[n]`, under the same names: `n` becomes `n - offsets[n]`."""
    total: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        part: Polynomial = {(): coefficient}
        for name in monomial:
            part = multiply(part, add({(name,): 1}, {(): offsets.get(name, 0)}, -1))
        total = add(total, part)
    return total


def from_affine(value: isl.PwAff) -> Polynomial | None:
    """The polynomial that an affine function is; None when it is piecewise or has divisions."""
    pieces = value.get_pieces()
    if len(pieces) != 1:
        return None
    aff = pieces[0][1]
    if int(aff.dim(isl.dim_type.div)) or not aff.get_denominator_val().is_one():
        return None
    result: Polynomial = {}
    for at in range(int(aff.dim(polyhedra.PARAM))):
        coefficient = int(aff.get_coefficient_val(polyhedra.PARAM, at).to_python())
        if coefficient:
            result[(str(aff.get_dim_name(polyhedra.PARAM, at)),)] = coefficient
    constant = int(aff.get_constant_val().to_python())
    if constant:
        result[()] = constant
    return result


def to_affine(polynomial: Polynomial) -> isl.PwAff:
    """The affine function that a polynomial of degree one at most is."""
    total = polyhedra.constant(polynomial.get((), 0))
    for monomial, coefficient in polynomial.items():
        if monomial:
            total = total.add(polyhedra.symbol(monomial[0]).scale_val(isl_value(coefficient)))
    return total
