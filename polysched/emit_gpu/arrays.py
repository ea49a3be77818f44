"""Arrays in device memory: one contiguous buffer each, rows as the host has them."""

from __future__ import annotations

import re

import islpy as isl

from polysched.emit_c.loop_ir.index import Linear, constant
from polysched.emit_c.scalar_code.heap import extent_texts
from polysched.emit_gpu.fixed_values import bounds
from polysched.emit_gpu.names import DeviceNames
from polysched.errors import UnsupportedScopError
from polysched.gpu.transfers import DeviceArray
from polysched.records import dataclass
from polysched.scop.scop import Array, Scop

_PLAIN = re.compile(r"(?P<base>.*?)(\[\{\}\])*", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """A buffer of the device.

    Parameters
    ----------
    own : the array, with what is copied.
    name : in device code.
    host : C of the address of the host's first element; empty for an array that only the device has.
    rows : how many the region uses.
    extents : C of the extents behind the first, at the region.
    extent_names : the extents in device code: numbers, or arguments of the kernels.
    fields : source subscripts of an element.
    live_in, live_out : first row that is copied, and one past the last.
    """

    own: DeviceArray
    name: str
    host: str
    rows: Linear
    extents: tuple[str, ...]
    extent_names: tuple[str, ...]
    fields: int
    live_in: tuple[Linear, Linear]
    live_out: tuple[Linear, Linear]

    @property
    def array(self) -> Array:
        return self.own.array

    @property
    def element(self) -> str:
        """How device code spells an element: a template with one field per source subscript."""
        if not self.array.extents:
            return f"{self.name}[0]"
        if self.fields == 1:
            return f"{self.name}[{{}}]"
        index = f"{{}} * {self.extent_names[0]} + {{}}"
        for extent in self.extent_names[1:]:
            index = f"({index}) * {extent} + {{}}"
        return f"{self.name}[{index}]"

    @property
    def row_elements(self) -> str:
        """C of the number of elements of a row, at the region."""
        return " * ".join(text if text.isdecimal() else f"(long)({text})" for text in self.extents) or "1"


def buffer_of(scop: Scop, own: DeviceArray, names: DeviceNames) -> Buffer:
    """The buffer for an array.

    Raises
    ------
    UnsupportedScopError : the host does not have the array in one piece.
    """
    array = own.array
    fields = _fields(scop, array)
    live = not (own.copied_in.is_empty() and own.copied_out.is_empty())
    context, extents = scop.context.params(), _extents(scop, array)
    return Buffer(own=own, name=names.arrays[array.name], host=_address(array, fields) if live else "",
                  rows=_rows(own.used, context)[1], extents=extents, fields=fields,
                  extent_names=tuple(text if text.isdecimal() else wish
                                     for text, wish in zip(extents, names.extents[array.name], strict=True)),
                  live_in=_rows(own.copied_in, context), live_out=_rows(own.copied_out, context))


def _rows(elements: isl.Set, context: isl.Set) -> tuple[Linear, Linear]:
    if elements.is_empty():
        return constant(0), constant(0)
    dimensions = elements.dim(isl.dim_type.set)
    if not dimensions:
        return constant(0), constant(1)
    rows = elements.project_out(isl.dim_type.set, 1, dimensions - 1).reset_tuple_id()
    return bounds(rows, context)


def _fields(scop: Scop, array: Array) -> int:
    return next((len(a.subscripts) for s in scop.statements for a in s.accesses if a.array == array.name),
                len(array.extents))


def _extents(scop: Scop, array: Array) -> tuple[str, ...]:
    """C of the extents behind the first.

    Raises
    ------
    UnsupportedScopError : one is unknown, as of rows behind stored pointers.
    """
    if len(array.extents) < 2:
        return ()
    if any(extent is None for extent in array.extents[1:]):
        raise UnsupportedScopError(f"the rows of {array.name} are not one piece of memory, so it cannot be copied",
                                   where=array.name, hint="declare its shape: double A[n][m]")
    texts = extent_texts(scop, array)
    return texts[-(len(array.extents) - 1):]


def _address(array: Array, fields: int) -> str:
    if not array.extents:
        return f"&{array.c_element or array.name}"
    element = array.c_element or array.name + "[{}]" * fields
    plain = _PLAIN.fullmatch(element)
    if plain is None or element != plain["base"] + "[{}]" * fields or fields not in (1, len(array.extents)):
        raise UnsupportedScopError(f"{array.name} is not one piece of memory, so it cannot be copied",
                                   where=array.name, witness=element.replace("{}", "i"),
                                   hint="arrays of numbers can be copied, members of an array of structures cannot")
    return plain["base"]
