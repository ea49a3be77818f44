"""What runs statements that became calls of a described function beside the original, as `replacement_check` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from polysched.emit_c.alternatives.checked_values import (
    LARGEST_WHOLE,
    CheckedArray,
    Equality,
    Values,
    cuts,
    expressions_of,
    limits_values,
    rounds,
    subscripted_below,
)
from polysched.emit_c.alternatives.function_calls import with_calls
from polysched.emit_c.alternatives.plain_arrays import (
    as_written,
    as_written_function,
    with_arrays_of,
    with_plain_arrays,
)
from polysched.emit_c.alternatives.replacement_check import EXPORTED, ReplacementCheck, free_entry, with_timing
from polysched.emit_c.alternatives.smaller_programs import TRIED_SIZES
from polysched.emit_c.function import with_region
from polysched.scop.body import Binary, Load, walk
from polysched.scop.points import box_size, fix_parameters, isl_value, nearest_parameters, value_at
from polysched.scop.scop import Array, Scop, Statement, Storage
from polysched.tensorize.called import CalledProgram
from polysched.tensorize.description.intrinsic import Isa
from polysched.tensorize.functions.tilings import with_counts
from polysched.tensorize.program import part

HEADERS = "#include <stdint.h>\n#include <math.h>\n"
TEXT_ALONE = Isa(name="its own text", machine="library", manual="its C code")


def call_check(program: CalledProgram, *, entry: str, sizes: Mapping[str, int],
               given: Scop | None = None) -> ReplacementCheck:
    """The check of the statements that become calls, at some sizes.

    Parameters
    ----------
    entry : a name that no other check in the same process has.
    given : the region as the user wrote it, which then runs as a whole; None for the statements alone, as prepared.

    Raises
    ------
    UnsupportedScopError : the statements alone, or the region, are no function of arrays.
    """
    found = program.match
    entry = free_entry(entry, found.scop, *([] if given is None else [given]))
    if given is None:
        scop = with_plain_arrays(found.scop, sizes)
        reference = numbers = part(scop, found.statements)
        assert reference is not None
        assert numbers is not None
        stripped, parts = replace(_placed(program, scop), before=None, behind=None, shared=()), []
        compared = {*found.outputs}
    else:
        reference = with_plain_arrays(given, sizes, temporaries=True)
        numbers = with_plain_arrays(given, sizes)
        stripped = _in_place(program, reference)
        parts = [as_written(p) for p in stripped.parts]
        compared = {a.name for a in given.arrays if not a.dead_after}
    original = as_written_function(reference, f"original_{entry}")
    region = with_calls(replace(original.source, text=f"skipped_{entry} = 1;\n"), stripped, parts)
    renamed = replace(original, signature=replace(original.signature, name=f"replaced_{entry}"))
    equality = _equality(program, reference)
    return ReplacementCheck(
        statement=" and ".join(found.statements), instruction=found.function.name, entry=entry,
        sizes=", ".join(f"{n} = {v}" for n, v in sizes.items()) or "its own sizes",
        original_text=EXPORTED + original.text,
        replaced_text=f"{EXPORTED}{HEADERS}int skipped_{entry};\n{with_region(renamed, region).text}"
                      f"{with_timing(renamed, region)}",
        arrays=tuple(_checked(a, numbers, equality, compared=a.name in compared) for a in reference.arrays
                     if a.storage is not Storage.LOCAL),
        parameters=tuple(sizes[p.name] for p in reference.parameters), equality=equality,
        flags=found.function.isa.flags)


def _placed(program: CalledProgram, scop: Scop) -> CalledProgram:
    """The calls in another Scop of the same program."""
    found = program.match
    return replace(program, match=replace(found, dependences=replace(found.dependences, scop=scop)))


def _in_place(program: CalledProgram, reference: Scop) -> CalledProgram:
    """The whole program with the arrays of the reference; the region's temporaries stay its own."""
    arrays = {a.name: a for a in reference.arrays if a.storage is not Storage.LOCAL}
    known = {p.name for p in reference.parameters}

    placed = partial(with_arrays_of, arrays=arrays, parameters=known)
    return replace(_placed(program, placed(program.match.scop)),
                   before=None if program.before is None else placed(program.before),
                   behind=None if program.behind is None else placed(program.behind))


def by_its_text(program: CalledProgram) -> CalledProgram:
    """The calls of the description itself, for machines that do not have the library."""
    found = program.match
    function = replace(found.function, inline=True, isa=TEXT_ALONE)
    return replace(program, match=replace(found, function=function, variant=replace(found.variant, call="")))


def call_sizes(program: CalledProgram, chosen: Mapping[str, int], *, most_work: int,
               given: Scop | None = None) -> Iterator[dict[str, int]]:
    """Values of the parameters to run the calls with: those chosen, and some that the program allows."""
    scop = program.match.scop
    whole = scop if given is None else given
    run = [scop.statement(n) for n in program.match.statements] if given is None else whole.statements
    free = [p.name for p in whole.parameters if p.name not in chosen]
    fixed = {p.name: chosen[p.name] for p in whole.parameters if p.name in chosen}
    for sizes in _tried(program, free, fixed):
        work = sum(box_size(fix_parameters(s.domain, sizes)) for s in run)
        if _allowed(program, sizes) and work <= most_work and _stays_inside(whole, run, sizes):
            yield sizes


def _tried(program: CalledProgram, free: Sequence[str], fixed: dict[str, int]) -> list[dict[str, int]]:
    """A few values of the free parameters; others, where calls are made at none of these.

    `n` is the greater one where the calls need `n > m`.
    """
    found = [fixed | {n: values[i % len(values)] for i, n in enumerate(free)}
             for values in (TRIED_SIZES if free else TRIED_SIZES[:1])]
    guard = program.match.guard
    if guard is None or _with_calls(program, found):
        return found
    back = [fixed | dict(zip(free, reversed([s[n] for n in free]), strict=True)) for s in found]
    return _with_calls(program, back) or _with_calls(program, [nearest_parameters(guard, s, fixed) for s in found])


def _with_calls(program: CalledProgram, tried: Sequence[dict[str, int] | None]) -> list[dict[str, int]]:
    """The sizes at which calls are made, out of some."""
    guard, found = program.match.guard, []
    for sizes in tried:
        counted = None if sizes is None else with_counts(program.match.scop, sizes)
        if sizes is not None and counted is not None and guard is not None \
                and not fix_parameters(guard, counted).is_empty():
            found.append(sizes)
    return found


def _allowed(program: CalledProgram, sizes: Mapping[str, int]) -> bool:
    """Whether the program admits these sizes."""
    counted = with_counts(program.match.scop, sizes)
    return counted is not None and not fix_parameters(program.match.context, counted).is_empty()


def _stays_inside(scop: Scop, run: Sequence[Statement], sizes: Mapping[str, int]) -> bool:
    """Whether the statements access no element beyond a declared extent, `float g[64]` for instance."""
    for statement in run:
        for access in statement.accesses:
            reached = fix_parameters(access.relation.intersect_domain(statement.domain), sizes).range()
            for position, extent in enumerate(() if reached.is_empty() else scop.array(access.array).extents):
                if extent is not None and reached.dim_max_val(position).ge(isl_value(value_at(extent, sizes))):
                    return False
    return True


def _equality(program: CalledProgram, alone: Scop) -> Equality:
    """What the match promises."""
    if not program.match.assumptions:
        return Equality.BITS
    return Equality.ROUNDED if any(rounds(e) for _, e in expressions_of(alone)) else Equality.NUMBERS


def _checked(array: Array, alone: Scop, equality: Equality, *, compared: bool) -> CheckedArray:
    shape = tuple(map(int, filter(None, array.c_extents)))
    made = CheckedArray(name=array.name, dtype=array.dtype.name, shape=shape, values=Values.ANY, compared=compared)
    below = subscripted_below(array, alone)
    if below is not None:
        return replace(made, values=Values.INDEX, most=below)
    if limits_values(array, alone) or (equality is not Equality.BITS and _divides(array, alone)):
        return replace(made, values=Values.POSITIVE)
    if equality is not Equality.BITS or (array.dtype.is_float and any(cuts(e) for _, e in expressions_of(alone))):
        return replace(made, values=Values.WHOLE, most=LARGEST_WHOLE)
    return made


def _divides(array: Array, alone: Scop) -> bool:
    """Whether floats are divided by its elements."""
    return any(isinstance(e, Binary) and e.op == "/" and array.name in {
        s.access(x.reference).array for x in walk(e.right) if isinstance(x, Load)} for s, e in expressions_of(alone))
