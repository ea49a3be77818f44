"""Temporary arrays that have no place in the loops: where their memory comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.emit_c.original_code import inside, original_lines
from polysched.emit_c.size_text import size_text
from polysched.emit_c.statements import INDENT
from polysched.scop.scop import Array, Scop, Storage

ALIGNMENT_BYTES = 64
STACK_BYTES = 16384
"""Region-local arrays up to this size stay on the stack; larger ones and those of unknown size are allocated."""
PROTOTYPES = ("void *aligned_alloc(unsigned long, unsigned long);", "void free(void *);")


def fits_stack(array: Array) -> bool:
    """Whether a local array's size is known and small."""
    size = array.dtype.bytes
    for extent in array.extents:
        if extent is None or not extent.is_cst():
            return False
        size *= _constant_value(extent)
    return size <= STACK_BYTES


def _constant_value(extent: isl.PwAff) -> int:
    return max(int(aff.get_constant_val().to_python()) for _, aff in extent.get_pieces())


def extent_texts(scop: Scop, array: Array) -> tuple[str, ...]:
    """The extents of a local array in C: as declared, or as they follow from the loops that it was expanded by."""
    return tuple(text if text is not None else size_text(scop, extent)
                 for text, extent in zip(array.c_extents, array.extents, strict=True) if extent is not None)


def is_expanded(array: Array) -> bool:
    """Whether the array has dimensions that the program did not declare."""
    return array.storage is Storage.LOCAL and None in array.c_extents


def allocated(scop: Scop, array: Array, name: str) -> str:
    """The declaration of an array on the heap, rows contiguous and aligned to a cache line."""
    extents = extent_texts(scop, array)
    rows = "".join(f"[{extent}]" for extent in extents[1:])
    pointer = f"(*{name}){rows}" if rows else f"*{name}"
    bytes_ = " * ".join([*(f"({extent})" for extent in extents), f"sizeof({array.dtype.c_name})"])
    rounded = f"((unsigned long)({bytes_}) + {2 * ALIGNMENT_BYTES - 1}) / {ALIGNMENT_BYTES} * {ALIGNMENT_BYTES}"
    return f"{array.dtype.c_name} {pointer} = aligned_alloc({ALIGNMENT_BYTES}, {rounded});"


def with_memory(scop: Scop, body: Sequence[str], arrays: Mapping[str, str]) -> list[str]:
    """The lines of a region that gets memory for some arrays; without memory the original code runs.

    Parameters
    ----------
    arrays : C name by array.
    """
    there = " && ".join(arrays.values())
    lines = [*PROTOTYPES, *(allocated(scop, scop.array(array), name) for array, name in arrays.items()),
             f"if ({there}) {{", *map(inside, body), "} else {", *original_lines(scop), "}",
             *(f"free({name});" for name in arrays.values())]
    return ["{", *(line if line.startswith("#") else INDENT + line for line in lines), "}"]


def local_declarations(scop: Scop, local_names: Mapping[str, str]) -> list[str]:
    """Declarations of the region-local arrays and scalars."""
    lines = []
    for array in scop.arrays:
        if array.storage is Storage.LOCAL and array.name in local_names:
            extents = "".join(f"[{extent}]" for extent in extent_texts(scop, array))
            lines.append(f"{array.dtype.c_name} {local_names[array.name]}{extents};")
    return lines
