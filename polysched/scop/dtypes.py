"""Element types: names, widths and the arithmetic conversions of C.

Names are NumPy's (`float64`, `int32`, `uint8`) plus `bfloat16`; `c_name` is the spelling in emitted C.
The conversions follow C11, sections 6.3.1.1 (integer promotion) and 6.3.1.8 (usual arithmetic
conversions), for a target where int has 32 and long 64 bits.  A real operand
beside a complex one stays real (C11, G.5).
"""

from __future__ import annotations

from enum import Enum

from polysched.records import dataclass


class Kind(Enum):
    """The family that decides which arithmetic a type has."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    COMPLEX = "complex"


@dataclass(frozen=True)
class DType:
    """One element type.

    Parameters
    ----------
    name : NumPy's name, or `bfloat16`.
    c_name : the C11 spelling (GCC's `_Float16` and `__bf16` for the short floats).
    kind : the arithmetic family.
    bits : the width of an element in bits.
    """

    name: str
    c_name: str
    kind: Kind
    bits: int

    def __post_init__(self) -> None:
        if self.bits % 8 or self.bits <= 0:
            raise ValueError(f"{self.name}: {self.bits} bits is not a whole number of bytes")

    @property
    def bytes(self) -> int:
        """The size of one element in bytes."""
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_integer(self) -> bool:
        return self.kind not in (Kind.FLOAT, Kind.COMPLEX)

    @property
    def is_complex(self) -> bool:
        return self.kind is Kind.COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.kind in (Kind.SIGNED, Kind.FLOAT)

    def value_range(self) -> tuple[int, int]:
        """The least and the largest value of an integer type."""
        if not self.is_integer:
            raise ValueError(f"{self.name} has no integer range")
        if self.kind is Kind.BOOL:
            return 0, 1
        if self.kind is Kind.SIGNED:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1

    def __str__(self) -> str:
        return self.name


BOOL = DType("bool", "_Bool", Kind.BOOL, 8)
INT8 = DType("int8", "signed char", Kind.SIGNED, 8)
INT16 = DType("int16", "short", Kind.SIGNED, 16)
INT32 = DType("int32", "int", Kind.SIGNED, 32)
INT64 = DType("int64", "long", Kind.SIGNED, 64)
UINT8 = DType("uint8", "unsigned char", Kind.UNSIGNED, 8)
UINT16 = DType("uint16", "unsigned short", Kind.UNSIGNED, 16)
UINT32 = DType("uint32", "unsigned int", Kind.UNSIGNED, 32)
UINT64 = DType("uint64", "unsigned long", Kind.UNSIGNED, 64)
FLOAT16 = DType("float16", "_Float16", Kind.FLOAT, 16)
BFLOAT16 = DType("bfloat16", "__bf16", Kind.FLOAT, 16)
FLOAT32 = DType("float32", "float", Kind.FLOAT, 32)
FLOAT64 = DType("float64", "double", Kind.FLOAT, 64)
LONGDOUBLE = DType("longdouble", "long double", Kind.FLOAT, 128)
COMPLEX64 = DType("complex64", "float _Complex", Kind.COMPLEX, 64)
COMPLEX128 = DType("complex128", "double _Complex", Kind.COMPLEX, 128)
CLONGDOUBLE = DType("clongdouble", "long double _Complex", Kind.COMPLEX, 256)

BY_NAME: dict[str, DType] = {
    t.name: t
    for t in (BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
              FLOAT16, BFLOAT16, FLOAT32, FLOAT64, LONGDOUBLE)
}
C_BY_NAME: dict[str, DType] = BY_NAME | {t.name: t for t in (COMPLEX64, COMPLEX128, CLONGDOUBLE)}
"""Complex numbers are read in C alone: NumPy multiplies them otherwise where a part is no number."""

_PARTS = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64, CLONGDOUBLE: LONGDOUBLE}
_OF_PARTS = {part: whole for whole, part in _PARTS.items()}


def part_of(dtype: DType) -> DType:
    """The real type that corresponds to a type (C11 6.2.5): that of both parts of a complex number."""
    return _PARTS.get(dtype, dtype)


def complex_of(part: DType) -> DType | None:
    """The complex type whose parts have a real type; None where C has none."""
    return _OF_PARTS.get(part)


def promote(dtype: DType) -> DType:
    """Integer promotion: everything narrower than int becomes int (C11 6.3.1.1)."""
    return INT32 if dtype.is_integer and dtype.bits < 32 else dtype


def usual_conversion(left: DType, right: DType) -> DType:
    """The common type of the two operands of an arithmetic operator (C11 6.3.1.8).

    Beside a complex operand it is the type of the result; a real one keeps its own.
    """
    if left.is_complex or right.is_complex:
        return _OF_PARTS[usual_conversion(part_of(left), part_of(right))]
    if left.is_float or right.is_float:
        floats = [t for t in (left, right) if t.is_float]
        widest = max(floats, key=lambda t: t.bits)
        if len(floats) == 2 and floats[0].bits == floats[1].bits == 16 and floats[0] != floats[1]:
            return FLOAT32
        return widest
    left, right = promote(left), promote(right)
    if left == right:
        return left
    if left.kind is right.kind:
        return left if left.bits > right.bits else right
    signed, unsigned = (left, right) if left.kind is Kind.SIGNED else (right, left)
    return signed if signed.bits > unsigned.bits else unsigned


def common_type(op: str, left: DType, right: DType) -> DType:
    """The type in which an arithmetic operator computes; that of a shift is its promoted left operand (C11 6.5.7)."""
    return promote(left) if op in ("<<", ">>") else usual_conversion(left, right)
