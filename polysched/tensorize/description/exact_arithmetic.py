"""The scalar functions that instruction descriptions may call: exact C for the emulator, and what they mean ideally.

An instruction's text is C over these functions, so that rounding, saturation, fusing and flushing are part of the
description and not of a comment.  `ideal` says which function over numbers without rounding it approximates; the
matcher reads that, and the traits say what a match then takes for granted.

Sources: IEEE 754-2019 (fusedMultiplyAdd, roundTiesToEven); Intel 64 and IA-32 SDM vol. 1, section 11.6.3 (DAZ, FTZ).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from polysched.scop.dtypes import FLOAT32, FLOAT64, INT16, INT32, DType


class Ideal(Enum):
    """The function over unrounded numbers: `x`, `x + y`, `x * y`, `x * y + z`, or a clamp to the result's range."""

    IDENTITY = "identity"
    SUM = "sum"
    PRODUCT = "product"
    MULTIPLY_ADD = "multiply-add"
    CLAMP = "clamp"


@dataclass(frozen=True)
class ExactFunction:
    """One function of the description language.

    Parameters
    ----------
    name : as descriptions call it.
    dtype : type of the result.
    ideal : what it approximates.
    traits : what a caller who expects the ideal function must accept, in words.
    c_source : its definition, portable C11.
    """

    name: str
    dtype: DType
    ideal: Ideal
    traits: tuple[str, ...]
    c_source: str


FUSED = "products are fused into additions (one rounding)"
FLUSHED = "denormal inputs and results count as zero"
TF32 = "f32 operands are cut to the 10-bit mantissa of tf32"
SATURATED = "results saturate"
ODD = "intermediate sums are rounded to odd"

_FUNCTIONS = (
    ExactFunction("bf16_to_f32", FLOAT32, Ideal.IDENTITY, (), """
static inline float bf16_to_f32(bf16 x) { uint32_t u = (uint32_t)x << 16; float f; memcpy(&f, &u, 4); return f; }"""),
    ExactFunction("f16_to_f32", FLOAT32, Ideal.IDENTITY, (), """
static inline float f16_to_f32(f16 x) {
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, e = (x >> 10) & 31, m = x & 0x3ff, u;
    float f;
    if (e == 0) { f = (float)m * 0x1p-24f; memcpy(&u, &f, 4); u |= sign; }
    else if (e == 31) u = sign | 0x7f800000u | (m << 13);
    else u = sign | ((e + 112) << 23) | (m << 13);
    memcpy(&f, &u, 4);
    return f;
}"""),
    ExactFunction("f32_to_tf32", FLOAT32, Ideal.IDENTITY, (TF32,), """
static inline float f32_to_tf32(float x) { uint32_t u; memcpy(&u, &x, 4); u &= ~0x1fffu; memcpy(&x, &u, 4); return x; }
"""),
    ExactFunction("fma_f32", FLOAT32, Ideal.MULTIPLY_ADD, (FUSED,), """
static inline float fma_f32(float a, float b, float c) { return fmaf(a, b, c); }"""),
    ExactFunction("fma_f64", FLOAT64, Ideal.MULTIPLY_ADD, (FUSED,), """
static inline double fma_f64(double a, double b, double c) { return fma(a, b, c); }"""),
    ExactFunction("flush", FLOAT32, Ideal.IDENTITY, (FLUSHED,), """
static inline float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }"""),
    ExactFunction("fma_flush", FLOAT32, Ideal.MULTIPLY_ADD, (FUSED, FLUSHED), """
static inline float fma_flush(float a, float b, float c) { return flush(fmaf(flush(a), flush(b), flush(c))); }"""),
    ExactFunction("add_flush", FLOAT32, Ideal.SUM, (FLUSHED,), """
static inline float add_flush(float a, float b) { return flush(flush(a) + flush(b)); }"""),
    ExactFunction("round_odd", FLOAT32, Ideal.IDENTITY, (ODD, FLUSHED), """
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
    ExactFunction("mul_odd", FLOAT32, Ideal.PRODUCT, (ODD, FLUSHED), """
static inline float mul_odd(float a, float b) { return round_odd((double)flush(a) * (double)flush(b)); }"""),
    ExactFunction("add_odd", FLOAT32, Ideal.SUM, (ODD, FLUSHED), """
static inline float add_odd(float a, float b) {
    double x = flush(a), y = flush(b), s = x + y, v = s - x, lost = (x - (s - v)) + (y - v);
    uint64_t u;
    memcpy(&u, &s, 8);
    if (isfinite(s) && lost != 0 && !(u & 1)) { u += (lost > 0) == (s > 0) ? 1 : -1; memcpy(&s, &u, 8); }
    return round_odd(s);
}"""),
    ExactFunction("sat_i32", INT32, Ideal.CLAMP, (SATURATED,), """
static inline int32_t sat_i32(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x; }
"""),
    ExactFunction("sat_i16", INT16, Ideal.CLAMP, (SATURATED,), """
static inline int16_t sat_i16(int32_t x) { return x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : (int16_t)x; }
"""),
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
    "#include <stdint.h>\n#include <string.h>\n#include <math.h>\n"
    "typedef uint16_t bf16; /* bfloat16, as bits */\ntypedef uint16_t f16; /* IEEE binary16, as bits */\n",
    "\n".join(f.c_source.strip() for f in _FUNCTIONS), NARROWING))
"""C that every emulator needs above it; include it once per translation unit."""
