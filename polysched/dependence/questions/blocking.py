"""All dependences that prevent a loop from being parallel, in lanes, interchanged or tiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import islpy as isl

from polysched.dependence.dependences import Dependence, Dependences
from polysched.dependence.legality import LEGALITY_OPERATIONS, LEGALITY_SECONDS, Active, witness_of
from polysched.dependence.questions.blocks import Answer, Block, LoopBlocks, Wish
from polysched.dependence.questions.preventing import (
    across,
    against_interchange,
    against_lanes,
    against_tiles,
)
from polysched.dependence.questions.program_loops import (
    ProgramLoop,
    beside,
    inner_neighbour,
    loops_named,
    loops_of,
    nest_of,
    outer_neighbour,
)
from polysched.dependence.questions.removals import Attempts
from polysched.errors import BudgetExceededError
from polysched.scop.budget import in_words, with_budget


def carried_by(dependences: Dependences, loop: str) -> tuple[Dependence, ...]:
    """The dependences between iterations of the loops that count `loop` in the program as written.

    Their relations hold the pairs in two iterations of such a loop that are in the same iteration of all loops around.

    Raises
    ------
    UsageError : no loop has this counter.
    """
    return tuple(replace(part.dependence, relation=part.relation)
                 for found in loops_named(dependences.scop, loop) for part in across(dependences, found))


def blocking(dependences: Dependences, loop: str) -> tuple[LoopBlocks, ...]:
    """Everything that prevents the loops that count `loop` from being parallel, in lanes, interchanged or tiled.

    One entry per loop of that name, in the order of the program.  What would remove a dependence is said where it was
    tried and an exact check says that it does (`removals`).

    Raises
    ------
    UsageError : no loop has this counter.
    BudgetExceededError : isl cannot decide it within the budget of one legality check.
    """
    attempts = Attempts(dependences)
    return tuple(_of_loop(dependences, found, attempts) for found in loops_named(dependences.scop, loop))


def _of_loop(dependences: Dependences, loop: ProgramLoop, attempts: Attempts) -> LoopBlocks:
    answers = with_budget(LEGALITY_OPERATIONS, partial(_answers, dependences, loop), seconds=LEGALITY_SECONDS)
    if answers is None:
        raise BudgetExceededError(f"what prevents more of the {loop} needs more than "
                                  f"{in_words(LEGALITY_OPERATIONS, LEGALITY_SECONDS)}", where=dependences.scop.name,
                                  hint="ask about a smaller region")
    return LoopBlocks(loop=loop, answers=tuple(
        replace(answer, blocks=tuple(replace(block, removals=attempts.that_remove(block, loop))
                                     for block in answer.blocks)) for answer in answers))


def _answers(dependences: Dependences, loop: ProgramLoop) -> tuple[Answer, ...]:
    loops = loops_of(dependences.scop)
    own = loops[loop.number]
    parallel = _blocks(Wish.PARALLEL, own, across(dependences, own),
                       f"parallel iterations of {loop.name} would run the two at the same time")
    lanes = _blocks(Wish.LANES, own, against_lanes(dependences, own),
                    f"the two lanes of {loop.name} would not keep that order")
    return (Answer(wish=Wish.PARALLEL, blocks=parallel), Answer(wish=Wish.LANES, blocks=lanes),
            *_interchanges(dependences, loops, own), _tiles(dependences, loops, own))


def _interchanges(dependences: Dependences, loops: tuple[ProgramLoop, ...], own: ProgramLoop) -> Iterator[Answer]:
    """One answer per neighbour; why there is none, where there might have been one."""
    outer, inner = outer_neighbour(loops, own), inner_neighbour(loops, own)
    for above, below in ((outer, own), (own, inner)):
        if above is None or below is None:
            continue
        other = above if below is own else below
        blocks = _blocks(Wish.INTERCHANGE, own, against_interchange(dependences, above, below),
                         f"with {below.name} around {above.name} the later one would run first",
                         is_outside=other is above)
        yield Answer(wish=Wish.INTERCHANGE, beside=(other.name,), blocks=blocks)
    if obstacle := beside(loops, own):
        yield Answer(wish=Wish.INTERCHANGE, obstacle=obstacle)
    elif outer is None and inner is None:
        yield Answer(wish=Wish.INTERCHANGE, obstacle="no loop stands directly around it or inside it")


def _tiles(dependences: Dependences, loops: tuple[ProgramLoop, ...], own: ProgramLoop) -> Answer:
    nest = nest_of(loops, own)
    names = tuple(loop.name for loop in nest)
    if len(nest) == 1:
        return Answer(wish=Wish.TILES, obstacle=beside(loops, own)
                      or "no other loop is in its perfect nest; strips of it alone are always legal")
    blocks = _blocks(Wish.TILES, own, against_tiles(dependences, nest, own),
                     f"one of the loops {', '.join(names)} runs the two backward: tiles of them would depend on "
                     "each other in both directions")
    return Answer(wish=Wish.TILES, beside=names, blocks=blocks)


def _blocks(wish: Wish, loop: ProgramLoop, parts: list[Active], reason: str, is_outside: bool = False
            ) -> tuple[Block, ...]:
    has_gaps = bool(parts) and _has_gaps(loop)
    return tuple(Block(wish=wish, is_outside=is_outside, dependence=replace(part.dependence, relation=part.relation),
                       witness=witness_of(part, reason, least=True), distance=_distance(loop, part),
                       has_gaps=has_gaps)
                 for part in parts)


def _distance(loop: ProgramLoop, part: Active) -> int | None:
    """By how much the loop's values differ between the instances of a pair at least; None where that is no number."""
    values, pair = loop.values, part.dependence
    between = (part.relation.apply_domain(isl.Map.from_pw_aff(values[pair.source]))
               .apply_range(isl.Map.from_pw_aff(values[pair.sink])).deltas())
    ahead = between.intersect(isl.Set("{ [d] : d >= 0 }")).union(
        between.intersect(isl.Set("{ [d] : d < 0 }")).neg())
    least = ahead.project_out(isl.dim_type.param, 0, ahead.dim(isl.dim_type.param)).dim_min_val(0)
    return int(least.to_python()) if least.is_int() else None


def _has_gaps(loop: ProgramLoop) -> bool:
    """Whether no two values of a loop, within one iteration of all loops around it, follow each other."""
    node = loop.node
    partial, domain = node.band_get_partial_schedule(), node.get_domain()
    around = node.get_prefix_schedule_union_map()
    for member in range(loop.member):
        around = around.flat_range_product(isl.UnionMap.from_union_pw_aff(partial.get_union_pw_aff(member)))
    around = around.intersect_domain(domain)
    own = isl.UnionMap.from_union_pw_aff(partial.get_union_pw_aff(loop.member)).intersect_domain(domain)
    apart = around.apply_range(around.reverse()).apply_domain(own).apply_range(own).deltas()
    return bool(apart.intersect(isl.UnionSet("{ [1] }")).is_empty())
