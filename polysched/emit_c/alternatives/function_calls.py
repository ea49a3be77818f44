"""A region that calls of a described function compute in part: what runs before, the calls, what runs behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polysched.emit_c.alternatives.native_unit import chosen_c, chosen_name, has_native_code
from polysched.emit_c.c_source import CSource, approximated_of, teams_of
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES
from polysched.emit_c.scalar_code.original_code import inside
from polysched.emit_c.scalar_code.statements import branches
from polysched.errors import NoIntrinsicMatchError
from polysched.tensorize.called import CalledProgram
from polysched.tensorize.functions.call_c import calls_c, conditions_c
from polysched.tensorize.software.polynomials import Polynomial, of_affine, polynomial_c


def with_calls(ordinary: CSource, program: CalledProgram, parts: Sequence[CSource],
               sizes: dict[str, int] | None = None) -> CSource:
    """The region with some statements computed by calls.

    Rewrite:  REGION  ->  { BEFORE  for (...) f(...);  BEHIND }; with sizes `if (sizes) { ... } else REGION`.

    Parameters
    ----------
    ordinary : the whole region as it is emitted without the calls.
    parts : the emitted parts, as `program.parts` names them.
    sizes : values of parameters that the match depends on; the ordinary code stays for others.

    Raises
    ------
    NoIntrinsicMatchError : the calls are no nest of loops, or a temporary's extent is not known.
    """
    native = program.unit if program.unit is not None and has_native_code(program.unit) else None
    calls = calls_c(program.match, called=chosen_name(native) if native is not None else "")
    blocks = [["{", *map(inside, p.text.splitlines()), "}"] for p in parts]
    before = blocks[0] if program.before is not None else []
    behind = blocks[-1] if program.behind is not None else []
    memories = list(_memories(program))
    text = [f"/* {' and '.join(program.match.statements)} by {program.match.function.name} */"]
    lines = [*(line for line, _ in memories), *before, *text, *calls.lines, *behind,
             *(f"free({name});" for _, name in memories)]
    lines = ["{", *map(inside, lines), "}"] if memories else lines
    if tests := _tests(program, sizes or {}):
        lines = branches(" && ".join(tests), map(inside, lines), map(inside, ordinary.text.splitlines()))
    preambles = ["#include <stdlib.h>\n"] * bool(memories) + [p.preamble for p in parts] + [calls.preamble]
    preambles += [chosen_c(native)] if native is not None else []
    return replace(ordinary, text="".join(f"{line}\n" for line in lines), preamble="".join(preambles), prologue=(),
                   teams=teams_of(parts, ordinary, stays=bool(tests)),
                   approximated=approximated_of(parts, ordinary, stays=bool(tests)))


def _tests(program: CalledProgram, sizes: dict[str, int]) -> list[str]:
    """What has to hold of the sizes for the calls to be made."""
    tests = [f"{p.spelling} == {sizes[p.name]}" for p in program.match.scop.parameters if p.name in sizes]
    return [*tests, *conditions_c(program.match)]


def _memories(program: CalledProgram) -> Iterator[tuple[str, str]]:
    """Declarations of the memory for the temporaries that the parts share, and their names."""
    scop = program.match.scop
    spelling = {p.name: p.spelling for p in scop.parameters}
    for array in map(scop.array, program.shared):
        extents = [None if e is None else of_affine(e, quotients=True) for e in array.extents]
        if None in extents:
            raise NoIntrinsicMatchError(f"the extents of the temporary {array.name} are not known", where=scop.name)
        texts = [_extent_c(e, spelling) for e in extents if e is not None]
        inner = "".join(f"[{text}]" for text in texts[1:])
        declared = f"(*{array.name}){inner}" if inner else f"*{array.name}"
        total = " * ".join([f"{array.dtype.bytes}L", *texts])
        size = f"({total} + {2 * ALIGNMENT_BYTES - 1}) / " \
               f"{ALIGNMENT_BYTES} * {ALIGNMENT_BYTES}"
        yield (f"{array.dtype.c_name} {declared} = aligned_alloc({ALIGNMENT_BYTES}, {size}); "
               f"if (!{array.name}) abort();", array.name)


def _extent_c(extent: Polynomial, spelling: Mapping[str, str]) -> str:
    """An extent that is one where there is nothing to keep, since sizes may be negative."""
    text = polynomial_c(extent, spelling)
    return text if not any(extent.keys() - {()}) else f"({text} > 0 ? {text} : 1)"
