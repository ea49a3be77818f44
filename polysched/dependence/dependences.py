"""The Dependences value: exact relations between statement instances, one per access pair.

A dependence relation maps the instance that must run first to the instance that must run later, in
the vocabulary of isl and pet.  Pairs are never coalesced with each other: one Farkas cone per small
relation is what keeps the scheduler's integer programs small.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

import islpy as isl

from polysched.records import dataclass
from polysched.scop.provided import provided
from polysched.scop.scop import Scop, union_map
from polysched.scop.shown import Shown

if TYPE_CHECKING:
    from polysched.dependence.questions.blocks import LoopBlocks


class DependenceKind(Enum):
    """FLOW: write then read; ANTI: read then write; OUTPUT: write then write; INPUT: read then read."""

    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"
    INPUT = "input"


@dataclass(frozen=True, eq=False, kw_only=True)
class Dependence:
    """The dependence between two access references.

    Parameters
    ----------
    kind : flow, anti, output or input.
    array : the array both references touch.
    source, sink : the statements, by name; the source runs first in the original program.
    source_reference, sink_reference : the accesses, by reference.
    relation : `{ S0[i] -> S1[j] : ... }`, within the context; not empty.
    reduction : the pair orders updates of one associative and commutative reduction only, so a
        schedule that privatises or reassociates may relax it.
    """

    kind: DependenceKind
    array: str
    source: str
    sink: str
    source_reference: str
    sink_reference: str
    relation: isl.Map
    reduction: bool = False

    def __str__(self) -> str:
        return f"{self.kind.value} {self.source_reference} -> {self.sink_reference} on {self.array}: {self.relation}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Dependences(Shown):
    """All dependences of a Scop.

    Parameters
    ----------
    scop : what was analysed.
    pairs : one entry per ordered pair of references and kind that has instances.
    value_based : only the last write before a read counts (and, for anti and output, the next write);
        otherwise memory-based: every earlier conflicting access.
    inputs : input dependences were computed too.
    relaxed : statements whose reduction pairs need no order: any order of the updates is allowed, but two
        updates still must not run at the same time.
    fallbacks : what the analysis had to leave less exact because a budget ran out, one sentence each; a
        relation may then hold more pairs than a program has, never fewer.
    by_memory : the arrays of which that is so.
    """

    scop: Scop
    pairs: tuple[Dependence, ...]
    value_based: bool = True
    inputs: bool = False
    relaxed: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()
    by_memory: tuple[str, ...] = ()

    def of_kind(self, *kinds: DependenceKind) -> isl.UnionMap:
        """The union of the relations of these kinds."""
        return union_map(d.relation for d in self.pairs if d.kind in kinds)

    @property
    def flow(self) -> isl.UnionMap:
        return self.of_kind(DependenceKind.FLOW)

    @property
    def anti(self) -> isl.UnionMap:
        return self.of_kind(DependenceKind.ANTI)

    @property
    def output(self) -> isl.UnionMap:
        return self.of_kind(DependenceKind.OUTPUT)

    @cached_property
    def validity(self) -> isl.UnionMap:
        """Everything a schedule must respect: flow, anti and output together, without what is relaxed."""
        return union_map(d.relation for d in self.pairs if self.orders(d))

    @cached_property
    def unordered(self) -> isl.UnionMap:
        """Pairs that may run in either order but never at the same time: updates of relaxed reductions."""
        return union_map(d.relation for d in self.pairs if d.kind is not DependenceKind.INPUT and self.is_relaxed(d))

    def orders(self, pair: Dependence) -> bool:
        """Whether a pair has to run in its order: no input dependence, no update of a relaxed reduction."""
        return pair.kind is not DependenceKind.INPUT and not self.is_relaxed(pair)

    def is_relaxed(self, pair: Dependence) -> bool:
        """Whether a pair orders only updates of a reduction that is relaxed."""
        return pair.reduction and pair.source in self.relaxed

    def carried_by(self, loop: str) -> tuple[Dependence, ...]:
        """The dependences between iterations of a loop of the program as written; see `questions.carried_by`."""
        found: tuple[Dependence, ...] = provided("dependence", "Dependences.carried_by")(self, loop)
        return found

    def blocking(self, loop: str) -> tuple[LoopBlocks, ...]:
        """What keeps a loop from being parallel, in lanes, interchanged or tiled; see `questions.blocking`."""
        found: tuple[LoopBlocks, ...] = provided("dependence", "Dependences.blocking")(self, loop)
        return found

    def headline(self) -> str:
        """For instance `of gemm: 2 flow, 1 output`, in ordered pairs of references."""
        counts = {kind: sum(d.kind is kind for d in self.pairs) for kind in DependenceKind}
        told = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
        return f"of {self.scop.name}: {told or 'none'}"

    def __str__(self) -> str:
        text: str = provided("dependence", "Dependences.__str__")(self)
        return text

    def _repr_html_(self) -> str:
        html: str = provided("dependence", "Dependences._repr_html_")(self)
        return html
