"""Calls of functions that operators can say, as these operators: what both bodies are compared in."""

from __future__ import annotations

from polysched.scop.body import Call, Cast, Expr, rebuild_shared
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS

SPELT_OTHERWISE = {f"__builtin_{name}{suffix}": f"{name}_u{bits}" for name in ("popcount", "clz", "ctz")
                   for suffix, bits in (("", 32), ("l", 64), ("ll", 64))}
"""GCC 12 manual, section 6.59, on machines with 64-bit longs; it leaves `clz` and `ctz` of zero undefined."""


def in_operators(e: Expr) -> Expr:
    """The same function with `abs`, `popcount`, `clz` and saturations written out; other calls stay."""
    def change(x: Expr) -> Expr:
        if not isinstance(x, Call):
            return x
        function = FUNCTIONS.get(SPELT_OTHERWISE.get(x.function, x.function))
        if function is None or function.meaning is None or len(function.parameters) != len(x.arguments):
            return x
        arguments = [a if a.dtype == t else Cast(a, t) for a, t in zip(x.arguments, function.parameters, strict=True)]
        meant = function.meaning(*arguments)
        return meant if meant.dtype == x.dtype else Cast(meant, x.dtype)

    return rebuild_shared(e, change)
