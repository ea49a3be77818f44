"""Calls of functions that operators can say, as these operators: what both bodies are compared in."""

from __future__ import annotations

from polysched.scop.body import Call, Cast, Expr, rebuild_shared
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS

SPELT_OTHERWISE = {"__builtin_popcount": "popcount_u32", "__builtin_popcountl": "popcount_u64",
                   "__builtin_popcountll": "popcount_u64"}   # GCC manual, section 6.63, on machines with 64-bit longs


def in_operators(e: Expr) -> Expr:
    """The same function with `abs`, `popcount` and saturations written out; other calls stay."""
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
