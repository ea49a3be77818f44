"""A region that an instruction computes in part: what runs before, a call, what runs behind; other sizes take the rest.

The call's function, with the headers and helpers it needs, goes to the top of the file (`CSource.preamble`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from polysched.emit_c.c_source import CSource
from polysched.emit_c.heap import ALIGNMENT_BYTES, Memory
from polysched.emit_c.original_code import inside
from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Array, Scop, Storage
from polysched.tensorize.emission import EmissionOptions, Emitted, emit_match, library_call
from polysched.tensorize.program import TensorizedProgram
from polysched.tensorize.semantics import C_NAMES


def with_instruction(ordinary: CSource, program: TensorizedProgram, before: CSource | None, after: CSource | None, *,
                     name: str, parallel: bool, emulated: bool = False) -> CSource:
    """The region with one statement computed by an instruction.

    Rewrite:  REGION  ->  if (sizes) { BEFORE name(arrays); AFTER } else { REGION }; without parameters no condition.

    Parameters
    ----------
    ordinary : the whole region as it is emitted without the instruction.
    before, after : the emitted parts.
    name : of the new function; unique in the file.
    emulated : plain C stands for the instruction.
    """
    scop, memories = program.match.fragment.scop, list(shared_memories(program))
    if program.match.intrinsic.library:
        arrays, own = _library(program, name)
    else:
        emitted = emit_match(program.match, name, EmissionOptions(
            parallel=parallel, zero=program.zero, emulated=emulated, choice=program.choice))
        arrays, own = emitted.arrays, preamble(emitted)
    call = _call(scop, name, arrays)
    lines = [f"/* {program.match.fragment.statement.name} by {program.match.intrinsic.name} */"]
    lines += [*(f"{m.declaration} if (!{m.name}) abort();" for m in memories), *_block(before), call, *_block(after),
              *(f"free({m.name});" for m in memories)]
    sizes = program.match.fragment.sizes
    tests = [f"{p.spelling} == {sizes[p.name]}" for p in scop.parameters]
    if tests:
        lines = [f"if ({' && '.join(tests)}) {{", *map(inside, lines), "} else {",
                 *map(inside, ordinary.text.splitlines()), "}"]
    preambles = ["#include <stdlib.h>\n"] * bool(memories)
    preambles += [part.preamble for part in (before, after) if part is not None]
    return replace(ordinary, text="".join(f"{line}\n" for line in lines),
                   preamble="".join([*preambles, own]))


def shared_temporaries(program: TensorizedProgram) -> tuple[Array, ...]:
    """The temporaries of a region that the instruction uses, or both what runs before and what runs behind it."""
    scop = program.match.fragment.scop
    own = {a.array for a in program.match.fragment.statement.accesses}
    sides = [{a.name for a in part.arrays} for part in (program.before, program.after) if part is not None]
    common = own | (sides[0] & sides[1] if len(sides) == 2 else set())
    return tuple(a for a in scop.arrays if a.storage is Storage.LOCAL and a.name in common)


def with_shared_outside(program: TensorizedProgram) -> TensorizedProgram:
    """The program whose parts take the temporaries that they share for arrays declared outside of them."""
    shared = {a.name for a in shared_temporaries(program)}

    def published(part: Scop | None) -> Scop | None:
        if part is None:
            return None
        return replace(part, arrays=tuple(
            replace(a, storage=Storage.OUTER, c_element=f"(*{a.name})" if a.is_scalar else a.c_element)
            if a.name in shared else a for a in part.arrays))

    return replace(program, before=published(program.before), after=published(program.after))


def shared_memories(program: TensorizedProgram) -> Iterator[Memory]:
    """Memory for the temporaries that the parts share, for the sizes that the code is made for."""
    for array in shared_temporaries(program):
        extents = [int(e) for e in extents_of(array, program.match.fragment.sizes) if e is not None]
        kind = array.dtype.c_name
        size = -(-math.prod(extents) * array.dtype.bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        declared = f"(*{array.name})" + "".join(f"[{e}]" for e in extents[1:]) if len(extents) > 1 else f"*{array.name}"
        yield Memory(array=array.name, name=array.name,
                     declaration=f"{kind} {declared} = aligned_alloc({ALIGNMENT_BYTES}, {max(size, ALIGNMENT_BYTES)});")


def _library(program: TensorizedProgram, name: str) -> tuple[tuple[str, ...], str]:
    """The arrays, and the function that calls the library with the headers that it needs."""
    text = library_call(program.match, name)
    headers = "".join(f"#include <{h}>\n" for h in ("stdint.h", *program.match.intrinsic.isa.headers))
    return tuple(dict.fromkeys(v.array for v in program.match.layouts)), f"{headers}static {text}"


def _block(part: CSource | None) -> list[str]:
    return [] if part is None else ["{", *map(inside, part.text.splitlines()), "}"]


def _call(scop: Scop, name: str, arrays: tuple[str, ...]) -> str:
    """`name((const T *)&A[0][0], ...);`"""
    written = arrays[0]
    arguments = []
    for array in map(scop.array, arrays):
        zeros = ["0"] * array.c_element.count("{}")
        constant = "" if array.name == written else "const "
        arguments.append(f"({constant}{C_NAMES[array.dtype.name]} *)&{array.c_element.format(*zeros)}")
    return f"{name}({', '.join(arguments)});"


def preamble(emitted: Emitted) -> str:
    """Headers, helpers and the function itself, for the top of a file."""
    shared, own = emitted.shared, emitted.text
    headers = [line for line in shared.splitlines(keepends=True) if line.startswith("#include")]
    helpers = [line for line in shared.splitlines(keepends=True) if not line.startswith("#include")]
    features = ",".join(sorted({f.removeprefix("-m") for f in emitted.flags if f.startswith("-m")}))
    pushed, popped = _enabled(features)
    public = f"void {emitted.name}("
    return "".join([*headers, "#ifndef POLYSCHED_EXACT_ARITHMETIC\n#define POLYSCHED_EXACT_ARITHMETIC\n", *helpers,
                    "#endif\n", *_emulator(emitted), *pushed, own.replace(public, f"static {public}"), *popped])


def _emulator(emitted: Emitted) -> Iterable[str]:
    """The plain C of the instruction, once per file."""
    if not emitted.emulator:
        return ()
    guard = f"POLYSCHED_EMULATED_{emitted.plan.match.intrinsic.name.upper()}"
    return (f"#ifndef {guard}\n#define {guard}\n", emitted.emulator, "#endif\n")


def _enabled(features: str) -> tuple[Iterable[str], Iterable[str]]:
    """Pragmas around a function that uses an instruction set that the file's flags may not enable."""
    if not features:
        return (), ()
    clang = f'#pragma clang attribute push(__attribute__((target("{features}"))), apply_to = function)\n'
    gcc = f'#pragma GCC push_options\n#pragma GCC target("{features}")\n'
    return (("#ifdef __clang__\n", clang, "#else\n", gcc, "#endif\n"),
            ("#ifdef __clang__\n#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n",))
