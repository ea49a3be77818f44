"""Polynomials with integer coefficients in the names of parameters: strides and addresses of arrays.

The number of iterations of a loop in steps, `16 * floor((n + 15)/16)`, has a `Quotient` as one of its names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import islpy as isl

Monomial: TypeAlias = tuple[str, ...]        # names, sorted, with repetition; () is the number one
Polynomial: TypeAlias = Mapping[Monomial, int]

ONE: Polynomial = {(): 1}
ZERO: Polynomial = {}


class Quotient(str):
    """The name of a sum of parameters divided by a number and rounded down; its text is isl's.

    Attributes
    ----------
    over : the sum, without quotients.
    by : the divisor, at least 2.
    """

    over: Polynomial
    by: int

    def __new__(cls, over: Polynomial, by: int) -> Quotient:
        made = super().__new__(cls, f"floor(({affine_text(over)})/{by})")
        made.over, made.by = over, by
        return made


def affine_text(value: Polynomial) -> str:
    """A polynomial of degree one in isl's words."""
    return " + ".join(f"{c}{''.join(f' * {n}' for n in m)}" for m, c in value.items()) or "0"


def parameters_of(value: Polynomial) -> set[str]:
    """The parameters that a polynomial names, in quotients, too."""
    names = {n for m in value for n in m}
    return {p for n in names for p in (parameters_of(n.over) if isinstance(n, Quotient) else (n,))}


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


def of_affine(function: isl.PwAff, *, quotients: bool = False) -> Polynomial | None:
    """An affine function of the parameters as a polynomial; None for several functions in pieces, or with quotients.

    Coefficients of the input dimensions are those of names `#0`, `#1`, ...

    Parameters
    ----------
    quotients : those of parameters alone are names, too.
    """
    pieces = function.get_pieces()
    aff = next((a for _, a in pieces if len(pieces) == 1 or isl.PwAff.from_aff(a).intersect_domain(
        function.domain()).is_equal(function)), None)
    if aff is None:
        return None
    terms = _sum_of(aff)
    for at in range(aff.dim(isl.dim_type.div)):
        factor = aff.get_coefficient_val(isl.dim_type.div, at)
        if factor.is_zero():
            continue
        name = _quotient(aff.get_div(at)) if quotients else None
        if terms is None or name is None:
            return None
        terms[name,] = int(factor.to_python())
    return terms


def _quotient(div: isl.Aff) -> Quotient | None:
    """A division of a sum of parameters; None where it divides another one, or an input dimension."""
    by = int(div.get_denominator_val().to_python())
    over = _sum_of(div.scale_val(isl.Val(by)))
    inside = any(not div.get_coefficient_val(isl.dim_type.div, at).is_zero() for at in range(div.dim(isl.dim_type.div)))
    return None if inside or over is None or any(n.startswith("#") for m in over for n in m) else Quotient(over, by)


def _sum_of(aff: isl.Aff) -> dict[Monomial, int] | None:
    """What an affine function says without its quotients; None where it has fractions."""
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
        factors = [_name_c(n, spelling) for n in monomial]
        if abs(coefficient) != 1 or not factors:
            factors = [str(abs(coefficient)), *factors]
        sign = "-" if coefficient < 0 else "+"
        product = " * ".join(factors)
        text += f" {sign} {product}" if text else f"{'-' * (coefficient < 0)}{product}"
    return text or "0"


def _name_c(name: str, spelling: Mapping[str, str]) -> str:
    if isinstance(name, Quotient):   # C rounds towards zero
        over = f"({polynomial_c(name.over, spelling)})"
        return f"({over} / {name.by} - ({over} % {name.by} < 0))"
    text = spelling.get(name, name)
    return f"(long){text}" if text.isidentifier() else f"(long)({text})"
