"""Which runs tell whether code with an instruction computes what the untouched region does.

Where it takes no longer than `MOST_WORK` iterations, the whole region runs as the user wrote it, beside the prepared
program around the instruction: at the sizes asked for, or smaller ones, and at few iterations that leave remainders.
Of a region of fixed extents that takes longer, the statement runs alone, for some elements of the result or some
iterations of its loops, and what `tensorize.preparing` made of the region runs beside the region, for some elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polysched.dependence.parameter_sizes import sizes_inside
from polysched.emit_c.alternatives.plain_arrays import extents_can_be_said
from polysched.emit_c.alternatives.preparation_check import preparation_check
from polysched.emit_c.alternatives.replacement_check import (
    ReplacementCheck,
    at_other_sizes,
    region_check,
    replacement_check,
)
from polysched.emit_c.alternatives.smaller_programs import (
    MOST_WORK,
    TRIED_SIZES,
    can_be_sampled,
    matched_at,
    sizes_to_try,
    smaller_program,
    work_of,
)
from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.points import box_size, fix_parameters
from polysched.scop.scop import Scop
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.program import TensorizedProgram

EMULATED_WORK = MOST_WORK >> 3   # the emulator takes several times as long as the original
OUTSIDE = "keep subscripts inside the declared extents, or state which sizes the program has: --size, __builtin_assume"
SAMPLED_WORK = MOST_WORK << 8    # of the code with the instruction, where the original computes some elements only


@dataclass(frozen=True, eq=False)
class Run:
    """A program to run beside its original, and the sizes where its code is for all; None for its own.

    Parameters
    ----------
    given : the untouched region; None where the statement runs alone.
    """

    program: TensorizedProgram
    sizes: Mapping[str, int] | None = None
    sampled: bool = False
    given: Scop | None = None


def runs_of(program: TensorizedProgram, given: Scop | None, numerics: Numerics, *, emulated: bool) -> list[Run]:
    """The program at the sizes asked for, or one of its shape that does not take too long; then one with remainders.

    Parameters
    ----------
    given : the region before anything was rewritten; None inside of loops that somebody else emits.

    Raises
    ------
    UnsupportedScopError : the program's context leaves out all sizes that are tried.
    """
    most_work = EMULATED_WORK if emulated else MOST_WORK
    given = given if not program.outside else None
    if program.general is not None:
        sizes = sizes_to_try(program, most_work=most_work)
        if given is not None:
            sizes = [s for s in sizes if region_work(given, s) <= 2 * most_work]
        if not sizes:
            raise UnsupportedScopError("none of the sizes that are tried is one of the program's",
                                       witness=_stray(program), hint=OUTSIDE)
        return [Run(program, s, given=given) for s in sizes]
    if given is not None and (whole := list(_whole(program, given, numerics, most_work))):
        return whole
    return list(_alone(program, numerics, most_work, emulated=emulated))


def _stray(program: TensorizedProgram) -> str:
    """That no size keeps all accesses in their arrays; "" where that is not the reason."""
    fragment = program.match.fragment
    inside = sizes_inside(fragment.scop, fragment.statement.name)
    return "some access leaves its array at every size" if inside is not None and inside.is_empty() else ""


def region_work(given: Scop, sizes: Mapping[str, int]) -> int:
    """Iterations of the boxes around all statements."""
    return sum(box_size(fix_parameters(s.domain, sizes)) for s in given.statements)


def _whole(program: TensorizedProgram, given: Scop, numerics: Numerics, most_work: int) -> Iterator[Run]:
    """Runs of the whole region; none where it takes too long at all sizes that it has."""
    sizes = dict(program.match.fragment.sizes)
    first = program if region_work(given, sizes) <= most_work else _at_most(program, given, numerics, most_work)
    if first is None:
        return
    yield Run(first, given=given)
    for values in TRIED_SIZES[1:]:
        fewer = {n: min(v, values[at % len(values)]) for at, (n, v) in enumerate(sizes.items())}
        if fewer != first.match.fragment.sizes and region_work(given, fewer) <= most_work and (
                other := matched_at(program, numerics, fewer)) is not None:
            yield Run(other, given=given)
            return
    if (cut := smaller_program(first, numerics)) is not None:   # fixed extents: fewer iterations of the statement
        yield Run(cut)


def _at_most(program: TensorizedProgram, given: Scop, numerics: Numerics, most_work: int) -> TensorizedProgram | None:
    """The same match at smaller sizes, the largest halved first."""
    sizes = dict(program.match.fragment.sizes)
    while sizes and max(sizes.values()) > 1:
        largest = max(sizes, key=lambda n: sizes[n])
        sizes[largest] = -(-sizes[largest] // 2)
        if region_work(given, sizes) <= most_work:
            return matched_at(program, numerics, sizes)
    return None


def _alone(program: TensorizedProgram, numerics: Numerics, most_work: int, *, emulated: bool) -> Iterator[Run]:
    """Runs of the statement, as it was prepared."""
    first = program
    sampled = most_work < work_of(program) <= (MOST_WORK if emulated else SAMPLED_WORK) and can_be_sampled(program)
    if work_of(program) > most_work and not sampled:
        first = smaller_program(program, numerics, most_work=most_work) or program
    yield Run(first, sampled=sampled)
    if (fewer := smaller_program(first, numerics)) is not None:
        yield Run(fewer)


def checks_of(runs: Sequence[Run], *, parallel: bool, emulated: bool) -> list[ReplacementCheck]:
    """The checks, which share one code where it is that of all sizes.

    Raises
    ------
    PolyschedError : a check cannot be emitted.
    """
    made: list[ReplacementCheck] = []
    for at, run in enumerate(runs):
        if at and run.given is not None and run.program.general is not None and extents_can_be_said(run.given):
            made.append(at_other_sizes(made[0], run.program, run.given, run.sizes or {}))
        elif run.given is not None:
            made.append(region_check(run.program, run.given, entry=str(at), parallel=parallel, emulated=emulated,
                                     sizes=run.sizes))
        else:
            made.append(replacement_check(run.program, entry=str(at), parallel=parallel, emulated=emulated,
                                          sizes=run.sizes, sampled=run.sampled))
    return made


def preparation_of(program: TensorizedProgram, runs: Sequence[Run], given: Scop | None) -> list[ReplacementCheck]:
    """The check of the prepared program against the region, for runs of a statement alone; none where it takes long.

    Raises
    ------
    PolyschedError : it cannot be emitted.
    """
    if given is None or runs[0].given is not None or program.outside or program.general is not None:
        return []
    made = preparation_check(program.match, given, entry="prepared", most_work=MOST_WORK)
    return [] if made is None else [made]
