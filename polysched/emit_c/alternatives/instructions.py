"""A region that an instruction computes in part: what runs before, a call, what runs behind; other sizes take the rest.

The call's function, with the headers and helpers it needs, goes to the top of the file (`CSource.preamble`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from polysched.emit_c.alternatives.crossover import work_as_written
from polysched.emit_c.alternatives.dispatch import Dispatch, dispatch
from polysched.emit_c.c_source import CSource, approximated_of, teams_of
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES, Memory
from polysched.emit_c.scalar_code.original_code import inside
from polysched.emit_c.scalar_code.statements import branches
from polysched.records import dataclass
from polysched.scop.dtypes import INT32, INT64
from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Array, Parameter, Scop, Storage
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission import EmissionOptions, Emitted, emit_match
from polysched.tensorize.emission.any_size import emit_for_all_sizes, library_for_all_sizes
from polysched.tensorize.emission.function import operand_sources
from polysched.tensorize.emission.library import library_arrays, library_call
from polysched.tensorize.emission.packing import condition_c
from polysched.tensorize.plan_candidates import kept_operands
from polysched.tensorize.program import TensorizedProgram
from polysched.tensorize.software.sizes import argument_of
from polysched.tensorize.software.surroundings import KeptLoop


def with_instruction(ordinary: CSource, program: TensorizedProgram, parts: Sequence[CSource], *,
                     name: str, parallel: bool, emulated: bool = False,
                     constant: Collection[str] = ()) -> CSource:
    """The region with one statement computed by an instruction.

    Rewrite:  REGION  ->  if (instruction is there && sizes) { BEFORE name(arrays); AFTER } else { REGION };
              no condition without parameters for plain C (emulators, library calls).
              Loops that stay around: for (t) { BEFORE name(arrays, t); AFTER }, what is packed once ahead of them.

    Parameters
    ----------
    ordinary : the whole region as it is emitted without the instruction.
    parts : the emitted parts, as `program.parts` names them.
    name : of the new function; unique in the file.
    emulated : plain C stands for the instruction.
    constant : arrays that are packed by calls of their own, which the prologue has under the number -1.
    """
    found = Dispatch() if emulated or program.match.intrinsic.library else dispatch(program.match.intrinsic.isa)
    if program.match.intrinsic.library:
        function = _of_library(program, name)
    else:
        function = _of_nest(program, name, found, parallel=parallel, emulated=emulated, constant=constant)
    prologue = [*function.prologue, *(line for part in parts for line in part.prologue)]
    sizes = [f"(long)({p.spelling})" for p in _unknown(program)]
    call = _guarded_call(program, _call(program.match.fragment.scop, name, function.arrays,
                                        [*(loop.name for loop in program.loops), *sizes], function.written))
    memories = list(shared_memories(program))
    lines = _between_memories(program, memories, _nested(program, parts, call, prologue))
    tests = _tests(program, name, found, sizes)
    if tests:
        lines = _chosen(tests, lines, ordinary.text.splitlines(), "" if program.outside else found.machine)
    elif memories:   # a variable of the same name may be declared ahead
        lines = ["{", *map(inside, lines), "}"]
    preambles = ["#include <stdlib.h>\n"] * bool(memories)
    preambles += [part.preamble for part in parts]
    return replace(ordinary, text="".join(f"{line}\n" for line in lines), preamble="".join([*preambles, function.text]),
                   teams=function.teams + teams_of(parts, ordinary, stays=bool(tests)),
                   approximated=approximated_of(parts, ordinary, stays=bool(tests)),
                   prologue=tuple(line for line in prologue if line[0] < len(program.outside)))


UNFIT = 2   # what a function returns that computed nothing: the instruction is not here, or the sizes do not fit


def alone_or_unfit(as_written: CSource, program: TensorizedProgram, parts: Sequence[CSource], *, name: str,
                   parallel: bool, emulated: bool = False) -> CSource:
    """The region by an instruction, without ordinary code, for the inside of a function that returns an int.

    Rewrite:  REGION  ->  if (instruction is there && sizes) { BEFORE name(arrays); AFTER }
                          else { if (there is much to do) return UNFIT; AS WRITTEN }

    Parameters
    ----------
    as_written : the loops as they are written; they run where the instruction would not pay and no other statement has
        much to do.
    program, parts, name, parallel, emulated : as for `with_instruction`.
    """
    leave = f"return {UNFIT};"
    extents = [loop.extent for loop in program.general.match.fragment.loops] if program.general is not None else []
    others = work_as_written(as_written.scop)
    if not extents or program.least_work <= 1 or others is None:
        return with_instruction(replace(as_written, text=f"{leave}\n", teams=0, approximated=()), program, parts,
                                name=name, parallel=parallel, emulated=emulated)
    work = " * ".join(f"(double){e}" for e in extents)
    enough = " || ".join(f"{text} >= {program.least_work:.0f}" for text in dict.fromkeys((work, *others)))
    lines = [*_sizes(program), f"if ({enough}) {leave}", *as_written.text.splitlines()]
    return with_instruction(replace(as_written, text="".join(f"{line}\n" for line in lines)), program, parts, name=name,
                            parallel=parallel, emulated=emulated)


@dataclass(frozen=True, kw_only=True)
class _Function:
    """What computes the statement.

    Parameters
    ----------
    text : the function, with the headers and helpers that it needs.
    arrays : those that it takes, in the order of its arguments.
    written : those of them that it writes.
    prologue : calls ahead of it, each with the number of the loop around whose inside it serves.
    teams : parallel constructs in it.
    """

    text: str
    arrays: Sequence[str]
    written: Collection[str]
    prologue: Sequence[tuple[int, str]] = ()
    teams: int = 0


def _of_nest(program: TensorizedProgram, name: str, found: Dispatch, *, parallel: bool, emulated: bool,
             constant: Collection[str]) -> _Function:
    """The nest around the instruction as a function, and what packs operands ahead of it."""
    options = EmissionOptions(
        parallel=parallel and program.worth_a_team, zero=program.zero, emulated=emulated, choice=program.choice,
        joined=program.joined,
        keep=tuple(dict.fromkeys((*program.preparations, *kept_operands(program.match, constant)))))
    if program.general is None:
        emitted, fits = emit_match(program.match, name, options), ""
    else:
        made = emit_for_all_sizes(program.general, program.match, name, options, least_work=program.least_work,
                                   ordinary_cycles=program.ordinary_cycles)
        emitted, fits = made.emitted, made.fits
    asked = f"if ({found.condition}) " if found.condition else ""
    return _Function(text=preamble(emitted, found, fits), arrays=emitted.arrays, written=emitted.written,
                     teams=int(options.parallel),
                     prologue=[(at, asked + call) for at, call in _preparations(program, emitted, constant)])


def _between_memories(program: TensorizedProgram, memories: Sequence[Memory], lines: Sequence[str]) -> list[str]:
    """Lines with what the parts share allocated ahead of them and freed behind; extents are computed from sizes."""
    return [*(_sizes(program) if memories else []), _remark(program),
            *(f"{m.declaration} if (!{m.name}) abort();" for m in memories), *lines,
            *(f"free({m.name});" for m in memories)]


def _sizes(program: TensorizedProgram) -> list[str]:
    """Declarations of the sizes under the names that extents are computed from."""
    return [f"const long {argument_of(p.name)} __attribute__((unused)) = {p.spelling};" for p in _unknown(program)]


def _remark(program: TensorizedProgram) -> str:
    """The comment that says what computes which statement."""
    match = program.match
    folded = f", {program.scale.statement} as its {match.intrinsic.contraction.scale}" if program.scale else ""
    return f"/* {match.fragment.statement.name} by {match.intrinsic.name}{folded} */"


def _tests(program: TensorizedProgram, name: str, found: Dispatch, sizes: Sequence[str]) -> list[str]:
    """The conditions under which the function computes the region: the machine has the instruction, the sizes fit."""
    tests = [found.condition] if found.condition else []
    if not program.outside:   # else what is around has asked
        unknown, values = _unknown(program), program.match.fragment.sizes
        tests += [f"{p.spelling} == {values[p.name]}" for p in program.match.fragment.scop.parameters
                  if p not in unknown]
        tests += [f"{name}_fits({', '.join(sizes)})"] if sizes else []
    return tests


def _unknown(program: TensorizedProgram) -> tuple[Parameter, ...]:
    """The parameters whose values only the running program knows, in the order of the arguments for them."""
    names = program.general.unknown if program.general is not None else ()
    return tuple(p for p in program.match.fragment.scop.parameters if p.name in names)


def _chosen(tests: Sequence[str], lines: Sequence[str], otherwise: Sequence[str], machine: str) -> list[str]:
    """`if (tests) { lines } else { otherwise }`, the first only where the preprocessor finds the machine."""
    made = branches(" && ".join(tests), map(inside, lines), map(inside, otherwise))
    if not machine:
        return made
    end = 1 + len(lines)
    return [f"#if {machine}", *made[:end], "} else", "#endif", "{", *made[end + 1:]]


def _nested(program: TensorizedProgram, parts: Sequence[CSource], call: str,
            prologue: Iterable[tuple[int, str]]) -> list[str]:
    """The call between the parts, inside the loops that stay around it."""
    blocks = {id(scop): _block(part) for (scop, _), part in zip(program.parts, parts, strict=True)}
    blocks[id(None)] = []
    lines = [*blocks[id(program.before)], call, *blocks[id(program.after)]]
    for number, around in reversed(list(enumerate(program.around, len(program.outside)))):
        ready = dict.fromkeys(line for at, line in prologue if at == number)
        head, *more = _for(around.loop)
        lines = [*blocks[id(around.before)], *ready, head, *map(inside, [*more, *lines]), "}",
                 *blocks[id(around.after)]]
    return lines


def _for(loop: KeptLoop) -> list[str]:
    """The head of the loop; types that could not count past the last value are counted by a `long`."""
    counts = loop.dtype in (INT32, INT64)
    v, kind = (loop.name, loop.dtype.c_name) if counts else (f"ps_{loop.name}", "long")
    ends = f"{v} = {loop.lower}; {v} <= {loop.upper}; {v}++"
    if loop.descending:
        ends = f"{v} = {loop.upper}; {v} >= {loop.lower}; {v}--"
    return [f"for ({kind} {ends}) {{", *([] if counts else [f"const {loop.dtype.c_name} {loop.name} = {v};"])]


def _guarded_call(program: TensorizedProgram, call: str) -> str:
    """The call, in those iterations of the loops around in which the program has the statement."""
    fragment = program.match.fragment
    bounds = [(loop.lower, loop.upper - loop.lower + 1) for loop in program.loops]
    mine = [fragment.loop(n).lower for n in fragment.kept]
    if fragment.reached_always and bounds == list(zip(mine, fragment.kept_extents, strict=True)):
        return call
    return f"if ({condition_c(fragment.reached.reset_tuple_id(), [loop.name for loop in program.loops])}) {call}"


def _preparations(program: TensorizedProgram, emitted: Emitted,
                  constant: Collection[str]) -> Iterator[tuple[int, str]]:
    """Calls that pack what stays the same inside a loop around, and the number of that loop; -1 for constant arrays."""
    scop = program.match.fragment.scop
    once = dict.fromkeys(kept_operands(program.match, constant), -1)
    for operand, at in (dict(program.preparations) | once).items():
        if emitted.plan.place(operand).packed:
            arrays = operand_sources(program.match, operand)
            values = [loop.name if i < at else str(loop.lower) for i, loop in enumerate(program.loops)]
            yield at, _call(scop, f"{emitted.name}_prepare_{operand}", arrays, values, ())


def shared_temporaries(program: TensorizedProgram) -> tuple[Array, ...]:
    """The temporaries of a region that the instruction uses, or several parts, or iterations of loops around."""
    scop, joined = program.match.fragment.scop, program.joined
    sums = {joined.last.sums} if joined is not None and joined.last is not None else set()   # they have no memory
    return tuple(a for a in scop.arrays if a.storage is Storage.LOCAL and a.name in _shared(program) - sums)


def _shared(program: TensorizedProgram) -> set[str]:
    uses = [{a.array for a in program.match.fragment.statement.accesses},
            *({a.name for a in part.arrays} for part, _ in program.parts)]
    several = {name for name in set().union(*uses) if sum(name in used for used in uses) > 1}
    return uses[0] | several | program.carried


def with_shared_outside(program: TensorizedProgram) -> TensorizedProgram:
    """The program whose parts take the temporaries that they share for arrays declared outside of them."""
    local, shared = {a.name for a in shared_temporaries(program)}, _shared(program)

    def published(array: Array) -> Array:
        if array.name in local:
            return replace(array, storage=Storage.OUTER, c_element=_in_memory(array))
        return replace(array, dead_after=False) if array.name in shared else array

    return program.with_parts(lambda part: replace(part, arrays=tuple(map(published, part.arrays))))


def _in_memory(array: Array) -> str:
    """The C spelling of an element of a region's temporary, whose name is a pointer to memory."""
    return f"(*{array.name})" if array.is_scalar else array.c_element


def shared_memories(program: TensorizedProgram) -> Iterator[Memory]:
    """Memory for the temporaries that the parts share, for the sizes that the code is made for."""
    for array in shared_temporaries(program):
        if program.general is not None:
            extents = [*program.general.temporaries[array.name]]
        else:
            extents = [int(e) for e in extents_of(array, program.match.fragment.sizes) if e is not None]
        kind = array.dtype.c_name
        size = -(-(math.prod(extents) * array.dtype.bytes) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        declared = f"(*{array.name})" + "".join(f"[{e}]" for e in extents[1:]) if len(extents) > 1 else f"*{array.name}"
        yield Memory(array=array.name, name=array.name,
                     declaration=f"{kind} {declared} = aligned_alloc({ALIGNMENT_BYTES}, {max(size, ALIGNMENT_BYTES)});")


def _of_library(program: TensorizedProgram, name: str) -> _Function:
    """The function that calls the library; its first array is the result."""
    if program.general is not None:
        text, fits = library_for_all_sizes(program.general, name, program.scale)
    else:
        text, fits = library_call(program.match, name, program.scale), ""
    headers = "".join(f"#include <{h}>\n" for h in ("stdint.h", *program.match.intrinsic.isa.headers))
    arrays = library_arrays(program.match, program.scale)
    return _Function(text=f"{headers}static {text}{fits}", arrays=arrays, written=arrays[:1])


def _block(part: CSource) -> list[str]:
    return ["{", *map(inside, part.text.splitlines()), "}"]


def _call(scop: Scop, name: str, arrays: Sequence[str], values: Iterable[str], written: Collection[str]) -> str:
    """`name((T *)&C[0][0], (const T *)&A[0][0], ..., t);`."""
    arguments = []
    for array in map(scop.array, arrays):
        element = _in_memory(array) if array.storage is Storage.LOCAL else array.c_element
        zeros = ["0"] * element.count("{}")
        constant = "" if array.name in written else "const "
        arguments.append(f"({constant}{C_NAMES[array.dtype.name]} *)&{element.format(*zeros)}")
    return f"{name}({', '.join([*arguments, *values])});"


def preamble(emitted: Emitted, found: Dispatch, fits: str = "") -> str:
    """Headers, helpers and the function itself, for the top of a file.

    Parameters
    ----------
    fits : a function of the sizes that says whether it may be called.
    """
    shared, own = emitted.shared, emitted.text
    headers = [line for line in shared.splitlines(keepends=True) if line.startswith("#include")]
    helpers = "".join(line for line in shared.splitlines(keepends=True) if not line.startswith("#include"))
    helpers = helpers.replace("static inline ", "static inline __attribute__((unused)) ")
    for p in emitted.plan.places:
        public = f"void {emitted.name}_prepare_{p.operand}("
        own = own.replace(public, f"static {public}")
    own = own.replace(f"void {emitted.name}(", f"static void {emitted.name}(")
    return found.only_there("".join([
        *headers, "#ifndef POLYSCHED_EXACT_ARITHMETIC\n#define POLYSCHED_EXACT_ARITHMETIC\n", helpers, "#endif\n",
        *_emulator(emitted), found.helper, found.compiled_for(own), fits]))


def _emulator(emitted: Emitted) -> Iterable[str]:
    """The plain C of the instruction, once per file."""
    if not emitted.emulator:
        return ()
    guard = f"POLYSCHED_EMULATED_{emitted.plan.match.intrinsic.name.upper()}"
    return (f"#ifndef {guard}\n#define {guard}\n", emitted.emulator, "#endif\n")
