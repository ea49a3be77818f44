"""The scalar functions that instruction descriptions may call: exact C for the emulator, and what they mean ideally.

An instruction's text is C over these functions, so that rounding, saturation, fusing and flushing are part of the
description and not of a comment.  `ideal` says which function over numbers without rounding it approximates; the
matcher reads that, and the traits say what a match then takes for granted.

Sources: IEEE 754-2019 (fusedMultiplyAdd, roundTiesToEven); Intel 64 and IA-32 SDM vol. 1, section 11.6.3 (DAZ, FTZ).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import reduce

from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, Literal, Select, Unary
from polysched.scop.dtypes import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)


class Ideal(Enum):
    """The function over unrounded numbers: `x`, `x + y`, `x * y`, `x * y + z`, a clamp to the result's type, or itself.

    EXACT rounds nothing away: its `meaning`, or the call, stands for it.
    """

    IDENTITY = "identity"
    SUM = "sum"
    PRODUCT = "product"
    MULTIPLY_ADD = "multiply-add"
    CLAMP = "clamp"
    EXACT = "exact"


@dataclass(frozen=True)
class ExactFunction:
    """One function of the description language.

    Parameters
    ----------
    name : as descriptions call it.
    dtype : type of the result.
    parameters : types that the arguments are converted to.
    ideal : what it approximates.
    traits : what a caller who expects the ideal function must accept, in words.
    c_source : its definition, portable C11; empty for a function of the C library.
    meaning : the same as an expression of the arguments, where operators can say it.
    values : least and greatest result, where these are fewer than the type has.
    """

    name: str
    dtype: DType
    parameters: tuple[DType, ...]
    ideal: Ideal
    traits: tuple[str, ...]
    c_source: str
    meaning: Callable[..., Expr] | None = None
    values: tuple[int, int] | None = None


def _number(value: int, dtype: DType) -> Literal:
    suffix = ("u" if not dtype.is_signed else "") + ("l" if dtype.bits == 64 else "")
    return Literal(f"{value}{suffix}", value, dtype)


def _smaller(a: Expr, b: Expr) -> Expr:
    return Select(Binary("<", a, b, INT32), a, b, a.dtype)


def _larger(a: Expr, b: Expr) -> Expr:
    return Select(Binary(">", a, b, INT32), a, b, a.dtype)


def _saturated(dtype: DType) -> Callable[[Expr], Expr]:
    """The nearest value of a narrower type."""
    def meaning(x: Expr) -> Expr:
        low, high = (_literal(v, x.dtype) for v in dtype.value_range())
        return Cast(_larger(_smaller(x, high), low), dtype)

    return meaning


def _literal(value: int, dtype: DType) -> Expr:
    return _number(value, dtype) if value >= 0 else Unary("-", _number(-value, dtype), dtype)


def _counted(x: Expr) -> Expr:
    """The bits that are one, in parallel: Warren, Hacker's Delight, section 5-1."""
    t, bits = x.dtype, x.dtype.bits

    def masked(e: Expr, shift: int, mask: int) -> Expr:
        return Binary("&", Binary(">>", e, _number(shift, INT32), t) if shift else e, _number(mask, t), t)

    for shift in (1, 2, 4, 8, 16, 32)[: bits.bit_length() - 1]:
        mask = sum(((1 << shift) - 1) << at for at in range(0, bits, 2 * shift))
        x = Binary("+", masked(x, 0, mask), masked(x, shift, mask), t)
    return Cast(x, INT32)


def _leading(x: Expr) -> Expr:
    """The zeros ahead of the first bit that is one: of how many powers of two a number is below each."""
    t = x.dtype
    return _how_many(Binary("<", x, _number(1 << at, t), INT32) for at in range(t.bits))


def _trailing(x: Expr) -> Expr:
    """The zeros behind the last bit that is one: how many of the lowest bits are zero together."""
    t = x.dtype
    return _how_many(Binary("==", Binary("&", x, _number((2 << at) - 1, t), t), _number(0, t), INT32)
                     for at in range(t.bits))


def _how_many(flags: Iterable[Expr]) -> Expr:
    return reduce(lambda a, b: Binary("+", a, b, INT32), flags)


FUSED = "products are fused into additions (one rounding)"
FLUSHED = "denormal inputs and results count as zero"
TF32 = "f32 operands are cut to the 10-bit mantissa of tf32"
SATURATED = "results saturate"
ODD = "intermediate sums are rounded to odd"


def _c_name(dtype: DType) -> str:
    return f"{dtype.name}_t"


def _short(dtype: DType) -> str:
    return f"{'i' if dtype.is_signed else 'u'}{dtype.bits}"


def _saturating(dtype: DType, wide: DType) -> ExactFunction:
    """`sat_i16(int32_t)` and its like."""
    name, upper = f"sat_{_short(dtype)}", dtype.name.upper()
    low = f"{upper}_MIN" if dtype.is_signed else "0"
    return ExactFunction(name, dtype, (wide,), Ideal.CLAMP, (SATURATED,), f"""
static inline {_c_name(dtype)} {name}({_c_name(wide)} x) {{
    return x > {upper}_MAX ? {upper}_MAX : x < {low} ? {low} : ({_c_name(dtype)})x;
}}""", _saturated(dtype))


def _extremum(kind: str, dtype: DType) -> ExactFunction:
    """`min_i32`, `max_u64` and their like."""
    name, c, op = f"{kind}_{_short(dtype)}", _c_name(dtype), "<" if kind == "min" else ">"
    return ExactFunction(name, dtype, (dtype, dtype), Ideal.EXACT, (), f"""
static inline {c} {name}({c} a, {c} b) {{ return a {op} b ? a : b; }}""", _smaller if kind == "min" else _larger)


def _popcount(dtype: DType) -> ExactFunction:
    """`popcount_u32` and `popcount_u64`: the bits that are one."""
    name, c = f"popcount_{_short(dtype)}", _c_name(dtype)
    return ExactFunction(name, INT32, (dtype,), Ideal.EXACT, (), f"""
static inline int32_t {name}({c} x) {{ int32_t n = 0; for (; x; x &= x - 1) n++; return n; }}""",
                         _counted, (0, dtype.bits))


def _zeros(kind: str, dtype: DType) -> ExactFunction:
    """`clz_u32`, `ctz_u64` and their like: the zeros ahead of the first one, or behind the last; all bits of zero."""
    name, c, bits = f"{kind}_{_short(dtype)}", _c_name(dtype), dtype.bits
    end, step = (f"x >> {bits - 1}", "x <<= 1") if kind == "clz" else ("x & 1", "x >>= 1")
    return ExactFunction(name, INT32, (dtype,), Ideal.EXACT, (), f"""
static inline int32_t {name}({c} x) {{ int32_t n = 0; for (; n < {bits} && !({end}); {step}) n++; return n; }}""",
                         _leading if kind == "clz" else _trailing, (0, bits))


_FUNCTIONS = (
    ExactFunction("bf16_to_f32", FLOAT32, (BFLOAT16,), Ideal.IDENTITY, (), """
static inline float bf16_to_f32(bf16 x) { uint32_t u = (uint32_t)x << 16; float f; memcpy(&f, &u, 4); return f; }"""),
    ExactFunction("f16_to_f32", FLOAT32, (FLOAT16,), Ideal.IDENTITY, (), """
static inline float f16_to_f32(f16 x) {
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, e = (x >> 10) & 31, m = x & 0x3ff, u;
    float f;
    if (e == 0) { f = (float)m * 0x1p-24f; memcpy(&u, &f, 4); u |= sign; }
    else if (e == 31) u = sign | 0x7f800000u | (m << 13);
    else u = sign | ((e + 112) << 23) | (m << 13);
    memcpy(&f, &u, 4);
    return f;
}"""),
    ExactFunction("f32_to_tf32", FLOAT32, (FLOAT32,), Ideal.IDENTITY, (TF32,), """
static inline float f32_to_tf32(float x) { uint32_t u; memcpy(&u, &x, 4); u &= ~0x1fffu; memcpy(&x, &u, 4); return x; }
"""),
    ExactFunction("fma_f32", FLOAT32, (FLOAT32,) * 3, Ideal.MULTIPLY_ADD, (FUSED,), """
static inline float fma_f32(float a, float b, float c) { return fmaf(a, b, c); }"""),
    ExactFunction("fma_f64", FLOAT64, (FLOAT64,) * 3, Ideal.MULTIPLY_ADD, (FUSED,), """
static inline double fma_f64(double a, double b, double c) { return fma(a, b, c); }"""),
    ExactFunction("flush", FLOAT32, (FLOAT32,), Ideal.IDENTITY, (FLUSHED,), """
static inline float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }"""),
    ExactFunction("fma_flush", FLOAT32, (FLOAT32,) * 3, Ideal.MULTIPLY_ADD, (FUSED, FLUSHED), """
static inline float fma_flush(float a, float b, float c) { return flush(fmaf(flush(a), flush(b), flush(c))); }"""),
    ExactFunction("add_flush", FLOAT32, (FLOAT32,) * 2, Ideal.SUM, (FLUSHED,), """
static inline float add_flush(float a, float b) { return flush(flush(a) + flush(b)); }"""),
    ExactFunction("round_odd", FLOAT32, (FLOAT64,), Ideal.IDENTITY, (ODD, FLUSHED), """
static inline float round_odd(double x) { /* Boldo, Melquiond 2008: truncate, mark inexactness in the last bit */
    float f = (float)x;
    uint32_t u;
    if (x != x) return NAN;
    if (fabs(x) < 0x1p-126) return copysignf(0.0f, (float)x);
    if (fabs(x) >= 0x1p128) return copysignf(INFINITY, (float)x);
    memcpy(&u, &f, 4);
    if (fabs((double)f) > fabs(x)) u--;
    memcpy(&f, &u, 4);
    if ((double)f != x) u |= 1;
    memcpy(&f, &u, 4);
    return f;
}"""),
    ExactFunction("mul_odd", FLOAT32, (FLOAT32,) * 2, Ideal.PRODUCT, (ODD, FLUSHED), """
static inline float mul_odd(float a, float b) { return round_odd((double)flush(a) * (double)flush(b)); }"""),
    ExactFunction("add_odd", FLOAT32, (FLOAT32,) * 2, Ideal.SUM, (ODD, FLUSHED), """
static inline float add_odd(float a, float b) {
    double x = flush(a), y = flush(b), s = x + y, v = s - x, lost = (x - (s - v)) + (y - v);
    uint64_t u;
    memcpy(&u, &s, 8);
    if (isfinite(s) && lost != 0 && !(u & 1)) { u += (lost > 0) == (s > 0) ? 1 : -1; memcpy(&s, &u, 8); }
    return round_odd(s);
}"""),
    *(_saturating(INT32, INT64), _saturating(INT16, INT32), _saturating(INT8, INT32), _saturating(UINT8, INT32),
      _saturating(UINT16, INT32)),
    *(_extremum(kind, dtype) for kind in ("min", "max") for dtype in (INT32, UINT32, INT64, UINT64)),
    *(_popcount(dtype) for dtype in (UINT32, UINT64)),
    *(_zeros(kind, dtype) for kind in ("clz", "ctz") for dtype in (UINT32, UINT64)),
    ExactFunction("clamp_i32", INT32, (INT32,) * 3, Ideal.EXACT, (), """
static inline int32_t clamp_i32(int32_t x, int32_t low, int32_t high) { return x < low ? low : x > high ? high : x; }
""", lambda x, low, high: Select(Binary("<", x, low, INT32), low, _smaller(x, high), INT32)),
    ExactFunction("abs_i32", INT32, (INT32,), Ideal.EXACT, (), """
static inline int32_t abs_i32(int32_t x) { return x < 0 ? (int32_t)(0u - (uint32_t)x) : x; }""",
                  lambda x: Select(Binary("<", x, _number(0, INT32), INT32), Unary("-", x, INT32), x, INT32)),
    ExactFunction("sat_f32_i32", INT32, (FLOAT32,), Ideal.EXACT, (), """
static inline int32_t sat_f32_i32(float x) { /* to nearest, ties to even; NaN is 0 */
    return x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : (int32_t)rintf(x);
}"""),
    ExactFunction("cvt_f32_i32", INT32, (FLOAT32,), Ideal.EXACT, (), """
static inline int32_t cvt_f32_i32(float x) { /* x86: to nearest, ties to even; what does not fit is INT32_MIN */
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)rintf(x) : INT32_MIN;
}"""),
    *(ExactFunction(name + suffix, dtype, (dtype,), Ideal.EXACT, (), "")
      for name in ("fabs", "rint", "round", "floor", "ceil", "trunc")
      for suffix, dtype in (("f", FLOAT32), ("", FLOAT64))),
    ExactFunction("abs", INT32, (INT32,), Ideal.EXACT, (), "",
                  lambda x: Select(Binary("<", x, _number(0, INT32), INT32), Unary("-", x, INT32), x, INT32)),
    ExactFunction("f32_to_bf16", BFLOAT16, (FLOAT32,), Ideal.EXACT, (), ""),
    ExactFunction("f32_to_f16", FLOAT16, (FLOAT32,), Ideal.EXACT, (), ""),
)

NARROWING = """
static inline bf16 f32_to_bf16(float x) { /* to nearest, ties to even */
    uint32_t u;
    memcpy(&u, &x, 4);
    if (x != x) return (bf16)((u >> 16) | 64);
    return (bf16)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
static inline f16 f32_to_f16(float x) { /* to nearest, ties to even */
    uint32_t u, sign;
    float magnitude;
    memcpy(&u, &x, 4);
    sign = u >> 16 & 0x8000;
    u &= 0x7fffffff;
    if (u > 0x7f800000) return (f16)(sign | 0x7e00 | (u >> 13 & 0x3ff));
    if (u >= 0x477ff000) return (f16)(sign | 0x7c00);
    if (u < 0x38800000) { /* denormal: the addition rounds at the right bit */
        memcpy(&magnitude, &u, 4);
        magnitude += 0.5f;
        memcpy(&u, &magnitude, 4);
        return (f16)(sign | (u - 0x3f000000));
    }
    return (f16)(sign | ((u + 0xfff + ((u >> 13) & 1)) - 0x38000000) >> 13);
}
"""
"""C functions for packing operands that the program computes in a short float type."""

FUNCTIONS: dict[str, ExactFunction] = {f.name: f for f in _FUNCTIONS}

PRELUDE = "".join((
    "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n"
    "typedef uint16_t bf16; /* bfloat16, as bits */\ntypedef uint16_t f16; /* IEEE binary16, as bits */\n",
    "\n".join(f.c_source.strip() for f in _FUNCTIONS if f.c_source), NARROWING))
"""C that every emulator needs above it; include it once per translation unit."""
