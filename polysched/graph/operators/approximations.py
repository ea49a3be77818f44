"""Fast forms of exp, tanh and erf by short polynomials without branches, for float32; each states its error.

| operator | error in float32 | outside |
|---|---|---|
| `FastExp` | relative, at most 1e-6 | operands are cut to -86 ... 86 |
| `FastTanh` | absolute, at most 1e-6 | operands are cut to -7.9 ... 7.9 |
| `FastErf` | absolute, at most 1e-6 | operands are cut to -4 ... 4 |

NaN stays NaN.  The tests hold these errors over samples of the whole range.
Source: the rational functions for tanh and erf are Eigen 3.4's (`MathFunctionsImpl.h`, `SpecialFunctionsImpl.h`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polysched.graph.operators.elementwise import unary
from polysched.graph.operators.operator import Site
from polysched.scop.dtypes import INT64
from polysched.scop.expression import Expression, maximum, minimum, not_equal, where
from polysched.scop.expression import math_function as call
from polysched.scop.expression.tensors import Constant, Convert

EXP = tuple(1 / math.factorial(k) for k in range(7))
LN2 = (0.693359375, math.log(2) - 0.693359375)
"""The natural logarithm of 2 as a sum whose first part times a whole number below 256 is exact in float32."""
EXP_LOW, EXP_HIGH = -86.0, 86.0
TANH_LIMIT, ERF_LIMIT = 7.9, 4.0
TANH = ((4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08, -8.60467152213735e-11,
         2.00018790482477e-13, -2.76076847742355e-16),
        (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06))
ERF = ((-1.60960333262415e-02, -2.95459980854025e-03, -7.34990630326855e-04, -5.69250639462346e-05,
        -2.10102402082508e-06, 2.77068142495902e-08, -2.72614225801306e-10),
       (-1.42647390514189e-02, -7.37332916720468e-03, -1.68282697438203e-03, -2.13374055278905e-04,
        -1.45660718464996e-05))


def polynomial(x: Any, factors: Sequence[float]) -> Any:
    """`factors[0] + factors[1] x + ...` by Horner's rule."""
    result = x * factors[-1] + factors[-2]
    for factor in reversed(factors[:-2]):
        result = result * x + factor
    return result


def _exp(x: Expression) -> Expression:
    """2^n times a polynomial in the rest, for n = x / ln 2 rounded."""
    n: Expression = call("floor", x * (1 / math.log(2)) + 0.5)
    rest = (x - n * LN2[0]) - n * LN2[1]
    whole = n.astype("int64")
    half = whole >> 1
    result: Expression = polynomial(rest, EXP) * _power_of_two(half) * _power_of_two(whole - half)
    return result


def _power_of_two(n: Expression) -> Expression:
    """2^n as a float for -63 < n < 63, without a branch."""
    one = Convert(Constant(1), INT64)
    return (one << maximum(n, 0)).astype("float32") / (one << maximum(0 - n, 0)).astype("float32")


def _np_exp(x: np.ndarray) -> Any:
    n = np.floor(x * (1 / math.log(2)) + 0.5)
    return np.ldexp(polynomial((x - n * LN2[0]) - n * LN2[1], EXP), n.astype(np.int64))


def _rational(odd: Sequence[float], even: Sequence[float]) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        square = x * x
        return x * polynomial(square, odd) / polynomial(square, even)
    return function


def _fast(name: str, function: Callable[[Any], Any], low: float, high: float,
          reference: Callable[[Any], Any] | None = None) -> Any:
    """An operator by a function between two bounds."""
    def element(site: Site, x: Expression) -> Expression:
        return where(not_equal(x, x), x, function(maximum(minimum(x, high), low)))
    return unary(name, element, lambda site, x: (reference or function)(np.clip(x.astype(np.float64), low, high)))


OPERATORS = (_fast("FastExp", _exp, EXP_LOW, EXP_HIGH, _np_exp),
             _fast("FastTanh", _rational(*TANH), -TANH_LIMIT, TANH_LIMIT),
             _fast("FastErf", _rational(*ERF), -ERF_LIMIT, ERF_LIMIT))
