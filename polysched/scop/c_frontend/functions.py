"""Functions that a region may call: their results and parameters.

A pure function reads nothing but its arguments and changes nothing.  Those of math.h and complex.h are (their effect
on `errno` and the rounding flags is ignored, as every compiler does with `-fno-math-errno`).
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.scop.dtypes import (
    CLONGDOUBLE,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    LONGDOUBLE,
    UINT16,
    UINT32,
    UINT64,
    DType,
    part_of,
)

_UNARY = ("acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 "
          "log1p log2 logb nearbyint rint round sin sinh sqrt tan tanh tgamma trunc")
_BINARY = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder"
_ROUNDING = {"ilogb": INT32, "lrint": INT64, "llrint": INT64, "lround": INT64, "llround": INT64}
_OF_COMPLEX = "cacos cacosh casin casinh catan catanh ccos ccosh cexp clog conj cproj csin csinh csqrt ctan ctanh"
_COMPARE = ("isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered")
_CLASSIFY = ("isnan", "isinf", "isfinite", "isnormal", "signbit")


@dataclass(frozen=True)
class PureFunction:
    """Result and parameter types; a parameter None takes any arithmetic type unchanged."""

    result: DType
    parameters: tuple[DType | None, ...]


def _math() -> dict[str, PureFunction]:
    found: dict[str, PureFunction] = {}
    for suffix, dtype in (("", FLOAT64), ("f", FLOAT32), ("l", LONGDOUBLE)):
        for name in _UNARY.split():
            found[name + suffix] = PureFunction(dtype, (dtype,))
        for name in _BINARY.split():
            found[name + suffix] = PureFunction(dtype, (dtype, dtype))
        for name, result in _ROUNDING.items():
            found[name + suffix] = PureFunction(result, (dtype,))
        found["fma" + suffix] = PureFunction(dtype, (dtype, dtype, dtype))
        for name in ("ldexp", "scalbn"):
            found[name + suffix] = PureFunction(dtype, (dtype, INT32))
        found["__builtin_huge_val" + suffix] = found["__builtin_inf" + suffix] = PureFunction(dtype, ())
        found["__builtin_fabs" + suffix] = PureFunction(dtype, (dtype,))
    for suffix, dtype in (("", COMPLEX128), ("f", COMPLEX64), ("l", CLONGDOUBLE)):
        for name in _OF_COMPLEX.split():
            found[name + suffix] = PureFunction(dtype, (dtype,))
        for name in ("cabs", "carg", "cimag", "creal"):
            found[name + suffix] = PureFunction(part_of(dtype), (dtype,))
        found["cpow" + suffix] = PureFunction(dtype, (dtype, dtype))
    for name in _CLASSIFY:
        found["__builtin_" + name] = PureFunction(INT32, (None,))
    for name in _COMPARE:
        found["__builtin_" + name] = PureFunction(INT32, (None, None))
    found["abs"] = PureFunction(INT32, (INT32,))
    found["labs"] = found["llabs"] = PureFunction(INT64, (INT64,))
    return {**{f"__builtin_{name}": function for name, function in found.items() if not name.startswith("__")}, **found,
            **_of_bits()}


def _of_bits() -> dict[str, PureFunction]:
    """GCC's functions of the bits of a number (GCC 12 manual, section 6.59); clang has them, too."""
    found: dict[str, PureFunction] = {}
    for suffix, signed, unsigned in (("", INT32, UINT32), ("l", INT64, UINT64), ("ll", INT64, UINT64)):
        for name in ("clz", "ctz", "parity", "popcount"):
            found[f"__builtin_{name}{suffix}"] = PureFunction(INT32, (unsigned,))
        for name in ("clrsb", "ffs"):
            found[f"__builtin_{name}{suffix}"] = PureFunction(INT32, (signed,))
    for dtype in (UINT16, UINT32, UINT64):
        found[f"__builtin_bswap{dtype.bits}"] = PureFunction(dtype, (dtype,))
    found["__builtin_expect"] = PureFunction(INT64, (INT64, INT64))
    return found


MATH = _math()
