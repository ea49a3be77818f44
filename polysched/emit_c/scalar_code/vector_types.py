"""GCC's vector types, declared only when used; no header is needed.

Manual: "Using Vector Instructions through Built-in Functions", GCC 12 manual, section 6.52; clang accepts the same.
The types may alias their elements and need only the alignment of an element.
"""

from __future__ import annotations

from dataclasses import field

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.records import dataclass
from polysched.scop.dtypes import DType, Kind

_LETTER = {Kind.FLOAT: "f", Kind.SIGNED: "i", Kind.UNSIGNED: "u"}
_INTEGERS = {8: "signed char", 16: "short", 32: "int", 64: "long"}


def has_vectors(dtype: DType) -> bool:
    """Whether vectors of this element type compute as C computes the scalar."""
    return dtype.kind in _LETTER and dtype.bits <= 64 and not (dtype.is_float and dtype.bits < 32)


@dataclass(frozen=True)
class VectorTypes:
    """Collects the vector types of one region while it is printed."""

    taken: TakenNames
    declarations: dict[str, str] = field(default_factory=dict)

    def name(self, dtype: DType, lanes: int, *, optional: bool = False) -> str:
        """The type's name, from now on declared; `optional` where some targets' code does not come to use it."""
        short = f"{_LETTER[dtype.kind]}{dtype.bits}x{lanes}"
        return self._declared(short, dtype.c_name, dtype.bytes, lanes, ", unused" if optional else "")

    def mask(self, bits: int, lanes: int) -> str:
        """The signed integer vector that a comparison of elements of this width gives: 0 or -1 per lane."""
        return self._declared(f"i{bits}x{lanes}", _INTEGERS[bits], bits // 8, lanes)

    def _declared(self, short: str, element: str, size: int, lanes: int, also: str = "") -> str:
        name = self.taken.fresh(f"polysched_{short}")
        if not (also and name in self.declarations):
            self.declarations[name] = (f"typedef {element} {name} __attribute__((vector_size({size * lanes}), "
                                       f"aligned({size}), may_alias{also}));")
        return name
