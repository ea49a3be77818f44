"""Narrow floats as codes: what conversions to them and from them become in kernels, which compute on bits.

The references convert by ml_dtypes; kernels round by whole numbers, and read a table of all values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.element_types import (
    ELEMENT_TYPES,
    POWERS_OF_TWO,
    NarrowType,
    array_type,
    carrier_of,
    is_narrow,
)
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BFLOAT16, FLOAT32, FLOAT64, UINT32, UINT64, DType
from polysched.scop.dtypes import Kind as ElementKind
from polysched.scop.expression import Expression, equal, where
from polysched.scop.expression.tensors import Constant, Convert

ROUNDINGS = ("up", "down", "nearest")
"""Of powers of two: the first where nothing is said."""
BITS = {UINT32: FLOAT32, UINT64: FLOAT64}
"""Whole numbers that are the bits of floats."""
BFLOAT16_CODES = NarrowType("bfloat16", "unsigned short", ElementKind.FLOAT, 16, width=16, exponent=8, bias=127,
                            largest=0x7F7F, infinity=0x7F80, not_a_number=0x7FC0)


def is_cut(site: Site, to: DType) -> bool:
    """Whether numbers beyond the largest one become it, in a conversion to a narrow float.

    Types without infinity and NaN always cut; bfloat16 never does.
    """
    if not isinstance(to, NarrowType):
        return False
    return bool(site.attribute("saturate", 1)) or (to.infinity is None and to.not_a_number is None)


def narrowed(site: Site, x: np.ndarray, to: DType) -> np.ndarray:
    """Numbers in a narrow type, by ml_dtypes: the reference of conversions."""
    with np.errstate(all="ignore"):
        if isinstance(to, NarrowType) and to.kind is not ElementKind.FLOAT:
            return (x.astype(np.int64) & ((1 << to.width) - 1)).astype(np.uint8).view(array_type(to))
        wide = x if x.dtype.kind == "f" else x.astype(np.float64)
        if to == POWERS_OF_TWO:
            return _powers(site, wide.astype(np.float32).astype(np.float64)).view(array_type(to))
        if isinstance(to, NarrowType) and to.not_a_number is not None and is_cut(site, to):
            most = float(decoded(to)[to.largest])
            wide = np.clip(wide, wide.dtype.type(-most), wide.dtype.type(most))
        return np.asarray(_rounded_to_odd(wide).astype(array_type(to)))


def _rounded_to_odd(x: np.ndarray) -> np.ndarray:
    """Doubles as float32 that round to a shorter type as the doubles do; ml_dtypes rounds them twice.

    Source: Boldo, Melquiond, Emulation of a FMA and correctly rounded sums, IEEE Transactions on Computers 57, 2008.
    """
    if x.dtype != np.float64:
        return x
    near = x.astype(np.float32)
    cut = np.where(np.abs(near) > np.abs(x), np.nextafter(near, np.float32(0)), near).astype(np.float32)
    odd = cut.view(np.uint32) | np.where((cut != x) & ~np.isnan(x), 1, 0).astype(np.uint32)
    return np.asarray(odd).view(np.float32)


def _powers(site: Site, x: np.ndarray) -> np.ndarray:
    """The codes of the powers of two next to the magnitudes of float32 numbers; 255 is NaN."""
    mode = site.attribute("round_mode", ROUNDINGS[0])
    share, power = np.frexp(np.abs(x))   # x = share * 2**power, share in [0.5, 1)
    more = {"up": share > 0.5, "down": share > 1, "nearest": share >= 0.75}[mode]
    codes = power.astype(np.int64) + 126 + more
    tiny = np.abs(x) < 2.0 ** -126   # without a power in the bits of float32
    codes = np.where(tiny, {"up": np.abs(x) > 0, "down": tiny & False, "nearest": np.abs(x) > 2.0 ** -127}[mode], codes)
    codes = np.minimum(codes, 0xFE if site.attribute("saturate", 1) else 0xFF)
    return np.asarray(np.where(np.isfinite(x), codes, 0xFF)).astype(np.uint8)


def decoded(own: NarrowType) -> np.ndarray:
    """The value of every byte in float32; what stands above the bits of an element does not count."""
    codes = np.arange(256) & ((1 << own.width) - 1)
    if own == POWERS_OF_TWO:
        return np.where(codes == 0xFF, np.nan, np.ldexp(1.0, codes - own.bias)).astype(np.float32)
    magnitude = codes & ((1 << (own.width - 1)) - 1)
    power, fraction = magnitude >> own.mantissa, magnitude & ((1 << own.mantissa) - 1)
    share = np.where(power > 0, fraction + (1 << own.mantissa), fraction)
    values = np.ldexp(share.astype(np.float64), np.maximum(power, 1) - own.bias - own.mantissa)
    values = np.where(magnitude > own.largest, np.nan, values)
    if own.infinity is not None:
        values = np.where(magnitude == own.infinity, np.inf, values)
    values = np.where(codes >> (own.width - 1) == 1, -values, values)
    if not own.has_negative_zero:
        values = np.where(codes == own.not_a_number, np.nan, values)
    return values.astype(np.float32)


def codes_of(dtype: DType) -> NarrowType:
    """The form of a narrow float's codes."""
    if dtype == BFLOAT16:
        return BFLOAT16_CODES
    assert isinstance(dtype, NarrowType)
    return dtype


def _code_types(site: Site) -> tuple[TensorType, ...]:
    to = ELEMENT_TYPES.get(site.attribute("to"))
    own = site.type().dtype
    if own not in BITS or to is None or not (is_narrow(to) and to.is_float) or (to == POWERS_OF_TWO and own != UINT32):
        raise site.refusal("the bits of floats, and a narrow floating type, are wanted", "to", witness=str(site.type()))
    return (site.type().with_dtype(carrier_of(to)),)


def _np_code(site: Site, bits: np.ndarray) -> np.ndarray:
    to = ELEMENT_TYPES[site.attribute("to")]
    return narrowed(site, bits.view(array_type(BITS[site.type().dtype])), to).view(array_type(carrier_of(to)))


def _code(site: Site, bits: Expression) -> Expression:
    """The code next to a float, to even where two are as near; by whole numbers alone."""
    source = site.type().dtype
    stored = 23 if source == UINT32 else 52
    to = ELEMENT_TYPES[site.attribute("to")]
    own = codes_of(to)

    def number(value: int) -> Expression:
        return Convert(Constant(value), source)
    magnitude = bits & number((1 << (source.bits - 1)) - 1)
    if own == POWERS_OF_TWO:
        return _power_code(site, magnitude, number)
    least = ((1 << (source.bits - 2 - stored)) - 1) - own.bias + 1   # the power, as stored, of the least normal number
    power, fraction = magnitude >> number(stored), magnitude & number((1 << stored) - 1)
    share = fraction + where(power > 0, number(1 << stored), number(0))
    at_least_one = where(power > 0, power, number(1))
    below = where(at_least_one < number(least), number(least) - at_least_one, number(0))
    dropped: Expression = number(stored - own.mantissa) + below
    dropped = where(dropped > number(stored + 2), number(stored + 2), dropped)
    odd = (share >> dropped) & number(1)
    rounded = (share + ((number(1) << (dropped - number(1))) - number(1)) + odd) >> dropped
    above = where(at_least_one > number(least), at_least_one - number(least), number(0))
    code = (above << number(own.mantissa)) + rounded
    beyond, sign = _beyond(site, own), (bits >> number(source.bits - 1)) << number(own.width - 1)
    signed = where(equal(code, number(0)), number(0), code + sign) if not own.has_negative_zero else code + sign
    cut = number(beyond) if beyond == own.not_a_number and not own.has_negative_zero else number(beyond) + sign
    signed = where(code > number(own.largest), cut, signed)
    infinite = ((1 << (source.bits - 1 - stored)) - 1) << stored
    lost = number(1 << (own.width - 1)) ^ sign   # a zero of the other sign, as ml_dtypes has it
    no_number = lost if own.not_a_number is None else (
        number(own.not_a_number) + sign if own.has_negative_zero else number(own.not_a_number))
    return where(magnitude > number(infinite), no_number, signed).astype(carrier_of(to))


def _beyond(site: Site, own: NarrowType) -> int:
    """The code of what is larger than the largest number, without its sign."""
    if own != BFLOAT16_CODES and is_cut(site, own):
        return own.largest
    found = own.not_a_number if own.infinity is None else own.infinity
    assert found is not None
    return found


def _power_code(site: Site, magnitude: Expression, number: Any) -> Expression:
    """The code of the power of two next to a float32 number."""
    mode = site.attribute("round_mode", ROUNDINGS[0])
    power, fraction = magnitude >> number(23), magnitude & number((1 << 23) - 1)
    half = number(1 << 22)
    more = {"up": fraction > number(0), "nearest": (fraction > half) | (equal(fraction, half) & (power > number(0)))}
    code = power if mode == "down" else power + where(more[mode], number(1), number(0))
    if site.attribute("saturate", 1):
        code = where(code > number(0xFE), number(0xFE), code)
    return where(power >= number(0xFF), number(0xFF), code).astype(carrier_of(POWERS_OF_TWO))


OPERATORS = (
    Operator(name="NarrowCode", kind=Kind.ELEMENTWISE, types=_code_types, reference=_np_code, element=_code,
             words={"round_mode": ROUNDINGS}),)
