"""Element types of graphs: those that kernels compute with, and narrow ones that are stored and converted.

NumPy has the narrow ones from the package ml_dtypes, which onnx brings: an element takes a whole byte, or two.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.records import dataclass
from polysched.scop.construction.promotion import from_numpy, to_numpy
from polysched.scop.dtypes import BFLOAT16, BY_NAME, LONGDOUBLE, UINT8, UINT16, DType, Kind


@dataclass(frozen=True)
class NarrowType(DType):
    """A type whose elements have at most 8 bits, in a byte each.

    Parameters
    ----------
    width : the bits of an element, from the lowest.
    exponent : the bits of a float's exponent; 0 for a whole number.
    bias : of the exponent.
    largest : the code of the largest finite number.
    infinity, not_a_number : codes; None where there is none.
    """

    width: int
    exponent: int = 0
    bias: int = 0
    largest: int = 0
    infinity: int | None = None
    not_a_number: int | None = None

    @property
    def mantissa(self) -> int:
        """The bits of a float's mantissa."""
        return self.width - 1 - self.exponent

    @property
    def has_negative_zero(self) -> bool:
        """Whether zero has a sign; where it has none, its code is that of NaN."""
        return self.not_a_number != 1 << (self.width - 1)

    def value_range(self) -> tuple[int, int]:
        """The least and the largest value of a whole number."""
        if self.kind is Kind.SIGNED:
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        if self.kind is Kind.UNSIGNED:
            return 0, (1 << self.width) - 1
        return super().value_range()


def _whole(name: str, kind: Kind, width: int) -> NarrowType:
    return NarrowType(name, "unsigned char", kind, 8, width=width)


def _float(name: str, exponent: int, mantissa: int, bias: int, largest: int, infinity: int | None = None,
           not_a_number: int | None = None) -> NarrowType:
    return NarrowType(name, "unsigned char", Kind.FLOAT, 8, width=1 + exponent + mantissa, exponent=exponent,
                      bias=bias, largest=largest, infinity=infinity, not_a_number=not_a_number)


POWERS_OF_TWO = NarrowType("float8_e8m0fnu", "unsigned char", Kind.FLOAT, 8, width=8, exponent=8, bias=127,
                           largest=0xFE, not_a_number=0xFF)
"""Exponents alone, without a sign: the scales of blocks."""
NARROW: tuple[NarrowType, ...] = (
    _whole("int4", Kind.SIGNED, 4), _whole("uint4", Kind.UNSIGNED, 4),
    _whole("int2", Kind.SIGNED, 2), _whole("uint2", Kind.UNSIGNED, 2),
    _float("float8_e4m3fn", 4, 3, 7, 0x7E, not_a_number=0x7F),
    _float("float8_e4m3fnuz", 4, 3, 8, 0x7F, not_a_number=0x80),
    _float("float8_e5m2", 5, 2, 15, 0x7B, 0x7C, 0x7E),
    _float("float8_e5m2fnuz", 5, 2, 16, 0x7F, not_a_number=0x80),
    _float("float6_e2m3fn", 2, 3, 1, 0x1F), _float("float6_e3m2fn", 3, 2, 3, 0x1F),
    _float("float4_e2m1fn", 2, 1, 1, 0x7), POWERS_OF_TWO)
"""Source: ONNX's pages "Float stored in 8 bits" and "Float stored in 4 bits", and OCP specifications named there."""
ELEMENT_TYPES: dict[str, DType] = {t.name: t for t in (*BY_NAME.values(), *NARROW) if t != LONGDOUBLE}
"""Every element type of a graph by its name, which is NumPy's or ml_dtypes'."""


def is_narrow(dtype: DType) -> bool:
    """Whether elements are stored and converted, and bits in memory: no kernel computes with them as they are."""
    return dtype == BFLOAT16 or isinstance(dtype, NarrowType)


def carrier_of(dtype: DType) -> DType:
    """The type of the bits of an element in kernels and in C; of a type that is not narrow, itself."""
    return UINT16 if dtype == BFLOAT16 else UINT8 if isinstance(dtype, NarrowType) else dtype


@lru_cache
def element_type(dtype: np.dtype[Any]) -> DType | None:
    """The element type of a NumPy dtype; None where graphs have none."""
    own = from_numpy(dtype)
    if own is not None:
        return None if own == LONGDOUBLE else own
    found = ELEMENT_TYPES.get(dtype.name)
    return found if isinstance(found, NarrowType) else None


def array_type(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of an element type.

    Raises
    ------
    UnsupportedGraphError : it is ml_dtypes', which is not installed.
    """
    if not is_narrow(dtype):
        return to_numpy(dtype)
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedGraphError(f"NumPy has elements of {dtype} from the package ml_dtypes alone",
                                    hint="python -m pip install ml_dtypes") from None
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, dtype.name))
    return found
