"""Sums and products of floats as C computes them, but for their order.

A value is a sum of terms, each a product of atoms with a factor.  Additions may change places, and so may the factors
of a product.  Everything else would change a value, or the sign of a zero (IEEE 754-2019, 6.3):

    x + 0.0     is +0 where x is -0, so that +0 is a term of its own; x + -0.0 is x
    0 - x       is +0 where x is 0; -x is -0 then
    x - x       is no number where x is infinite or none
    -(x - y)    is -0 where x is y; y - x is +0 then
    (x + y) z   is -0 where x is -y and z is negative; x z + y z is +0 then
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from polysched.scop.dtypes import DType

Monomial: TypeAlias = tuple[str, ...]           # atom names, sorted, repeated for powers
Polynomial: TypeAlias = tuple[tuple[Monomial, Fraction], ...]
MANTISSA_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "longdouble": 64}
LEAST_EXPONENT = {"float16": -14, "bfloat16": -126, "float32": -126, "float64": -1022, "longdouble": -16382}
"""Of normal numbers: IEEE 754-2019, table 3.5; the widths of bfloat16 and of x87's extended format."""
ZERO: Monomial = ("positive zero",)
"""Like all atoms that are numbers, no name that a parameter or an iterator can have."""
POSITIVE_ZERO: Polynomial = ((ZERO, Fraction(1)),)


def added(left: Polynomial, right: Polynomial) -> Polynomial | None:
    """The terms of a sum; None where terms would have to cancel."""
    total = dict(left)
    for monomial, factor in right:
        known = total.get(monomial)
        if known is None:
            total[monomial] = factor
        elif monomial == ZERO:
            total[monomial] = max(known, factor)   # of zeros with both signs the sum is +0
        elif not monomial and known + factor:
            total[monomial] = known + factor
        elif (known > 0) == (factor > 0) and known.denominator == factor.denominator == 1:
            total[monomial] = known + factor   # as often as this
        else:
            return None
    if len(total) > 1 and total.get(ZERO) == -1:
        del total[ZERO]
    return tuple(sorted(total.items()))


def multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    """The term of a product of two values of one term each."""
    ((first, factor),), ((second, other),) = left, right
    names, coefficient = [*first, *second], factor * other
    if ZERO[0] in names:   # so often zero, with a sign
        names = [*ZERO, *(n for n in names if n != ZERO[0])]
        coefficient = Fraction(1 if coefficient > 0 else -1)
    return ((tuple(sorted(names)), coefficient),)


def negative(terms: Polynomial) -> Polynomial:
    """The terms with the other sign, for one term the negative value."""
    return tuple((m, -c) for m, c in terms)


def is_number(terms: Polynomial) -> bool:
    """Whether a value is a constant other than zero."""
    return len(terms) == 1 and not terms[0][0]


def is_exact(terms: Polynomial, dtype: DType) -> bool:
    """Whether a constant is a normal number of a type; other values may be rounded."""
    value = abs(terms[0][1])
    shift = value.denominator.bit_length() - 1
    if value.denominator != 1 << shift:
        return False
    magnitude, zeros = value.numerator, (value.numerator & -value.numerator).bit_length() - 1
    exponent = magnitude.bit_length() - 1 - shift
    least = LEAST_EXPONENT[dtype.name]
    return magnitude.bit_length() - zeros <= MANTISSA_BITS[dtype.name] and least <= exponent <= 1 - least
