"""A whole C function around the emitted region of a Scop that came from no C file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polysched.scop.dtypes import BFLOAT16, FLOAT16, DType
from polysched.scop.scop import Array, Parameter, Scop, Storage

FUNCTION = "polysched_kernel"
ALIGNMENT = 64

PROLOGUE = """#include <math.h>
#include <stdlib.h>

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) (((n) > 0) ? ((n) + (d) - 1) / (d) : -(-(n) / (d)))
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class CFunction:
    """A C function and how it is called.

    Parameters
    ----------
    text : the whole translation unit; it exports `FUNCTION`, which returns 0, or 1 when there is no memory.
    parameters : the first arguments, integers.
    arrays : the arguments behind them: a pointer for an array or a written scalar, else a value.
    """

    text: str
    parameters: tuple[Parameter, ...]
    arrays: tuple[Array, ...]


def with_heap_arrays(scop: Scop) -> Scop:
    """The Scop with its local arrays outside the region, so that the function around it can put them on the heap.

    Python's temporaries are as large as its data; on the stack they would overflow it.  Local scalars stay
    inside, where a schedule may give each thread its own.
    """
    arrays = tuple(replace(a, storage=Storage.OUTER) if a.storage is Storage.LOCAL and a.extents else a
                   for a in scop.arrays)
    return replace(scop, arrays=arrays)


def passed_by_value(array: Array) -> bool:
    """Whether an argument is a scalar that is only read."""
    return array.is_scalar and array.constant


def carrier(dtype: DType) -> str:
    """The C type that carries a scalar by value; short floats travel as float."""
    return "float" if dtype in (FLOAT16, BFLOAT16) else dtype.c_name


def c_function(scop: Scop, region: str) -> CFunction:
    """The function around the emitted text of a Scop whose local arrays are `with_heap_arrays`."""
    arguments = tuple(a for a in scop.arrays if a.storage is Storage.ARGUMENT)
    heap = [a for a in scop.arrays if a.storage is Storage.OUTER]
    signature = [f"{p.dtype.c_name} {p.spelling}" for p in scop.parameters] + [_declared(a) for a in arguments]
    body = [f"{a.dtype.c_name} {a.name} = ({a.dtype.c_name}){a.name}_value;" for a in arguments if _is_short(a)]
    for array in heap:
        body += _allocated(array)
    if heap:
        body += [f"const int out_of_memory = {' || '.join(f'!{a.name}' for a in heap)};", "if (!out_of_memory) {"]
    body += region.splitlines()
    body += ["}", *(f"free({a.name});" for a in heap), "return out_of_memory;"] if heap else ["return 0;"]
    inside = "\n".join(line if line.startswith("#") else f"  {line}" for line in body)
    head = f'__attribute__((visibility("default")))\nint {FUNCTION}({", ".join(signature)})'
    return CFunction(text=f"{PROLOGUE}\n{head}\n{{\n{inside}\n}}\n", parameters=scop.parameters, arrays=arguments)


def _is_short(array: Array) -> bool:
    return passed_by_value(array) and array.dtype in (FLOAT16, BFLOAT16)


def _pointer(array: Array, *, constant: bool) -> str:
    """A pointer to an array's first element, or row, under the array's name."""
    inner = "".join(f"[{extent}]" for extent in array.c_extents[1:])
    kind = f"const {array.dtype.c_name}" if constant else array.dtype.c_name
    return f"{kind} (*restrict {array.name}){inner}" if inner else f"{kind} *restrict {array.name}"


def _declared(array: Array) -> str:
    if passed_by_value(array):
        suffix = "_value" if _is_short(array) else ""
        return f"{carrier(array.dtype)} {array.name}{suffix}"
    return _pointer(array, constant=array.constant)


def _allocated(array: Array) -> list[str]:
    """An array on the heap, aligned to a cache line; one of no elements gets a line of its own too."""
    count = " * ".join(f"(unsigned long)max({extent}, 0)" for extent in array.c_extents)
    size = f"({count}) * sizeof({array.dtype.c_name})"
    rounded = f"({size} + {ALIGNMENT}) / {ALIGNMENT} * {ALIGNMENT}"
    return [f"{_pointer(array, constant=False)} = aligned_alloc({ALIGNMENT}, {rounded});"]
