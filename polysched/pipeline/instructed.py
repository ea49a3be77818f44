"""Instructions and calls of described functions in a region: decided, verified, put in.

The ordinary code of what is left is made by the whole way (`pipeline.way`), which is handed over as a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import Expansion, is_affordable
from polysched.emit_c import CSource
from polysched.emit_c.alternatives.function_calls import with_calls
from polysched.emit_c.alternatives.instructions import (
    alone_or_unfit,
    with_instruction,
    with_shared_outside,
)
from polysched.emit_c.scalar_code.original_code import inside
from polysched.errors import PolyschedError, UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.search_choices import with_chosen_plan
from polysched.pipeline.stages import analysed
from polysched.pipeline.timing import timed
from polysched.pipeline.verified_replacements import BegunVerdict, verdict_begun, verdict_on_calls
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.tensorize.called import call_function
from polysched.tensorize.decision import Decision, decide, may_gain
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.library_function import LibraryFunction
from polysched.tensorize.matching.any_size import LOOPS_STAY, TIED
from polysched.tensorize.options import DEFAULT
from polysched.tensorize.preparing.ordering import keeps_temporaries_inside
from polysched.tensorize.program import TensorizedProgram
from polysched.tensorize.software.surroundings import KeptLoop, SharedLoop, as_part, inside_loops, shared_loop

Emit = Callable[[Dependences, PipelineOptions], CSource]
"""From dependences to C, by all stages of ordinary code."""


@dataclass(frozen=True, eq=False)
class Begun:
    """A decision whose code runs beside the region while the ordinary code is emitted.

    Parameters
    ----------
    scop : the prepared program.
    verdict : of its code; None where nothing has to run.
    """

    scop: Scop
    decision: Decision
    verdict: BegunVerdict | None


@dataclass(frozen=True, eq=False)
class Refused:
    """A prepared program for which nothing could be decided, and why; told where the decision is asked for."""

    scop: Scop
    refusal: PolyschedError


def for_instructions(scop: Scop, expansion: Expansion, options: PipelineOptions, kept: frozenset[str]) -> Dependences:
    """The program as instructions are looked for in."""
    return analysed(scop, expand=options.expand, but=kept, vector_bytes=options.collapses_for(),
                    row_loss=options.row_loss, for_instructions=True, known=expansion.given).dependences


def first_decision(scop: Scop, expansion: Expansion, options: PipelineOptions,
                   seconds: dict[str, float]) -> Begun | Refused | None:
    """What is decided for a region first, its check running; None where no instruction is looked for."""
    wanted = options.tensorize
    if options.instructions_for(scop) is None or wanted is None or wanted.function() or wanted.unit():
        return None
    dependences = timed(seconds, "tensorized", lambda: for_instructions(scop, expansion, options, frozenset()))
    prepared = dependences.scop
    if missing := [name for name in wanted.chosen if name not in {s.name for s in prepared.statements}]:
        raise UsageError(f"there is no statement {missing[0]!r} to choose an instruction for", where=scop.name,
                         hint=f"there are {', '.join(s.name for s in prepared.statements)}")
    try:
        return timed(seconds, "tensorized", lambda: _begun(prepared, options, (), scop, {}, dependences))
    except PolyschedError as refusal:
        return Refused(prepared, refusal)


def with_instructions(scop: Scop, source: CSource, options: PipelineOptions,
                      outside: tuple[KeptLoop, ...] = (), *, given: Scop, emit: Emit,
                      begun: Begun | Refused | None = None) -> tuple[CSource, tuple[str, ...]]:
    """The region with every statement that pays computed by an instruction, and the reasons in words.

    Parameters
    ----------
    given : the region as it stood before it was prepared.
    begun : the first decision, where it was taken ahead.
    outside : loops around the region, which are parameters in `source`.
    emit : makes the ordinary code of what is left.
    """
    assert options.tensorize is not None
    function = options.tensorize.function() or options.tensorize.unit()
    if function is not None:
        return with_calls_of(scop, source, function, options, given, emit)
    if begun is None and not options.tensorize.is_asked and not may_gain(scop):   # as `instructions_for` of a region
        return source, ()
    try:
        decision = _verified(scop, options, outside, given, begun)
    except PolyschedError as error:
        if options.tensorize.is_asked:
            raise
        return source, (f"no instruction: {error.problem}",)   # what nobody asked for refuses no program
    if decision.program is None:
        stays = not outside and any(
            why in reason for reason in decision.reasons for why in (LOOPS_STAY, TIED))
        inside_one = _inside_shared_loop(scop, source, options, given, emit) if stays else None
        return inside_one or _without_decision(scop, source, options, given, emit, decision.reasons)
    program = with_shared_outside(decision.program)
    parts, why = _parts(program, options, emit)
    made = with_instruction(source, program, parts, name=_name(scop, program), parallel=options.parallel,
                            emulated=decision.emulated)
    return made, (*decision.reasons, *why)


def _inside_shared_loop(scop: Scop, source: CSource, options: PipelineOptions, given: Scop,
                        emit: Emit) -> tuple[CSource, tuple[str, ...]] | None:
    """The region as its outermost loop, in each of whose iterations instructions compute what they can at all sizes.

    Rewrite:  for (t) { S1; S2; }  ->  for (t) { S1 by an instruction; S2 }

    None where statements share no such loop, a temporary has values for later iterations, or no instruction computes
    anything inside it either.
    """
    assert options.tensorize is not None
    loop = _shared_loop(scop, given) if options.tensorize.is_asked else None
    if loop is None or not any(s.depth for s in loop.inside.statements):   # else an execution per iteration
        return None
    ordinary = emit(analysed(loop.inside, expand=options.expand).dependences, options)
    prepared = analysed(loop.inside, expand=options.expand, for_instructions=True).dependences.scop
    made, reasons = with_instructions(prepared, ordinary, options, given=loop.inside, emit=emit)
    if made is ordinary:
        return None
    lines = [loop.head, *map(inside, made.text.splitlines()), "}"]
    return replace(source, text="".join(f"{line}\n" for line in lines), preamble=made.preamble, teams=made.teams,
                   approximated=made.approximated, prologue=made.prologue), (
        f"inside the loop of {loop.name}, at all sizes", *reasons)


def _shared_loop(scop: Scop, given: Scop) -> SharedLoop | None:
    """The loop around all of a region as it was given, where temporaries have one iteration's elements, or prepared."""
    loop = shared_loop(given)
    if loop is not None and keeps_temporaries_inside(analyse(given)):
        return loop
    return None if any(a.is_temporary for a in scop.arrays) else shared_loop(scop)


def _without_decision(scop: Scop, source: CSource, options: PipelineOptions, given: Scop, emit: Emit,
                      reasons: tuple[str, ...]) -> tuple[CSource, tuple[str, ...]]:
    """The region by an instruction whose parts of a sum it adds in the same variables, or as it was, and why."""
    assert options.tensorize is not None
    cut = options.tensorize.partial_sum()
    if cut is not None:
        made, why = with_calls_of(scop, source, cut, options, given, emit)
        if made is not source:
            return made, why
    return source, () if options.tensorize.intrinsic == DEFAULT else reasons   # what nobody asked for needs no reasons


def by_instruction_alone(expansion: Expansion, options: PipelineOptions, begun: Begun, emit: Emit) -> CSource | None:
    """The region by an instruction, with loops as written where there is little to do; else it returns `UNFIT`.

    Nothing is scheduled, tiled or put into lanes for it but what stands ahead of and behind the instruction. None where
    nothing was decided, or copies of temporaries may exceed memory, which only the ordinary code tells.

    Parameters
    ----------
    begun : the decision; the code is right only if its verdict is.
    """
    if begun.decision.program is None or expansion.given is None:
        return None
    if not all(is_affordable(expansion.dependences.scop, a.name) for a in expansion.arrays):
        return None
    program = with_shared_outside(begun.decision.program)
    plain = emit(expansion.given, replace(options, scheduler="original").but(tile="off", parallel=False))
    parts, _ = _parts(program, options, emit)
    return alone_or_unfit(plain, program, parts, name=_name(begun.scop, program), parallel=options.parallel,
                          emulated=begun.decision.emulated)


def _parts(program: TensorizedProgram, options: PipelineOptions, emit: Emit) -> tuple[list[CSource], list[str]]:
    """The emitted parts of a program, as `program.parts` names them, and the reasons in words."""
    parts: list[CSource] = []
    reasons: list[str] = []
    for part, loops in program.parts:
        iteration = as_part(inside_loops(part, loops, program.match.fragment.sizes))
        dependences = analysed(iteration, expand=options.expand).dependences
        rest, why = with_instructions(part, emit(dependences, options), options, loops, given=part, emit=emit)
        parts.append(rest)
        reasons += why
    return parts, reasons


def _name(scop: Scop, program: TensorizedProgram) -> str:
    """The name of the function with the instruction, unique in a file."""
    place = scop.source.start if scop.source is not None else 0
    return f"polysched_{program.match.fragment.statement.name}_{place}"


def _begun(scop: Scop, options: PipelineOptions, outside: tuple[KeptLoop, ...], given: Scop,
           wrong: Mapping[tuple[str, str], str], dependences: Dependences | None = None) -> Begun:
    """What is decided for a region; its code starts to run beside the region.

    Parameters
    ----------
    wrong : statements and instructions that were found wrong.
    dependences : of the region, when they are known already.
    """
    wanted = options.tensorize
    assert wanted is not None
    decision = decide(scop, wanted, options.target(), outside=outside, without=wrong, dependences=dependences)
    decision = with_chosen_plan(decision, options)
    if decision.program is None or options.verify_instructions == "never":
        return Begun(scop, decision, None)
    return Begun(scop, decision, verdict_begun(
        decision, numerics=wanted.numerics, parallel=options.parallel, cc=options.cc, given=given,
        again=options.verify_instructions == "always"))


def _verified(scop: Scop, options: PipelineOptions, outside: tuple[KeptLoop, ...], given: Scop,
              begun: Begun | Refused | None = None) -> Decision:
    """What is decided for a region, after its code was run beside the region as it was given.

    Of `auto` the next best instruction is tried where one computes something else; the reasons say so.

    Raises
    ------
    WrongResultError, RunFailedError, CompileError : an instruction that was asked for by name is wrong, crashes, hangs.
    """
    wanted = options.tensorize
    assert wanted is not None
    if isinstance(begun, Refused):
        raise begun.refusal
    wrong: dict[tuple[str, str], str] = {}
    while True:
        begun = begun or _begun(scop, options, outside, given, wrong)
        decision, verdict = begun.decision, begun.verdict.result() if begun.verdict is not None else None
        if verdict is not None:
            if not verdict.outcome.equal:
                if not wanted.by_model or verdict.statement in wanted.chosen:
                    raise verdict.refusal()
                wrong[verdict.statement, verdict.instruction] = str(verdict)
                begun = None
                continue
            decision = replace(decision, reasons=(*decision.reasons, f"verified: {verdict}"))
        return replace(decision, reasons=(*wrong.values(), *decision.reasons))


def with_calls_of(scop: Scop, source: CSource, function: LibraryFunction | Intrinsic, options: PipelineOptions,
                  given: Scop, emit: Emit) -> tuple[CSource, tuple[str, ...]]:
    """The region with the statements that a described function computes as calls of it, and the reasons in words."""
    assert options.tensorize is not None
    decision = call_function(analyse(scop), function, options.tensorize, otherwise=lambda: analysed(
        given, expand=options.expand, for_instructions=True, rolled=True).dependences)
    if decision.program is None:
        return source, decision.reasons
    parts: list[CSource] = []
    reasons = list(decision.reasons)
    if options.verify_instructions != "never":
        verdict = verdict_on_calls(decision.program, options.tensorize.sizes, cc=options.cc,
                                   again=options.verify_instructions == "always", given=given)
        if not verdict.outcome.equal:
            raise verdict.refusal()
        reasons.append(f"verified: {verdict}")
    for part in decision.program.parts:
        dependences = analysed(part, expand=options.expand).dependences
        rest, why = with_calls_of(part, emit(dependences, options), function, options, part, emit)
        parts.append(rest)
        reasons += why
    sizes = {p.name: options.tensorize.sizes[p.name] for p in scop.parameters if p.name in options.tensorize.sizes}
    return with_calls(source, decision.program, parts, sizes), tuple(reasons)
