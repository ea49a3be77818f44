"""Temporary arrays that have no place in the loops: where their memory comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import islpy as isl

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import Temporary
from polysched.emit_c.scalar_code.original_code import inside, original_lines
from polysched.emit_c.scalar_code.size_text import size_text
from polysched.emit_c.scalar_code.statements import INDENT, branches
from polysched.records import dataclass
from polysched.scop.dtypes import DType
from polysched.scop.scop import Array, Scop, Storage
from polysched.target.target import BUFFER_ALIGNMENT_BYTES

ALIGNMENT_BYTES = BUFFER_ALIGNMENT_BYTES
STACK_BYTES = LIMITS.stack_bytes
FEW_BYTES = LIMITS.few_bytes
PROTOTYPES = ("void *aligned_alloc(unsigned long, unsigned long);", "void free(void *);")


def fits_stack(array: Array) -> bool:
    """Whether a local array's size is known and small."""
    elements = constant_elements(array)
    return elements is not None and elements * array.dtype.bytes <= STACK_BYTES


def constant_elements(array: Array) -> int | None:
    """How many elements an array has; None where that depends on parameters or is not known."""
    extents = [extent for extent in constant_extents(array) if extent is not None]
    return prod(extents) if len(extents) == len(array.extents) else None


def constant_extents(array: Array) -> tuple[int | None, ...]:
    """The extents of an array; None for those that depend on parameters or are not known."""
    return tuple(None if extent is None or not extent.is_cst() else _constant_value(extent)
                 for extent in array.extents)


def _constant_value(extent: isl.PwAff) -> int:
    return max(int(aff.get_constant_val().to_python()) for _, aff in extent.get_pieces())


def extent_texts(scop: Scop, array: Array) -> tuple[str, ...]:
    """The extents of a local array in C: as declared, or as they follow from the loops that it was expanded by.

    Each is 1 at least: the array is declared ahead of loops, also of those that do not run, and C has no arrays
    without elements (C11 6.7.6.2p5).
    """
    return tuple(_extent_text(scop, text, extent)
                 for text, extent in zip(array.c_extents, array.extents, strict=True) if extent is not None)


def _extent_text(scop: Scop, text: str | None, extent: isl.PwAff) -> str:
    domain = extent.domain()
    one = isl.PwAff.val_on_domain(isl.Set.universe(domain.get_space()), isl.Val(1))
    if scop.context.params().is_subset(extent.ge_set(one).params()):
        return size_text(scop, extent) if text is None else text
    pieces = extent.get_pieces()
    if len(pieces) == 1:   # also where no loop says what it is
        return size_text(scop, isl.PwAff.from_aff(pieces[0][1]).max(one))
    return size_text(scop, extent.union_max(one).gist_params(scop.context.params()))


def is_expanded(array: Array) -> bool:
    """Whether the array has dimensions that the program did not declare."""
    return array.storage is Storage.LOCAL and None in array.c_extents


def allocated(scop: Scop, array: Array, name: str, choice: str = "") -> str:
    """The declaration of an array on the heap, rows contiguous and aligned.

    Parameters
    ----------
    choice : begins an expression of C that goes on with what the heap gives.
    """
    extents = extent_texts(scop, array)
    rows = "".join(f"[{extent}]" for extent in extents[1:])
    pointer = f"(*{name}){rows}" if rows else f"*{name}"
    rounded = f"({_bytes(scop, array)} + {2 * ALIGNMENT_BYTES - 1}) / {ALIGNMENT_BYTES} * {ALIGNMENT_BYTES}"
    return f"{array.dtype.c_name} {pointer} = {choice}aligned_alloc({ALIGNMENT_BYTES}, {rounded});"


def _bytes(scop: Scop, array: Array) -> str:
    factors = [*(f"({extent})" for extent in extent_texts(scop, array)), f"sizeof({array.dtype.c_name})"]
    return f"(unsigned long)({' * '.join(factors)})"


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Memory that a region needs from the heap.

    Parameters
    ----------
    array : the temporary array that it is for.
    name : C name of the pointer.
    declaration : the line that allocates.
    per_thread : it has one part for every thread.
    few : C name of the array on the stack that it is instead, where a few bytes are enough; empty without one.
    few_declaration : the line that declares that array.
    """

    array: str
    name: str
    declaration: str
    per_thread: bool = False
    few: str = ""
    few_declaration: str = ""

    @property
    def released(self) -> str:
        """The line that gives the memory back."""
        return f"if ((void *){self.name} != (void *){self.few}) free({self.name});" if self.few else (
            f"free({self.name});")


def whole_array(scop: Scop, array: str, name: str, few: str = "") -> Memory:
    """Memory for all of an array.

    Parameters
    ----------
    few : C name of an array on the stack for few elements; empty for none.
    """
    made = scop.array(array)
    return Memory(array=array, name=name, few=few, few_declaration=few_bytes(made.dtype, few),
                  declaration=allocated(scop, made, name, choice(_bytes(scop, made), few)))


def parts_of_threads(scop: Scop, temporary: Temporary, *, line_bytes: int, few: str = "") -> Memory:
    """Memory for one buffer per thread, cache lines apart; parameters as for `whole_array`."""
    dtype, elements = scop.array(temporary.array).dtype, _elements(scop, temporary, line_bytes)
    bytes_ = f"(unsigned long)omp_get_max_threads() * ({elements}) * sizeof({dtype.c_name})"
    rounded = f"({bytes_} + {ALIGNMENT_BYTES - 1}) / {ALIGNMENT_BYTES} * {ALIGNMENT_BYTES}"
    given = f"{choice(bytes_, few)}aligned_alloc({ALIGNMENT_BYTES}, {rounded})"
    return Memory(array=temporary.array, name=temporary.memory, per_thread=True, few=few,
                  few_declaration=few_bytes(dtype, few), declaration=f"{dtype.c_name} *{temporary.memory} = {given};")


def choice(bytes_: str, few: str) -> str:
    """The start of an expression that takes the array on the stack, if there is one, where few bytes are enough."""
    return f"{bytes_} <= {FEW_BYTES} ? (void *){few} : " if few else ""


def few_bytes(dtype: DType, name: str) -> str:
    if not name:
        return ""
    return f"{dtype.c_name} {name}[{FEW_BYTES // dtype.bytes}] __attribute__((aligned({ALIGNMENT_BYTES})));"


def declared(memories: Sequence[Memory]) -> list[str]:
    """The lines that ask for memory, behind the arrays on the stack for calls that need few bytes."""
    return [*(memory.few_declaration for memory in memories if memory.few), *(m.declaration for m in memories)]


def part_of_thread(scop: Scop, temporary: Temporary, *, line_bytes: int) -> str:
    """The declaration of the running thread's buffer."""
    extents = _extents(scop, temporary)
    c_name = scop.array(temporary.array).dtype.c_name
    start = f"{temporary.memory} + omp_get_thread_num() * ({_elements(scop, temporary, line_bytes)})"
    if len(extents) == 1:
        return f"{c_name} *{temporary.name} = {start};"
    rows = "".join(f"[{extent}]" for extent in extents[1:])
    return f"{c_name} (*{temporary.name}){rows} = ({c_name} (*){rows})({start});"


def _extents(scop: Scop, temporary: Temporary) -> tuple[str, ...]:
    texts = extent_texts(scop, scop.array(temporary.array))
    spans = temporary.spans or (0,) * len(temporary.kept)
    return tuple(str(span) if span else texts[k] for k, span in zip(temporary.kept, spans, strict=True))


def _elements(scop: Scop, temporary: Temporary, line_bytes: int) -> str:
    """The elements of one part: those of the buffer in whole cache lines, and one line more."""
    line = max(ALIGNMENT_BYTES, line_bytes) // scop.array(temporary.array).dtype.bytes
    count = " * ".join(f"(long)({extent})" for extent in _extents(scop, temporary))
    return f"({count} + {2 * line - 1}) / {line} * {line}"


def prototypes(memories: Sequence[Memory]) -> list[str]:
    """What has to be declared, without headers; without OpenMP there is one thread."""
    lines = list(PROTOTYPES) if memories else []
    if any(memory.per_thread for memory in memories):
        lines += ["#ifdef _OPENMP", "int omp_get_max_threads(void), omp_get_thread_num(void);", "#else",
                  "#define omp_get_max_threads() 1", "#define omp_get_thread_num() 0", "#endif"]
    return lines


def ends(memories: Sequence[Memory]) -> list[str]:
    """The end of what `prototypes` defined."""
    if not any(memory.per_thread for memory in memories):
        return []
    return ["#ifndef _OPENMP", "#undef omp_get_max_threads", "#undef omp_get_thread_num", "#endif"]


def with_memory(scop: Scop, body: Sequence[str], memories: Sequence[Memory]) -> list[str]:
    """The lines of a region that gets memory; without memory the original code runs."""
    there = " && ".join(memory.name for memory in memories)
    lines = [*prototypes(memories), *declared(memories),
             *branches(there, map(inside, body), original_lines(scop)),
             *(memory.released for memory in memories), *ends(memories)]
    return ["{", *(line if line.startswith("#") else INDENT + line for line in lines), "}"]


def local_declarations(scop: Scop, local_names: Mapping[str, str]) -> list[str]:
    """Declarations of the region-local arrays and scalars."""
    lines = []
    for array in scop.arrays:
        if array.storage is Storage.LOCAL and array.name in local_names:
            extents = "".join(f"[{extent}]" for extent in extent_texts(scop, array))
            lines.append(f"{array.dtype.c_name} {local_names[array.name]}{extents};")
    return lines
