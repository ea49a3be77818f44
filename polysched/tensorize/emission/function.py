"""The C of one match: packing, the nest around the instruction, and writing back, in one self-contained function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.body import Load, walk
from polysched.scop.html import c_code
from polysched.scop.shown import Shown
from polysched.target import Target
from polysched.target.target import BUFFER_ALIGNMENT_BYTES
from polysched.tensorize.conformance.conformance import fill_in
from polysched.tensorize.description.emulator import emulator_c
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.addresses import in_place_argument, operand_type
from polysched.tensorize.emission.correction import (
    correction_arrays,
    correction_c,
    sum_names,
    sums_c,
    sums_memory,
    worth_adding,
    worth_correcting,
)
from polysched.tensorize.emission.joined import Joined, corrected_in_blocks, joined_arguments
from polysched.tensorize.emission.nest import (
    content_of,
    kept_arguments,
    kept_parameters,
    moving_terms,
    size_arguments,
)
from polysched.tensorize.emission.nest_c import nest_c, read_places, worth_nest
from polysched.tensorize.emission.packing import (
    map_c,
    pack_c,
    result_arrays,
    unpack_c,
    worth_copying,
    worth_mapping,
)
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan, PlanChoice, make_plan
from polysched.tensorize.emission.team import NEVER, Step, region
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.sizes import is_general, same

ZEROS = """static inline void *ps_zeros(size_t bytes, int threads)
{{
    char *memory = aligned_alloc({alignment}, (bytes + {rest}) / {alignment} * {alignment});
    if (!memory) abort();
    if (!threads || bytes < {least}) return memset(memory, 0, bytes);
    #pragma omp parallel for
    for (size_t page = 0; page < bytes; page += 4096)   /* pages belong to the threads that touch them first */
        memset(memory + page, 0, bytes - page < 4096 ? bytes - page : 4096);
    return memory;
}}
"""


def zeros_c(target: Target) -> str:
    """The C function that allocates zeros."""
    return ZEROS.format(least=target.team_bytes, alignment=BUFFER_ALIGNMENT_BYTES, rest=BUFFER_ALIGNMENT_BYTES - 1)


@dataclass(frozen=True)
class EmissionOptions:
    """How a match is emitted.

    Parameters
    ----------
    emulated : call the plain-C emulator in place of the instruction.
    parallel : a team of threads shares copies and nest, in one region.
    unroll : register block, in iterations of the two unrolled loops; by the register budget when None.
    choice : of register block and tiling; the models' best when None.
    target : the machine whose caches decide the order of loops and the tiles; this one when None.
    plan : made already; it has sizes that are known at run time where its match has them.
    zero : results start at zero instead of what memory holds, which is then not read.
    keep : input operands that are constant: `NAME_prepare_OPERAND(arrays...)` packs one into a buffer that stays, and
        the function itself no longer packs it; one that lies right as it is needs no preparation.
    joined : statements that begin and end each block of the result, whose array is not touched.
    """

    emulated: bool = False
    parallel: bool = True
    unroll: tuple[int, int] | None = None
    choice: PlanChoice | None = None
    plan: Plan | None = None
    target: Target | None = None
    zero: bool = False
    keep: tuple[str, ...] = ()
    joined: Joined | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Emitted(Shown):
    """C for one match.

    Parameters
    ----------
    name : of the function; its arguments are pointers to `arrays`, in this order, and the iterators of the kept loops.
    written : those of the arrays that hold results.
    preparations : calls that pack the constant operands, to be made once, ahead of the kept loops.
    headers, flags : what the real instruction needs.
    shared : headers and helpers, the same for all functions of one translation unit.
    emulator : plain C of the instruction, where it stands for it.
    text : the function with its helpers.
    """

    name: str
    plan: Plan
    arrays: tuple[str, ...]
    written: tuple[str, ...]
    preparations: tuple[str, ...]
    headers: tuple[str, ...]
    flags: tuple[str, ...]
    shared: str
    emulator: str
    text: str

    @property
    def prelude(self) -> str:
        """What functions with the same instruction share, once per translation unit."""
        return self.shared + self.emulator

    @property
    def unit(self) -> str:
        """A whole translation unit."""
        return self.prelude + self.text

    def headline(self) -> str:
        return f"of {self.name} by {self.plan.match.intrinsic.name}"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return c_code(self.text)


def emit_match(match: Match, name: str, options: EmissionOptions | None = None) -> Emitted:
    """The C function that runs the fragment's whole statement through the instruction.

    Raises
    ------
    UsageError : a library function is called through `library_call`, not through a nest.
    """
    chosen = options or EmissionOptions()
    if match.intrinsic.library:
        raise UsageError(f"{match.intrinsic.name} is a library function", hint="use library_call")
    plan = chosen.plan or make_plan(match, emulated=chosen.emulated, unroll=chosen.unroll,
                                    target=chosen.target, parallel=chosen.parallel, choice=chosen.choice)
    zero = chosen.zero or match.starts_anew
    chosen = replace(chosen, joined=corrected_in_blocks(plan, chosen.joined, zero=zero, emulated=chosen.emulated))
    arrays = _arrays(match, chosen.joined)
    packed = _packed(plan, chosen.joined)
    parts = _copies_c(plan, name, packed, chosen)
    parts.append(nest_c(plan, name, emulated=chosen.emulated, parallel=chosen.parallel,
                        zero=zero, joined=chosen.joined))
    parts += _correction_c(match, name, chosen)
    parts.append(_driver_c(plan, name, arrays, packed, chosen))
    headers = () if chosen.emulated else match.intrinsic.isa.headers
    prelude = "".join(f"#include <{h}>\n" for h in headers) + "#include <stdlib.h>\n" + PRELUDE
    prelude += zeros_c(plan.match.target)
    emulator = emulator_c(match.intrinsic.parsed, name=f"emulated_{match.intrinsic.name}") if chosen.emulated else ""
    first = [str(match.fragment.loop(n).lower) for n in match.fragment.kept]
    preparations = tuple(f"{name}_prepare_{p.operand}({', '.join([*operand_sources(match, p.operand), *first])})"
                         for p in packed if p.operand in chosen.keep)
    return Emitted(name=name, plan=plan, arrays=arrays, written=_written_arrays(match, chosen.joined),
                   preparations=preparations, headers=headers, shared=prelude, emulator=emulator,
                   text="\n".join(parts), flags=() if chosen.emulated else match.intrinsic.isa.flags)


def _packed(plan: Plan, joined: Joined | None) -> list[Place]:
    """The operands with buffers; sums that a last statement uses have none."""
    return [p for p in read_places(plan, joined) if p.packed]


def _in_blocks(options: EmissionOptions) -> bool:
    """Whether blocks start from the correction."""
    return options.joined is not None and options.joined.correction is not None


def _correction_c(match: Match, name: str, options: EmissionOptions) -> list[str]:
    """The functions that add up operands, and that correct the result where blocks do not start from that."""
    correction = match.assignment.correction
    if correction is None:
        return []
    added = sums_c(match, correction, f"{name}_sums", parallel=options.parallel)
    return [added, *([] if _in_blocks(options) else [
        correction_c(match, correction, f"{name}_correct", parallel=options.parallel)])]


def _copies_c(plan: Plan, name: str, packed: Sequence[Place], options: EmissionOptions) -> list[str]:
    """The functions that fill buffers, and those that write results back."""
    match = plan.match
    unread = match.written if options.zero or match.starts_anew else frozenset()
    filled = [pack_c(plan, p.operand, f"{name}_pack_{p.operand}", once=p.operand in options.keep)
              for p in packed if p.operand not in unread]
    filled += [map_c(plan, p.operand, f"{name}_map_{p.operand}") for p in packed
               if p.in_place is not None and p.in_place.copied and p.operand not in options.keep]
    return filled + [unpack_c(plan, p.operand, f"{name}_unpack_{p.operand}", zero=options.zero)
                     for p in packed if p.operand in match.written]


def _steps_of(plan: Plan, name: str, packed: Sequence[Place], options: EmissionOptions) -> list[Step]:
    """What threads do one after the other: fill buffers and add up operands, run the nest, write back, correct."""
    match, correction = plan.match, plan.match.assignment.correction
    filled = [(line, worth) for p in packed for line, worth in _fillings(plan, name, p, options)]
    if correction is not None:
        handed = ", ".join([*sum_names(correction), *correction_arrays(match), *kept_arguments(match)])
        filled += [(f"{name}_sums({handed});", worth) for worth in worth_adding(match, correction)[:1]]
    stored = [p.operand for p in packed if p.operand in match.written]
    words = {o: ", ".join([*result_arrays(match, o), f"packed_{o}", *kept_arguments(match)]) for o in stored}
    steps = [Step(lines=tuple(line for line, _ in filled), worth=tuple(worth for _, worth in filled)),
             Step(lines=(f"{name}_nest({', '.join(_handed(plan, packed, options))});",), worth=(worth_nest(plan),)),
             Step(lines=tuple(f"{name}_unpack_{o}({words[o]});" for o in stored),
                  worth=tuple(worth_copying(plan, o) for o in stored))]
    if correction is not None and not _in_blocks(options):
        handed = ", ".join([*_written_arrays(match, options.joined), *sum_names(correction),
                            *correction_arrays(match), *kept_arguments(match)])
        steps.append(Step(lines=(f"{name}_correct({handed});",), worth=(worth_correcting(match),)))
    return steps


def _written_arrays(match: Match, joined: Joined | None) -> tuple[str, ...]:
    """The program's arrays that hold results, in the order of these."""
    if joined is not None and joined.last is not None:
        return joined.written
    return tuple(dict.fromkeys(a for v in match.intrinsic.outputs for a in result_arrays(match, v.name)))


def _arrays(match: Match, joined: Joined | None) -> tuple[str, ...]:
    fragment = match.fragment
    found = [*joined.arrays] if joined is not None and joined.last is not None else [
        fragment.statement.access(fragment.target).array, *(joined.arrays if joined is not None else ())]
    for _, e in match.assignment.operands:
        found += [fragment.statement.access(x.reference).array for x in walk(e) if isinstance(x, Load)]
    return tuple(dict.fromkeys([*found, *correction_arrays(match)]))


def _driver_c(plan: Plan, name: str, arrays: tuple[str, ...], packed: list[Place],
              options: EmissionOptions) -> str:
    """Packs into buffers that stay for the next call of the same thread, runs the nest, writes back."""
    match, fragment = plan.match, plan.match.fragment
    written = _written_arrays(match, options.joined)
    kinds = [C_NAMES[fragment.scop.array(a).dtype.name] for a in arrays]
    parameters = ", ".join(f"{'' if a in written else 'const '}{kind} *{a}"
                           for a, kind in zip(arrays, kinds, strict=True))
    parameters = ", ".join([parameters, *kept_parameters(match)])
    lines = [*_kept_c(plan, name, options, packed), f"void {name}({parameters})", "{"]
    if match.intrinsic.isa.prepare and not options.emulated:
        lines.append("    " + fill_in(match.intrinsic.isa.prepare, refuse="abort()").strip())
    if packed and size_arguments(match):
        lines += _made_anew_c(plan, name, packed)
    for p in packed:
        lines += _buffer_c(plan, name, p, options)
    correction = match.assignment.correction
    sums = {} if correction is None else sums_memory(match, correction, parallel=options.parallel)
    steps = region(_steps_of(plan, name, packed, options), parallel=options.parallel)
    lines += [f"    {line}" for line in [*sums.values(), *steps, *(f"free({x});" for x in sums)]]
    return "\n".join([*lines, "}", ""])


def _handed(plan: Plan, packed: Sequence[Place], options: EmissionOptions) -> list[str]:
    """What the nest gets: operands, arrays of joined statements, distances, sizes."""
    match, joined = plan.match, options.joined
    arguments = [_address(plan, p) for p in read_places(plan, joined)]
    arguments += joined_arguments(match, joined, inside=False) if joined is not None else ()
    return [*arguments, *(text for p in packed for text in _steps(p)), *size_arguments(match)]


def _buffer_c(plan: Plan, name: str, place: Place, options: EmissionOptions) -> list[str]:
    """The address of an operand's buffer, which is made where the operand is not read from the program's array."""
    operand, kind = place.operand, operand_type(plan, place.operand)
    buffer, flag = f"{name}_buffer_{operand}", in_place_argument(operand)
    if operand in options.keep:
        return [*([f"    const long {flag} = 0;"] if place.in_place is not None else []),
                f"    {kind} *packed_{operand} = {name}_kept_{operand};"]
    lines = [] if size_arguments(plan.match) else [f"    static _Thread_local {kind} *{buffer};"]
    lines.append(f"    {kind} *packed_{operand} = 0;")
    made = _made_c(plan, name, place, options, place.elements)
    if place.in_place is None:
        return [*lines, *(f"    {line}" for line in made)]
    lines.append(f"    const long {flag} = {' && '.join(place.in_place.conditions) or '1'};")
    if not place.in_place.copied:
        return [*lines, f"    if (!{flag}) {{", *(f"        {line}" for line in made), "    }"]
    whole = _made_c(plan, name, place, options, place.in_place.copied)
    return [*lines, f"    if ({flag}) {{", *(f"        {line}" for line in whole), "    } else {",
            *(f"        {line}" for line in made), "    }"]


def _made_c(plan: Plan, name: str, place: Place, options: EmissionOptions, elements: int) -> list[str]:
    """Lines that make an operand's buffer where there is none."""
    buffer = f"{name}_buffer_{place.operand}"
    return [f"if (!{buffer}) {buffer} = {_memory_c(plan, place, options, elements)};",
            f"packed_{place.operand} = {buffer};"]


def _fillings(plan: Plan, name: str, place: Place, options: EmissionOptions) -> Iterator[tuple[str, str]]:
    """The calls that fill an operand's buffer, each with the condition under which it pays for a team."""
    match, operand, flag = plan.match, place.operand, in_place_argument(place.operand)
    if operand in options.keep or (operand in match.written and (options.zero or match.starts_anew)):
        return
    sources = ", ".join([f"packed_{operand}", *operand_sources(match, operand), *kept_arguments(match)])
    packs, worth = f"{name}_pack_{operand}({sources});", worth_copying(plan, operand)
    if place.in_place is None:
        yield packs, worth
        return
    yield f"if (!{flag}) {packs}", worth if worth == NEVER else f"(!{flag} && {worth})"
    if place.in_place.copied:
        worth = worth_mapping(plan, operand)
        yield f"if ({flag}) {name}_map_{operand}({sources});", worth if worth == NEVER else f"({flag} && {worth})"


def _address(plan: Plan, place: Place) -> str:
    """Where the nest finds an operand."""
    match, held, packed = plan.match, content_of(plan.match, place.operand), f"packed_{place.operand}"
    there = place.in_place
    base = [str(there.base)] if there is not None and (is_general(there.base) or there.base) else []
    if there is not None and there.copied and base:
        return f"{packed} + ({in_place_argument(place.operand)} ? {base[0]} : 0)"
    if (there is not None and there.copied) or not isinstance(held, Load) or (place.packed and place.in_place is None):
        return packed
    array = [match.fragment.statement.access(held.reference).array, *moving_terms(match, held)]
    return f"{in_place_argument(place.operand)} ? {' + '.join([*array, *base])} : {packed}" if place.in_place \
        else " + ".join(array)


def _steps(place: Place) -> Iterator[str]:
    """What the nest is told of an operand's distances, as `step_arguments` names it."""
    flag, there = in_place_argument(place.operand), place.in_place
    for loop, step in place.steps.items():
        yield str(step) if there is None or same(step, there.steps[loop]) else f"{flag} ? {there.steps[loop]} : {step}"
    if there is not None and there.shifted:
        yield flag


def _made_anew_c(plan: Plan, name: str, packed: list[Place]) -> list[str]:
    """Buffers are given back where a call has other sizes than the one before: padding lies elsewhere then."""
    sizes = size_arguments(plan.match)
    changed = " || ".join(f"made_for[{at}] != {size}" for at, size in enumerate(sizes))
    lines = [f"    static _Thread_local long made_for[{len(sizes)}];"]
    lines += [f"    static _Thread_local {operand_type(plan, p.operand)} *{name}_buffer_{p.operand};" for p in packed]
    lines += [f"    if ({changed}) {{", *(f"        made_for[{at}] = {size};" for at, size in enumerate(sizes))]
    for p in packed:
        lines += [f"        free({name}_buffer_{p.operand});", f"        {name}_buffer_{p.operand} = 0;"]
    return [*lines, "    }"]


def operand_sources(match: Match, operand: str) -> list[str]:
    """The arrays that an operand is packed from."""
    return sorted({match.fragment.statement.access(e.reference).array for e in walk(content_of(match, operand))
                   if isinstance(e, Load)})


def _memory_c(plan: Plan, place: Place, options: EmissionOptions, elements: int) -> str:
    """Memory that holds zeros, since padding is never written."""
    width = plan.match.intrinsic.parsed.operand(place.operand).dtype.bytes
    return f"ps_zeros({elements * width}, {int(options.parallel)})"


def _kept_c(plan: Plan, name: str, options: EmissionOptions, packed: list[Place]) -> list[str]:
    """Buffers that outlive a call, and the functions that fill them."""
    lines = []
    for place in packed:
        if place.operand not in options.keep:
            continue
        kind, operand = operand_type(plan, place.operand), place.operand
        sources = operand_sources(plan.match, operand)
        arrays = {a: C_NAMES[plan.match.fragment.scop.array(a).dtype.name] for a in sources}
        parameters = [*(f"const {t} *{a}" for a, t in arrays.items()), *kept_parameters(plan.match)]
        handed = [f"{name}_kept_{operand}", *sources, *kept_arguments(plan.match)]
        filled = Step(lines=(f"{name}_pack_{operand}({', '.join(handed)});",),
                      worth=(worth_copying(plan, operand),))
        lines += [f"static _Thread_local {kind} *{name}_kept_{operand};",
                  f"void {name}_prepare_{operand}({', '.join(parameters)})", "{",
                  f"    if (!{name}_kept_{operand})",
                  f"        {name}_kept_{operand} = {_memory_c(plan, place, options, place.elements)};",
                  *(f"    {line}" for line in region([filled], parallel=options.parallel)), "}", ""]
    return lines
