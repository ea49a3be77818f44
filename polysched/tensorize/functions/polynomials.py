"""Polynomials with integer coefficients in the names of parameters: strides and addresses of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import islpy as isl

Monomial: TypeAlias = tuple[str, ...]        # names, sorted, with repetition; () is the number one
Polynomial: TypeAlias = Mapping[Monomial, int]

ONE: Polynomial = {(): 1}
ZERO: Polynomial = {}


def add(left: Polynomial, right: Polynomial, factor: int = 1) -> dict[Monomial, int]:
    """`left + factor * right`."""
    total = dict(left)
    for monomial, coefficient in right.items():
        total[monomial] = total.get(monomial, 0) + factor * coefficient
    return {m: c for m, c in total.items() if c}


def multiply(left: Polynomial, right: Polynomial) -> dict[Monomial, int]:
    """The product."""
    total: dict[Monomial, int] = {}
    for m, c in left.items():
        for n, d in right.items():
            name = tuple(sorted((*m, *n)))
            total[name] = total.get(name, 0) + c * d
    return {m: c for m, c in total.items() if c}


def divided(value: Polynomial, by: int) -> Polynomial | None:
    """The quotient where all coefficients are multiples; else None."""
    return None if not by or any(c % by for c in value.values()) else {m: c // by for m, c in value.items()}


def substituted(value: Polynomial, values: Mapping[str, Polynomial]) -> dict[Monomial, int]:
    """The polynomial with other polynomials in the place of some names."""
    total: dict[Monomial, int] = {}
    for monomial, coefficient in value.items():
        product: Polynomial = {(): coefficient}
        for name in monomial:
            product = multiply(product, values.get(name, {(name,): 1}))
        total = add(total, product)
    return total


def of_affine(function: isl.PwAff) -> Polynomial | None:
    """An affine function of the parameters as a polynomial; None for several functions in pieces, or with quotients.

    Coefficients of the input dimensions are those of names `#0`, `#1`, ...
    """
    pieces = function.get_pieces()
    aff = next((a for _, a in pieces if len(pieces) == 1 or isl.PwAff.from_aff(a).intersect_domain(
        function.domain()).is_equal(function)), None)
    if aff is None:
        return None
    if any(not aff.get_coefficient_val(isl.dim_type.div, i).is_zero() for i in range(aff.dim(isl.dim_type.div))):
        return None
    if not aff.get_denominator_val().is_one():
        return None
    terms: dict[Monomial, int] = {(): int(aff.get_constant_val().to_python())}
    for kind, prefix in ((isl.dim_type.param, ""), (isl.dim_type.in_, "#")):
        for at in range(aff.dim(kind)):
            name = f"#{at}" if prefix else str(aff.get_dim_name(kind, at))
            terms[name,] = int(aff.get_coefficient_val(kind, at).to_python())
    return {m: c for m, c in terms.items() if c}


def polynomial_c(value: Polynomial, spelling: Mapping[str, str]) -> str:
    """The polynomial as C of type `long`."""
    text = ""
    for monomial, coefficient in sorted(value.items(), key=lambda t: (t[1] < 0, -len(t[0]), t[0])):
        names = [spelling.get(n, n) for n in monomial]
        factors = [f"(long){n}" if n.isidentifier() else f"(long)({n})" for n in names]
        if abs(coefficient) != 1 or not factors:
            factors = [str(abs(coefficient)), *factors]
        sign = "-" if coefficient < 0 else "+"
        product = " * ".join(factors)
        text += f" {sign} {product}" if text else f"{'-' * (coefficient < 0)}{product}"
    return text or "0"
