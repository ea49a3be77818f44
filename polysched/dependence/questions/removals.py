"""What would remove a dependence from what prevents something: each change is tried, and the question asked again.

| means | how it is tried |
|---|---|
| expansion | `expand_temporaries`, and the question asked of the expanded program |
| reduction | the updates relaxed (`analyse(reductions=)`), and the question asked of these dependences |
| reversal | a loop of the nest counts the other way; the tree has to be legal; the question is asked of it |
| skewing | a loop of the nest skewed by one around it, or wavefronts of the two; the same |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property, partial

import islpy as isl

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import Expansion, expand_temporaries
from polysched.dependence.legality import LEGALITY_OPERATIONS, LEGALITY_SECONDS, Active, violation
from polysched.dependence.limits import LIMITS
from polysched.dependence.questions.blocks import Block, Removal, Wish, key_of
from polysched.dependence.questions.changed_trees import reversed_loop, skewed_loop, wavefronts
from polysched.dependence.questions.preventing import (
    across,
    against_interchange,
    against_lanes,
    against_tiles,
)
from polysched.dependence.questions.program_loops import (
    ProgramLoop,
    inner_neighbour,
    loops_of,
    nest_of,
    outer_neighbour,
)
from polysched.records import dataclass
from polysched.scop.budget import with_budget

MOST_SKEW = LIMITS.largest_skew


@dataclass(frozen=True, eq=False)
class Attempts:
    """The changes of one program, each made once.

    Parameters
    ----------
    dependences : of the program.
    """

    dependences: Dependences
    _trees: dict[tuple[int, str], isl.Schedule | None] = field(default_factory=dict)

    @cached_property
    def expansion(self) -> Expansion:
        return expand_temporaries(self.dependences, write_out=False)

    @cached_property
    def relaxed(self) -> dict[str, Dependences]:
        """The dependences with reductions in any order: only those whose result is the same, and all of them."""
        return {kind: analyse(self.dependences.scop, value_based=self.dependences.value_based, reductions=kind)
                for kind in ("exact", "reassociate")}

    def that_remove(self, block: Block, loop: ProgramLoop) -> tuple[Removal, ...]:
        """Every change that was tried and found to remove the dependence."""
        loop = self._loops[loop.number]
        found = (self._expanded(block, loop), self._reassociated(block, loop), *self._reordered(block, loop))
        return tuple(removal for removal in found if removal is not None)

    def _expanded(self, block: Block, loop: ProgramLoop) -> Removal | None:
        """By copies of the array."""
        pair, after = block.dependence, self.expansion.dependences
        words = _copied(self.expansion, pair.array)
        known = {a.reference for s in after.scop.statements for a in s.accesses}
        if not words or not {pair.source_reference, pair.sink_reference} <= known:
            return None
        gone = _still(after, after.scop.schedule, block, loop, same_program=False) is False
        return Removal(means="expansion", text=words) if gone else None

    def _reassociated(self, block: Block, loop: ProgramLoop) -> Removal | None:
        """By updates in any order."""
        if not block.dependence.reduction:
            return None
        told = {"exact": "the updates give the same result in any order",
                "reassociate": "the updates may run in any order where rounding may change (--reassociate)"}
        for kind, words in told.items():
            after = self.relaxed[kind]
            if block.dependence.source not in after.relaxed:
                continue
            if block.wish in (Wish.PARALLEL, Wish.LANES):
                return Removal(means="reduction", text=f"{words}, with a partial result per thread or lane")
            if _still(after, after.scop.schedule, block, loop, same_program=True) is False:
                return Removal(means="reduction", text=words)
        return None

    def _reordered(self, block: Block, loop: ProgramLoop) -> Iterator[Removal | None]:
        """By loops that are reversed or skewed; the first of each kind that does it."""
        for means, candidates in (("reversal", _reversals(block, self._loops, loop)),
                                  ("skewing", _skews(block, self._loops, loop))):
            yield next((Removal(means=means, text=text) for text, tree in candidates
                        if self._removes(text, tree, block, loop)), None)

    @cached_property
    def _loops(self) -> tuple[ProgramLoop, ...]:
        return loops_of(self.dependences.scop)

    def _removes(self, text: str, tree: isl.Schedule, block: Block, loop: ProgramLoop) -> bool:
        """Whether a changed order is legal, and the dependence prevents nothing in it."""
        key = loop.number, text     # several loops may have one name and one line
        if key not in self._trees:
            legal = with_budget(LEGALITY_OPERATIONS, lambda: violation(self.dependences, tree) is None,
                                seconds=LEGALITY_SECONDS)
            self._trees[key] = tree if legal else None
        legal_tree = self._trees[key]
        return legal_tree is not None and _still(self.dependences, legal_tree, block, loop,
                                                 same_program=True) is False


def _copied(made: Expansion, array: str) -> str:
    """What became of an array of the program, in words; empty where it is as it was."""
    last = [v.copy for v in made.last_values if v.array == array]
    copies = [a for a in made.arrays if a.before in (array, *last)]
    if copies:
        return (f"{array} gets a copy per iteration of {', '.join(copies[0].loops)}"
                f"{', the last values are copied out' if last else ''}")
    return next((f"{array} lives in an element of {home}" for scalar, home in made.moved if scalar == array), "")


def _reversals(block: Block, loops: tuple[ProgramLoop, ...], loop: ProgramLoop) -> Iterator[tuple[str, isl.Schedule]]:
    if block.wish in (Wish.INTERCHANGE, Wish.TILES):
        for other in nest_of(loops, loop):
            yield f"{_told(other)} counts the other way", reversed_loop(other)


def _skews(block: Block, loops: tuple[ProgramLoop, ...], loop: ProgramLoop) -> Iterator[tuple[str, isl.Schedule]]:
    """The least factors first."""
    nest = nest_of(loops, loop)
    outside = outer_neighbour(loops, loop)
    for factor in range(1, MOST_SKEW + 1):
        times = "" if factor == 1 else f"{factor} "
        if block.wish in (Wish.INTERCHANGE, Wish.TILES):
            for position, inner in enumerate(nest):
                for outer in nest[:position]:
                    yield (f"{_told(inner)} runs over {inner.counts} + {times}{outer.counts}",
                           skewed_loop(inner, outer, factor))
        elif block.wish is Wish.PARALLEL and outside is not None:
            yield (f"the loop around it runs over wavefronts {times}{outside.counts} + {loop.counts} "
                   f"(line {loop.line})", wavefronts(outside, loop, factor))


def _told(loop: ProgramLoop) -> str:
    return f"loop {loop.name} (line {loop.line})"


def _still(dependences: Dependences, tree: isl.Schedule, block: Block, loop: ProgramLoop, *, same_program: bool
           ) -> bool | None:
    """Whether the dependence still prevents the same of the same loop; None where that cannot be told."""
    return with_budget(LEGALITY_OPERATIONS, partial(_asked, dependences, tree, block, loop, same_program),
                       seconds=LEGALITY_SECONDS)


def _asked(dependences: Dependences, tree: isl.Schedule, block: Block, loop: ProgramLoop, same_program: bool
           ) -> bool | None:
    loops = loops_of(dependences.scop, tree)   # in the same places in every tree of one program
    own = loops[loop.number] if same_program else _same_loop(loops, loop)
    if own is None:
        return None
    parts = _parts(dependences, loops, own, block)
    return None if parts is None else block.key in {key_of(part.dependence) for part in parts}


def _same_loop(loops: tuple[ProgramLoop, ...], loop: ProgramLoop) -> ProgramLoop | None:
    """The loop of a changed program which counts the same around this one's statements; None where several do."""
    named = [other for other in loops if other.name == loop.name and set(other.statements) >= set(loop.statements)]
    return named[0] if len(named) == 1 else None


def _parts(dependences: Dependences, loops: tuple[ProgramLoop, ...], own: ProgramLoop, block: Block
           ) -> list[Active] | None:
    if block.wish is Wish.PARALLEL:
        return across(dependences, own)
    if block.wish is Wish.LANES:
        return against_lanes(dependences, own)
    if block.wish is Wish.TILES:
        return against_tiles(dependences, nest_of(loops, own), own)
    return _interchange_parts(dependences, loops, own, block)


def _interchange_parts(dependences: Dependences, loops: tuple[ProgramLoop, ...], own: ProgramLoop, block: Block
                       ) -> list[Active] | None:
    """The question about the neighbour on the same side; None where the loop has none there."""
    neighbours = ((outer_neighbour(loops, own), own), (own, inner_neighbour(loops, own)))
    outer, inner = neighbours[0 if block.is_outside else 1]
    return None if outer is None or inner is None else against_interchange(dependences, outer, inner)
