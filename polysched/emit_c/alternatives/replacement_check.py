"""What runs a replaced statement beside the original: two C functions of the same arrays, and how results compare.

    for i, j, k: C[i][j] += A[i][k] * B[k][j]     (the statement alone, its loops in the order of the program)
    for t { polysched_S1(C, A, B, t); }           (its nest around the instruction, as it stands in the emitted region)

The first is printed from the Scop without any rewrite of `tensorize`; the second is what `instructions` prints.
A check is a value: `measure.bit_for_bit` compiles and runs it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from polysched.emit_c.alternatives.checked_values import CheckedArray, Equality, checked, equality_of
from polysched.emit_c.alternatives.instructions import with_instruction, with_shared_outside
from polysched.emit_c.alternatives.plain_arrays import (
    as_written,
    as_written_function,
    with_arrays_of,
    with_plain_arrays,
)
from polysched.emit_c.alternatives.smaller_programs import replaced_statements, some_elements
from polysched.emit_c.c_source import CSource
from polysched.emit_c.function import CFunction, with_region
from polysched.emit_c.loop_ir.names import taken_names
from polysched.records import dataclass
from polysched.scop.scop import Scop, Storage
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.program import LoopAround, TensorizedProgram, part
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.several import at_sizes
from polysched.tensorize.software.surroundings import inside_loops

EXPORTED = "#pragma GCC visibility push(default)\n"
OWN_NAMES = ("original", "replaced", "skipped", "prepare", "timed", "instruction", "seconds", "start")


def free_entry(entry: str, *programs: Scop) -> str:
    """The entry, extended until no name of a check is one of the programs' own."""
    taken = frozenset().union(*(taken_names(p).visible for p in programs))
    while any(f"{word}_{entry}" in taken for word in OWN_NAMES):
        entry += "_"
    return entry


@dataclass(frozen=True, kw_only=True)
class ReplacementCheck:
    """The original of a replaced statement and the code that stands for it, ready to be compiled and run.

    Parameters
    ----------
    statement, instruction : names, for messages.
    entry : of the functions: `original_ENTRY` and `replaced_ENTRY`, both of `parameters` and pointers to `arrays`; the
        second sets `skipped_ENTRY` where it leaves these sizes to ordinary code.
    sizes : iterations of every loop, in words.
    original_text, replaced_text : whole translation units.
    flags : what compiles or links the instruction or library.
    sampled : the original leaves most of the result as it was; these elements do not compare.
    """

    statement: str
    instruction: str
    entry: str
    sizes: str
    original_text: str
    replaced_text: str
    arrays: tuple[CheckedArray, ...]
    parameters: tuple[int, ...]
    equality: Equality
    flags: tuple[str, ...] = ()
    sampled: bool = False


def replacement_check(program: TensorizedProgram, *, entry: str, parallel: bool, emulated: bool,
                      sizes: Mapping[str, int] | None = None, sampled: bool = False,
                      constant: Collection[str] = ()) -> ReplacementCheck:
    """The check of a program's statement, with those that its nest stands for, too (a cleared result, a factor).

    Parameters
    ----------
    entry : a name that no other check in the same process has; the check's own is longer where the program has such
        names.
    sizes : of the parameters, for code of all sizes; those that the match was found at where None.
    sampled : the original computes some elements of the result only, for programs that take long.
    constant : arrays that `prepare_ENTRY` packs.

    Raises
    ------
    UnsupportedScopError : the statement alone is no function of arrays (unknown extents, too much memory).
    """
    values = program.match.fragment.sizes if sizes is None else sizes
    entry = free_entry(entry, program.match.fragment.scop)
    scop = with_plain_arrays(program.match.fragment.scop, values)
    found, fragment = program.match, program.match.fragment
    alone = part(scop, replaced_statements(program))
    assert alone is not None
    stripped = replace(program, match=replace(found, fragment=replace(fragment, scop=scop)), before=None, after=None,
                       outside=(), around=tuple(LoopAround(loop=loop, before=None, after=None)
                                                for loop in program.loops), least_work=0.0,
                       ordinary_cycles=0.0)
    original = as_written_function(some_elements(alone, found) if sampled else alone, f"original_{entry}")
    region = with_instruction(_left_out(original, entry), stripped, (), name=f"instruction_{entry}", parallel=parallel,
                              emulated=emulated, constant=constant)
    ran = _at(program, values)
    return ReplacementCheck(
        statement=fragment.statement.name, instruction=found.intrinsic.name, entry=entry, sizes=_sizes(ran.fragment),
        original_text=EXPORTED + original.text, replaced_text=_replaced_text(original, region, entry),
        arrays=tuple(checked(a, ran, alone, equality_of(ran, alone)) for a in alone.arrays),
        parameters=tuple(values[p.name] for p in alone.parameters), equality=equality_of(ran, alone),
        flags=found.intrinsic.isa.flags if found.intrinsic.library else (), sampled=sampled)


def region_check(program: TensorizedProgram, given: Scop, *, entry: str, parallel: bool, emulated: bool,
                 sizes: Mapping[str, int] | None = None) -> ReplacementCheck:
    """The check of a whole region: as the user wrote it, against the prepared program around the instruction.

    What no instruction computes runs as the prepared program has it, so that what `tensorize.preparing` changed is
    compared as well.

    Parameters
    ----------
    given : the region before anything was rewritten, without loops around it.
    entry, sizes : as for `replacement_check`.

    Raises
    ------
    UnsupportedScopError : the region is no function of arrays (unknown extents, too much memory).
    """
    values = program.match.fragment.sizes if sizes is None else sizes
    found, fragment = program.match, program.match.fragment
    entry = free_entry(entry, given, fragment.scop)
    symbolic = program.general is not None
    plain = with_plain_arrays(given, values, temporaries=True, symbolic=symbolic)
    original = as_written_function(plain, f"original_{entry}")
    arrays = {a.name: a for a in plain.arrays}

    placed = partial(with_arrays_of, arrays=arrays, temporaries=True)
    placed_match = replace(found, fragment=replace(fragment, scop=placed(fragment.scop)))
    whole = replace(program, least_work=0.0, ordinary_cycles=0.0, match=placed_match)
    whole = with_shared_outside(whole.with_parts(placed))
    parts = [as_written(inside_loops(p, loops, fragment.sizes)) for p, loops in whole.parts]
    region = with_instruction(_left_out(original, entry), whole, parts, name=f"instruction_{entry}", parallel=parallel,
                              emulated=emulated)
    ran, numbers = _at(program, values), with_plain_arrays(given, values)
    equality = _of_whole(ran, numbers)
    return ReplacementCheck(
        statement=fragment.statement.name, instruction=found.intrinsic.name, entry=entry, sizes=_sizes(ran.fragment),
        original_text=EXPORTED + original.text, replaced_text=_replaced_text(original, region, entry),
        arrays=tuple(replace(checked(a, ran, numbers, equality), compared=not given.array(a.name).dead_after)
                     for a in numbers.arrays if given.array(a.name).storage is not Storage.LOCAL),
        parameters=tuple(values[p.name] for p in given.parameters), equality=equality,
        flags=found.intrinsic.isa.flags if found.intrinsic.library else ())


def at_other_sizes(check: ReplacementCheck, program: TensorizedProgram, given: Scop,
                   sizes: Mapping[str, int]) -> ReplacementCheck:
    """The same code of a region for all sizes at others: nothing is emitted or compiled again.

    Raises
    ------
    UnsupportedScopError : too much memory.
    """
    ran, numbers = _at(program, sizes), with_plain_arrays(given, sizes)
    arrays = tuple(replace(checked(a, ran, numbers, check.equality), compared=not given.array(a.name).dead_after)
                   for a in numbers.arrays if given.array(a.name).storage is not Storage.LOCAL)
    return replace(check, sizes=_sizes(ran.fragment), arrays=arrays,
                   parameters=tuple(sizes[p.name] for p in given.parameters))


def _at(program: TensorizedProgram, values: Mapping[str, int]) -> Match:
    """The match of code for all sizes at some of them."""
    fragment, tables = program.match.fragment, bool(program.match.intrinsic.contraction.tables)
    there = fragment if values == fragment.sizes else at_sizes(fragment, values, tables=tables)
    assert there is not None
    return replace(program.match, fragment=there)


def _of_whole(found: Match, given: Scop) -> Equality:
    """What the match promises of all that the region computes."""
    equality = equality_of(found, given)
    computed = {a.array for s in given.statements for a in s.writes}
    own = found.fragment.statement
    reads = {a.array for a in own.reads} - {own.access(found.fragment.target).array}
    return Equality.ROUNDED if equality is Equality.NUMBERS and reads & computed else equality


def _left_out(original: CFunction, entry: str) -> CSource:
    """Instead of the ordinary code a note that it would run."""
    return replace(original.source, text=f"skipped_{entry} = 1;\n")


def _replaced_text(original: CFunction, region: CSource, entry: str) -> str:
    """The translation unit of the code with the instruction."""
    renamed = replace(original, signature=replace(original.signature, name=f"replaced_{entry}"))
    return f"{EXPORTED}int skipped_{entry};\n{with_region(renamed, region).text}{with_timing(renamed, region)}"


def with_timing(replaced: CFunction, region: CSource) -> str:
    """`prepare_ENTRY`, which packs constant arrays, and `timed_ENTRY`: seconds per call, of two behind another."""
    entry = replaced.signature.name.removeprefix("replaced_")
    declared = ", ".join(p.c_declaration for p in replaced.signature.parameters) or "void"
    call = f"{replaced.signature.name}({', '.join(p.name for p in replaced.signature.parameters)});"
    ready = " ".join(dict.fromkeys(line for at, line in region.prologue if at < 0))
    return f"""#include <time.h>
void prepare_{entry}({declared}) {{ {ready} }}
static double seconds_{entry}(void) {{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}}
double timed_{entry}({declared}) {{
    {call}
    const double start_{entry} = seconds_{entry}();
    {call} {call}
    return (seconds_{entry}() - start_{entry}) / 2;
}}
"""


def _sizes(fragment: Fragment) -> str:
    extents = {loop.name: loop.extent for loop in fragment.loops}
    extents |= dict(zip(fragment.kept, fragment.kept_extents, strict=True))
    return " x ".join(f"{name} {extent}" for name, extent in extents.items())
