"""A uniform way to call any C function: one small C file around the user's, which stays as it is.

The file includes the user's source, so a static function and file-scope variables can be reached, and exports
`polysched_call(void **slots)`, which calls the function, and `polysched_address(int)`, which tells where the
file-scope variables stand.  A `main` in the source gets another name.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from polysched.records import dataclass
from polysched.scop.dtypes import DType

RENAMED_MAIN = "polysched_original_main"

TIMER = """\
#define _GNU_SOURCE
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* out: wall seconds, CPU seconds of this thread, CPU seconds of the process */
__attribute__((visibility("default")))
void polysched_timed(void (*call)(void **), void **slots, double *out) {
  double process = seconds(CLOCK_PROCESS_CPUTIME_ID), thread = seconds(CLOCK_THREAD_CPUTIME_ID);
  double wall = seconds(CLOCK_MONOTONIC);
  call(slots);
  out[0] = seconds(CLOCK_MONOTONIC) - wall;
  out[1] = seconds(CLOCK_THREAD_CPUTIME_ID) - thread;
  out[2] = seconds(CLOCK_PROCESS_CPUTIME_ID) - process;
}
"""


class Origin(Enum):
    """How a value gets to the function."""

    ARGUMENT = "argument"  # passed: a scalar by value, an array by its address
    GLOBAL = "global"      # a file-scope variable; it stands in the shared object
    POINTER = "pointer"    # a file-scope pointer; it is made to point to memory of the runner
    RESULT = "result"      # what the function returns


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One value that a call reads or writes.

    Parameters
    ----------
    name : as the source spells it; `return value` for the result.
    dtype : the type of one element.
    origin : how it gets to the function.
    is_array : an address is passed, not a value.
    shape : elements per dimension; () for a scalar.
    value : what a scalar is set to; None when it is filled like everything else.
    index_extent : its elements are used as subscripts and must lie below this.
    constant : the source never writes it, so what is there is kept.
    elements : sizes that the source reads from it: index and value.
    """

    name: str
    dtype: DType
    origin: Origin
    is_array: bool
    shape: tuple[int, ...] = ()
    value: int | float | None = None
    index_extent: int | None = None
    constant: bool = False
    elements: tuple[tuple[tuple[int, ...], int], ...] = ()


def wrapper(source: Path, function: str, slots: Sequence[Slot]) -> str:
    """The C file around `source` that exports the call of `function` with these slots.

    Arguments have to come in the order of the function's parameters.
    """
    called = RENAMED_MAIN if function == "main" else function
    arguments, before, result = [], [], ""
    for number, slot in enumerate(slots):
        match slot.origin:
            case Origin.ARGUMENT:
                arguments.append(f"slots[{number}]" if slot.is_array else f"*({slot.dtype.c_name} *)slots[{number}]")
            case Origin.POINTER:
                before.append(f"  {slot.name} = slots[{number}];")
            case Origin.RESULT:
                result = f"*({slot.dtype.c_name} *)slots[{number}] = "
            case Origin.GLOBAL:
                pass
    call = f"  {result}{called}({', '.join(arguments)});"
    global_slots = [slot for slot in slots if slot.origin is Origin.GLOBAL]
    cases = [f"  if (number == {i}) return (void *)&{slot.name};" for i, slot in enumerate(global_slots)]
    exported = '__attribute__((visibility("default")))'
    return "\n".join([
        f"#define main {RENAMED_MAIN}", f'#include "{source}"', "#undef main", "",
        exported, "void polysched_call(void **slots) {", "  (void)slots;", *before, call, "}", "",
        exported, "void *polysched_address(int number) {", *cases, "  (void)number;", "  return (void *)0;", "}", ""])


def probe(source: Path, statement: str) -> str:
    """A C file that compiles when `statement` is valid at the end of the user's file."""
    return "\n".join([f"#define main {RENAMED_MAIN}", f'#include "{source}"', "#undef main",
                      f"void polysched_probe(void) {{ {statement} }}", ""])
