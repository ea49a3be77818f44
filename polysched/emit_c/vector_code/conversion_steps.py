"""Conversions of whole vectors, in steps that compilers have instructions for.

gcc 12 has an instruction where the width of an element doubles, halves or stays; `__builtin_convertvector` over a
larger ratio (bytes to ints or floats) it takes apart into conversions lane by lane, 25 to 60 instructions for 16 lanes.
clang makes one instruction of all steps.
"""

from __future__ import annotations

from polysched.emit_c.limits import LIMITS
from polysched.scop.dtypes import BY_NAME, INT32, DType, Kind

FAR = LIMITS.far_conversion


def conversion_steps(have: DType, want: DType) -> list[DType]:
    """The types that a vector of `have` passes through, `want` last, with the values of the direct conversion.

    An integer keeps its sign while it grows and its low bits while it shrinks; short integers and floats meet at an
    int.  A float beyond the range of the integer type has no value in C.
    """
    if have.is_float and want.is_float:
        return [want]
    if have.is_float:
        between = INT32 if want.bits < 32 else want
        return [between] if between == want else [between, *conversion_steps(between, want)]
    if want.is_float:
        return [*conversion_steps(have, INT32), want] if have.bits < INT32.bits else [want]
    steps, bits = [], have.bits
    while FAR * bits <= want.bits:
        bits *= 2
        steps.append(_integer(have.kind, bits))
    while bits >= FAR * want.bits:
        bits //= 2
        steps.append(_integer(want.kind, bits))
    return [*steps, want]


def _integer(kind: Kind, bits: int) -> DType:
    return BY_NAME[f"{'int' if kind is Kind.SIGNED else 'uint'}{bits}"]
