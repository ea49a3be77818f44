"""Quotients of many vectors by one number: by its reciprocal, with the very numbers that division gives.

With z = 1 / s rounded to nearest, and y = (1 - z * s) / s what is left of 1 / s,

    q = a * y;  q = q + a * z;  q = q + (a - q * s) * z           (multiply-adds, each rounded once)

z + y is 1 / s to nearly twice as many bits (N. Brisebarre, J.-M. Muller and S. K. Raina, "Accelerating correctly
rounded floating-point division when the divisor is known in advance", IEEE Trans. Computers 53(8), 2004), so that the
second q is within 1 unit in the last place of a / s; then the remainder is a number without rounding, and the third is
a / s rounded to nearest (P. W. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
IBM J. Res. Dev. 34(1), 1990; D. M. Russinoff, "Formal Verification of Floating-Point Hardware Design", section 13.1,
has the proof).  That holds as long as nothing overflows and remainders are normal, for which the exponents of a and s
are looked at; where one is out of its range (those of zeros, infinities and NaN are), the vector is divided.  Measured
on a Xeon with AMX, from the first cache, with one product more (a second correction in the place of y): 4.6 cycles for
64 bytes, where the divider takes 10 (float) or 16 (double).
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.scop.dtypes import DType


@dataclass(frozen=True, kw_only=True)
class _Format:
    """A number format.

    Parameters
    ----------
    suffix, integer : of literals; the type as wide.
    vectors, masks : endings of instructions on vectors of these numbers, and of integers as wide.
    least : bits of the least dividend, so that the last bit of a remainder is normal.
    outside : bits of which one is set where a dividend's bits do not exceed `least` by less than half of all exponents.
    above_infinity, absolute : bits of the first NaN; all bits but the sign.
    divisor : power of two that neither a divisor nor its reciprocal exceeds.
    """

    suffix: str
    integer: str
    vectors: str
    masks: str
    least: str
    outside: str
    above_infinity: str
    absolute: str
    divisor: int


_FORMATS = {
    32: _Format(suffix="f", integer="int", vectors="ps", masks="d", least="0x18800000", outside="-0x40000000",
                above_infinity="0x7f800001", absolute="0x7fffffff", divisor=40),
    64: _Format(suffix="", integer="long", vectors="pd", masks="q", least="0x1ff0000000000000",
                outside="-0x4000000000000000", above_infinity="0x7ff0000000000001", absolute="0x7fffffffffffffff",
                divisor=400),
}
WIDEST_BITS = 512
"""Of the registers that the instructions have (Intel SDM volume 2, VFMADD231PS)."""


def quotient_definition(macro: str, dtype: DType) -> list[str]:
    """The lines that define `macro(R, I, a, s)`: the vector a, of type R and with I for its bits, over the number s."""
    form = _FORMATS[dtype.bits]
    p = "polysched_quotient_"
    absolute = f"__builtin_fabs{form.suffix}({p}s)"
    steps = [f"const R {p}a = (a_);",
             f"const {dtype.c_name} {p}s = (s_), {p}z = 1 / {p}s, "
             f"{p}y = __builtin_fma{form.suffix}(-{p}z, {p}s, 1) / {p}s;",
             f"const R {p}divisor = {p}s - (R){{0}}, {p}reciprocal = {p}z - (R){{0}};",
             f"R {p}q = {p}a * {p}y, {p}rest = {p}a;",
             _multiply_add(f"vfmadd231{form.vectors}", f"{p}q", f"{p}a", f"{p}reciprocal"),
             _multiply_add(f"vfnmadd231{form.vectors}", f"{p}rest", f"{p}q", f"{p}divisor"),
             _multiply_add(f"vfmadd231{form.vectors}", f"{p}q", f"{p}rest", f"{p}reciprocal")]
    steps += [f"const {form.integer} {p}least = {absolute} >= 0x1p-{form.divisor}{form.suffix} && "
              f"{absolute} <= 0x1p{form.divisor}{form.suffix} ? {form.least} : {form.above_infinity};",
              f"const I {p}above = ((I){p}a & {form.absolute}) - {p}least; int {p}odd;",
              f"__asm__(\"vptestm{form.masks} %2, %1, %%k1\\n\\tkortestw %%k1, %%k1\" : \"=@ccnz\"({p}odd) "
              f": \"v\"({p}above), \"v\"({form.outside} - (I){{0}}) : \"k1\");",
              f"if (__builtin_expect({p}odd, 0)) {p}q = {p}a / {p}s;"]
    head = f"#define {macro}(R, I, a_, s_)"
    return ["#if defined(__AVX512VL__)", f"{head} __extension__ ({{ \\", *(f"  {step} \\" for step in steps),
            f"  {p}q; }})", "#else", f"{head} ((a_) / (s_))", "#endif"]


def has_quotient(dtype: DType, lanes: int, divider_bits: int) -> bool:
    """Whether vectors of so many lanes gain from it: those that a core does not divide at once."""
    return dtype.is_float and dtype.bits in _FORMATS and divider_bits < lanes * dtype.bits <= WIDEST_BITS


def _multiply_add(instruction: str, target: str, *factors: str) -> str:
    """`target += / -= one factor * the other`, rounded once."""
    first, second = (f"\"v\"({factor})" for factor in factors)
    return f"__asm__(\"{instruction} %2, %1, %0\" : \"+v\"({target}) : {first}, {second});"
