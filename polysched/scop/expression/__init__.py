"""Tensor expressions: operators described declaratively and built into a Scop.

    from polysched.scop.expression import axis, build, compute, placeholder, sum, symbols

    M, N, K = symbols("M N K")
    A, B = placeholder("A", (M, K)), placeholder("B", (K, N))
    k = axis("k")
    scop = build(compute((M, N), lambda i, j: sum(A[i, k] * B[k, j], over=k), name="C"))

`polysched.scop.expression.operators` has the common operators in this language.
"""

from polysched.scop.expression.functions import (
    absolute,
    argmax,
    argmin,
    equal,
    erf,
    exp,
    log,
    math_function,
    max,
    maximum,
    min,
    minimum,
    not_equal,
    prod,
    sqrt,
    sum,
    tanh,
    where,
)
from polysched.scop.expression.lowering import build
from polysched.scop.expression.stages import compute
from polysched.scop.expression.tensors import (
    Axis,
    Expression,
    Symbol,
    Tensor,
    axis,
    placeholder,
    scalar,
    symbols,
    temporary,
)
from polysched.scop.expression.updates import loop, update, when

__all__ = [
    "Axis", "Expression", "Symbol", "Tensor", "absolute", "argmax", "argmin", "axis", "build", "compute", "equal",
    "erf", "exp", "log", "loop", "math_function", "max", "maximum", "min", "minimum", "not_equal", "placeholder",
    "prod", "scalar", "sqrt", "sum", "symbols", "tanh", "temporary", "update", "when", "where",
]
