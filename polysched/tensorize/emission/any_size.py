"""The C of a match for all sizes, and the test of the sizes that a call has.

Blocks and tiles are those of the sample sizes; extents and strides are read from arguments `ps_size_NAME`.  What the
code takes for granted of the sizes stands in one function, which is asked ahead of each call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from polysched.records import dataclass
from polysched.target import Target, host
from polysched.tensorize.emission.cost import busy_cycles, element_cycles
from polysched.tensorize.emission.function import EmissionOptions, Emitted, emit_match
from polysched.tensorize.emission.library import library_call
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan, general_plan, make_plan
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.any_size import GeneralMatch
from polysched.tensorize.matching.general_loops import NotGeneralError
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.scaling import Scale
from polysched.tensorize.software.sizes import argument_of, bytes_fit, is_general

GROWTH = tuple(1 << e for e in range(LIMITS.grown_sizes.bit_length()))
LARGEST_INT = (1 << 31) - 1   # of the numbers that a library function takes


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneralCode:
    """The function, and a function of the sizes that says whether it may be called.

    Parameters
    ----------
    emitted : the C of the match.
    fits : C of `int NAME_fits(sizes...)`.
    """

    emitted: Emitted
    fits: str


def emit_for_all_sizes(general: GeneralMatch, sample: Match, name: str, options: EmissionOptions, *,
                       least_work: float, ordinary_cycles: float = 0.0) -> GeneralCode:
    """The C function for every size.

    Parameters
    ----------
    sample : the same match at the sample sizes, for which blocks and tiles are chosen.
    least_work : iterations of all loops together from which on the instruction pays.
    ordinary_cycles : of ordinary code per iteration; where positive, the code runs at sizes where it takes fewer.
    """
    plan = make_plan(sample, emulated=options.emulated, unroll=options.unroll, target=options.target,
                     parallel=options.parallel, choice=options.choice, growth=GROWTH)
    if options.joined is not None:   # a block is computed whole before its end
        plan = replace(plan, loops=tuple(replace(x, tile=0) if x.reduction else x for x in plan.loops))
    at_sample, plan = plan, general_plan(plan, general.match, emulated=options.emulated)
    emitted = emit_match(general.match, name, replace(options, plan=plan))
    return GeneralCode(emitted=emitted, fits=_fits(
        general, name, [*general.conditions.texts, *_memory(emitted), *_work(general, least_work),
                        *_pays(plan, at_sample, options.target or host(), ordinary_cycles)]))


def library_for_all_sizes(general: GeneralMatch, name: str, scale: Scale | None) -> tuple[str, str]:
    """The C function that calls a library for every size, and the function that says whether it may be called.

    Raises
    ------
    NotGeneralError : the factor of the old result is no scalar of the program.
    """
    match = general.match
    if scale is not None and (rows := [a for a in scale.arrays if not match.fragment.scop.array(a).is_scalar]):
        raise NotGeneralError(f"the factor of the old result is an element of {rows[0]}")
    text = library_call(match, name, scale)
    numbers: list[int] = [match.fused_extent(group) for group in range(len(match.groups))]
    for layout in match.layouts:
        given = match.library_operand(layout)
        assert not isinstance(given, str)
        numbers += [given.rows, given.columns, given.distance, given.batch]
    fitting = dict.fromkeys(f"{n} <= {LARGEST_INT}" for n in numbers if is_general(n))
    return text, _fits(general, name, [*general.conditions.texts, *fitting])


def _fits(general: GeneralMatch, name: str, conditions: Iterable[str]) -> str:
    """The function of the sizes."""
    parameters = ", ".join(f"long {argument_of(n)}" for n in general.unknown)
    return "\n".join([f"static int {name}_fits({parameters})", "{", *(f"    if (!({c})) return 0;" for c in conditions),
                      "    return 1;", "}", ""])


def _memory(emitted: Emitted) -> Iterator[str]:
    """No buffer exceeds memory."""
    for place in emitted.plan.places:
        if place.packed:
            width = emitted.plan.match.intrinsic.parsed.operand(place.operand).dtype.bytes
            yield bytes_fit(_extents(emitted.plan, place), width)


def _extents(plan: Plan, place: Place) -> list[int]:
    """Extents of a packed operand's buffer."""
    if place.copy is not None:
        return [axis.extent for axis in place.copy.axes]
    blocks = [loop.blocks * loop.unroll for loop in plan.loops if plan.uses(place.operand, loop)]
    return [*blocks, plan.match.intrinsic.parsed.operand(place.operand).elements]


def _pays(plan: Plan, at_sample: Plan, target: Target, ordinary_cycles: float) -> Iterator[str]:
    """What the instruction and its copies take is less than what ordinary code takes; what both fetch is left out."""
    if not ordinary_cycles:
        return
    executions = " * ".join(f"(double){loop.blocks * loop.unroll}" for loop in plan.loops)
    terms = [f"{busy_cycles(at_sample, target)!r} * {executions or '1'}"]
    for place in plan.places:
        if place.packed:
            elements = " * ".join(f"(double){extent}" for extent in _extents(plan, place))
            terms.append(f"{element_cycles(plan, place)!r} * {elements}")
    work = " * ".join(f"(double){loop.extent}" for loop in plan.match.fragment.loops)
    yield f"{ordinary_cycles!r} * {work} >= {' + '.join(terms)}"


def _work(general: GeneralMatch, least_work: float) -> Iterator[str]:
    extents = [loop.extent for loop in general.match.fragment.loops]
    if least_work > 1 and math.prod(int(e) for e in extents) >= least_work:
        yield " * ".join(f"(double){e}" for e in extents) + f" >= {least_work:.0f}"
