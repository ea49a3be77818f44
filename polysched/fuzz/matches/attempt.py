"""One program against one description: what `match` says, and the C of the program computed by the instruction."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from polysched.dependence.dependences import Dependences
from polysched.emit_c import CSource, EmitOptions, printed
from polysched.emit_c.alternatives.dispatch import Dispatch
from polysched.emit_c.alternatives.function_calls import with_calls
from polysched.emit_c.alternatives.instructions import preamble, with_instruction, with_shared_outside
from polysched.errors import IllegalScheduleError, NoIntrinsicMatchError
from polysched.fuzz.matches.pairs import Pair, description_text
from polysched.pipeline import analysed
from polysched.pipeline.way import lowered_with_fallbacks
from polysched.records import dataclass
from polysched.scheduling import ALGORITHMS
from polysched.scop.scop import Scop, Storage
from polysched.tensorize.called import call_function
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.functions.units import has_partial_sum, is_unit
from polysched.tensorize.matching.any_size import for_all_sizes
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.general_loops import NotGeneralError
from polysched.tensorize.matching.grouping import dependences_of
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import Matches, MatchOptions, match
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.program import tensorize
from polysched.tensorize.registry import load_intrinsics
from polysched.tensorize.software.surroundings import inside_loops
from polysched.tiling import TilingOptions, tile

MOST_EMITTED = 3
STRICT = Numerics(reassociate=False, contract=False, flush=False, finite=False)


@dataclass(frozen=True)
class Emission:
    """The program with one statement computed by the instruction.

    Parameters
    ----------
    mapping : the match in words.
    preamble : what stands ahead of the function.
    region : what stands in the place of the region.
    """

    mapping: str
    preamble: str
    region: str


def load(pair: Pair, folder: Path) -> Intrinsic:
    """The description as a user's file gives it.

    Raises
    ------
    PolyschedError : it is refused.
    """
    path = folder / f"unit_{pair.seed}.py"
    path.write_text(description_text(pair.unit))
    return load_intrinsics(str(path))[pair.unit.function.name]


def emissions(scop: Scop, unit: Intrinsic, pair: Pair, size: int) -> list[Emission]:
    """The program by some of its matches, the cheapest among them.

    Where it has its sizes as parameters, one function for all of them is looked for at those of the pair's other
    program.

    Parameters
    ----------
    size : which of the pair's sizes the program has.

    Raises
    ------
    NoIntrinsicMatchError : there is no match, or none whose statement can be taken out of its loops.
    PolyschedError : something else is refused.
    """
    dependences = analysed(scop, for_instructions=True).dependences
    prepared = dependences.scop
    sizes = dict(pair.programs[size].sizes)
    numerics = STRICT if pair.strict else Numerics()
    if is_unit(unit):
        wanted = TensorizeOptions(intrinsic=unit.name, sizes=sizes, numerics=numerics)
        return [_by_calls(scop, dependences, unit, wanted)]
    lanes = pair.lanes and not pair.strict
    options = MatchOptions(numerics=numerics, partial_sums=lanes, split=lanes, remainder=lanes)
    found = match(prepared, unit, options, sizes=sizes, dependences=dependences)
    chosen, made, why = some_of(found, pair.seed), [], ""
    around = _Around(scop)
    for number, candidate in enumerate(chosen):
        try:
            own = dependences if candidate.fragment.scop is prepared else None
            made.append(around.emission(candidate, own, f"by_{pair.seed}_{size}_{number}"))
        except (IllegalScheduleError, NoIntrinsicMatchError) as refusal:
            why = f"{refusal.problem} ({refusal.witness})"
    if sizes and not unit.library:
        at_other = match(prepared, unit, MatchOptions(numerics=numerics), sizes=dict(pair.programs[1 - size].sizes),
                         dependences=dependences)
        for number, candidate in enumerate(some_of(at_other, pair.seed)):
            made += around.for_all_sizes(candidate, dependences, f"any_{pair.seed}_{size}_{number}")
    if not made and has_partial_sum(unit):
        return [_by_calls(scop, dependences, unit, TensorizeOptions(intrinsic=unit.name, sizes=sizes,
                                                                    numerics=numerics))]
    if not made:
        raise NoIntrinsicMatchError(why or "no match", where=scop.name,
                                    witness="; ".join([*map(str, found.explanations), *found.refused[:3]])[:600])
    return made


def _by_calls(scop: Scop, dependences: Dependences, unit: Intrinsic, options: TensorizeOptions) -> Emission:
    """The program with statements computed by a unit of several stages, tile by tile, by the description's own C.

    Raises
    ------
    NoIntrinsicMatchError : there are none that it computes, or they cannot be taken out of their loops.
    """
    decision = call_function(dependences, unit, options, otherwise=lambda: analysed(
        scop, for_instructions=True, rolled=True).dependences)
    if decision.program is None:
        raise NoIntrinsicMatchError(decision.reasons[0], where=scop.name, witness="; ".join(decision.reasons[1:])[:600])
    made = with_calls(_plain(scop), decision.program, [_plain(p) for p in decision.program.parts], dict(options.sizes))
    return Emission(mapping=decision.reasons[0], preamble=made.preamble,
                    region="\n".join([*_declarations(scop), made.text]))


def some_of(found: Matches, seed: int) -> list[Match]:
    """The cheapest match, and some others, always the same."""
    matches = sorted(found.with_mirrors, key=lambda m: m.cost_cycles)
    others = random.Random(f"matches {seed}").sample(matches[1:], max(0, min(MOST_EMITTED, len(matches)) - 1))
    return [*matches[:1], *others]


class _Around:
    """A program, whose ordinary code is made once, and only where something of it stays around the instruction."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop

    @cached_property
    def ordinary(self) -> CSource:
        return _plain(self.scop)

    def emission(self, candidate: Match, dependences: Dependences | None, name: str) -> Emission:
        program = with_shared_outside(tensorize(candidate, dependences=dependences))
        if not program.parts and not program.loops and not self.scop.parameters:
            emitted = emit_match(candidate, name, EmissionOptions(emulated=True, parallel=False, zero=program.zero))
            if all(self.scop.array(a).storage is Storage.ARGUMENT for a in emitted.arrays):
                call = f"{name}({', '.join(f'(void *){self.scop.array(a).name}' for a in emitted.arrays)});"
                return Emission(mapping=str(candidate), preamble=preamble(emitted, Dispatch()), region=call)
        parts = [_plain(inside_loops(part, loops, candidate.fragment.sizes)) for part, loops in program.parts]
        made = with_instruction(self.ordinary, program, parts, name=name, parallel=False, emulated=True)
        return Emission(mapping=str(candidate), preamble=made.preamble,
                        region="\n".join([*_declarations(self.scop), made.text]))

    def for_all_sizes(self, candidate: Match, dependences: Dependences, name: str) -> Iterator[Emission]:
        """The program by one function for all sizes, whether it pays or not; none where that is refused.

        Parameters
        ----------
        dependences : of the prepared program.
        """
        own, unknown = dependences_of(candidate.fragment, dependences), [p.name for p in dependences.scop.parameters]
        try:
            program = tensorize(candidate, dependences=None if candidate.fragment.others else own)
            general = for_all_sizes(candidate, own, unknown, gone=program.gone, given=dependences.scop)
            program = with_shared_outside(replace(program, general=general))
            parts = [_plain(part) for part, _ in program.parts]
            made = with_instruction(self.ordinary, program, parts, name=name, parallel=False, emulated=True)
        except (IllegalScheduleError, NoIntrinsicMatchError, NotGeneralError):
            return
        yield Emission(mapping=f"{candidate}, at all sizes", preamble=made.preamble,
                       region="\n".join([*_declarations(self.scop), made.text]))


def _declarations(scop: Scop) -> Iterator[str]:
    yield from (*scop.source.declarations, *scop.source.saved) if scop.source is not None else ()


def _plain(scop: Scop) -> CSource:
    """The program in its own order, without threads and vectors."""
    schedule = ALGORITHMS["original"](analysed(scop).dependences)
    return printed(lowered_with_fallbacks(tile(schedule, TilingOptions(sizes="off", parallel=False), alone=False),
                                          EmitOptions(openmp=False, vector_bits=0, math="libm", packing=False)))
