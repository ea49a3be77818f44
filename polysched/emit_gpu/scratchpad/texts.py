"""Small texts of C that an accelerator's program is put together from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from polysched.emit_c.loop_ir.index import Linear, constant, variable
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.gpu.boxes import Edge
from polysched.gpu.scratchpad.placement import Placed
from polysched.gpu.scratchpad.plan import Buffer
from polysched.gpu.scratchpad.stages import Subscript

PREAMBLE = """\
#ifndef POLYSCHED_SCRATCHPAD
#define POLYSCHED_SCRATCHPAD
static inline long polysched_scratchpad_max(long a, long b) { return a > b ? a : b; }
static inline long polysched_scratchpad_min(long a, long b) { return a < b ? a : b; }
/* What a buffer held before its life is worth nothing: NaN in every type of float. */
static inline void polysched_scratchpad_poison(void *first, long bytes) { __builtin_memset(first, 255, bytes); }
#endif
"""


def type_name(c_type: str) -> str:
    """The name of a type whose accesses may alias the bytes of a memory."""
    return "polysched_scratchpad_" + "".join(c if c.isalnum() else "_" for c in c_type)


def type_lines(c_types: Iterable[str]) -> str:
    """The declarations of these types; several regions of a file may have them."""
    return "".join(f"typedef {own} {type_name(own)} __attribute__((may_alias));\n" for own in sorted(set(c_types)))


def linear(edge: Edge) -> Linear:
    """The least subscript of a dimension of a box."""
    return sum((variable(name) * factor for name, factor in edge.factors), constant(edge.constant))


def total(terms: Iterable[tuple[str, int]], number: int = 0) -> str:
    """A sum of variables with factors, and a number."""
    text = ""
    for name, factor in terms:
        if not factor:
            continue
        scaled = name if abs(factor) == 1 else f"{abs(factor)} * {name}"
        text = f"{text} {'-' if factor < 0 else '+'} {scaled}" if text else f"-{scaled}" if factor < 0 else scaled
    if not text:
        return str(number)
    return text if not number else f"{text} {'-' if number < 0 else '+'} {abs(number)}"


def at(subscript: Subscript, names: Mapping[str, str]) -> str:
    """A subscript, with a variable for each iterator."""
    return total(((names[name], factor) for name, factor in subscript.factors), subscript.constant)


def minus(left: str, right: str) -> str:
    """A difference; the right one in brackets where it is a sum."""
    if right == "0":
        return left
    return f"{left} - {right}" if right.isalnum() else f"{left} - ({right})"


def most(left: str, right: str) -> str:
    """The larger one."""
    return _chosen("max", left, right)


def least(left: str, right: str) -> str:
    """The smaller one."""
    return _chosen("min", left, right)


def _chosen(which: str, left: str, right: str) -> str:
    if left == right:
        return left
    try:
        return str(max(int(left), int(right)) if which == "max" else min(int(left), int(right)))
    except ValueError:
        return f"polysched_scratchpad_{which}({left}, {right})"


def nested(loops: Sequence[tuple[str, str, str]], body: Sequence[str]) -> list[str]:
    """Loops from one value up to another, around lines."""
    lines = list(body)
    for name, first, end in reversed(loops):
        lines = [f"for (long {name} = {first}; {name} < {end}; {name}++) {{", *(INDENT + line for line in lines), "}"]
    return lines


def pointer(buffer: Buffer, memory: str, slots: Sequence[Placed], turn: str) -> str:
    """The declaration of a buffer: a pointer into its memory, to the slot of a turn."""
    rows = "".join(f"[{extent}]" for extent in buffer.extents[1:])
    own, name = type_name(buffer.c_type), buffer.name
    place = str(slots[0].offset) if len(slots) == 1 else (
        f"({turn}) % {len(slots)} ? {slots[1].offset} : {slots[0].offset}")
    where = f"{memory} + {place}" if place.isdecimal() else f"{memory} + ({place})"
    if rows:
        return f"{own} (*const {name}){rows} = ({own} (*){rows})({where});"
    return f"{own} *const {name} = ({own} *)({where});"


def poisoned(name: str, buffer: Buffer) -> str:
    """The start of a buffer's life."""
    return f"polysched_scratchpad_poison({name}, {buffer.bytes});"
