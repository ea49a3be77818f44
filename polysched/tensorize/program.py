"""A match inside a larger program: what runs before the instruction's nest, and what runs behind it.

The matched statement is distributed out of the nest that it stands in (Allen and Kennedy 2001, section 5.2): first the
statements written before it, then all of its instances through the instruction, then the statements written after it.
Loops that carry dependences between them stay around all three.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.errors import IllegalScheduleError, NoIntrinsicMatchError
from polysched.records import dataclass
from polysched.scop.body import Load, walk
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop, union_set
from polysched.tensorize.emission.joined import Joined
from polysched.tensorize.emission.plan import PlanChoice
from polysched.tensorize.matching.any_size import GeneralMatch
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.scaling import Scale, clearing_statement, scaling_statement
from polysched.tensorize.preparing.ordering import loops_kept_outside
from polysched.tensorize.proofs.isl_check import padding_counts
from polysched.tensorize.software.surroundings import KeptLoop, kept_loop, surroundings


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopAround:
    """A loop that runs around what is computed, and the parts of the program ahead of and behind all its iterations."""

    loop: KeptLoop
    before: Scop | None
    after: Scop | None


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorizedProgram:
    """The program in three parts; `before` and `after` are None where nothing is left.

    Parameters
    ----------
    zero : the statement that cleared the result is gone from `before`: the nest starts its sums at zero.
    scale : the statement that a library function's factor of the old result stands for, gone from `before`, too.
    choice : of the plan, where it was measured; None for the models' best.
    general : the match for all sizes, where some are not known; `match` is then the one at sample sizes.
    least_work : iterations of its nest from which on the instruction pays, where sizes are not known.
    ordinary_cycles : of ordinary code per iteration, where copies may cost more than the instruction saves at some
        sizes; a call is made where it takes fewer. 0 where `least_work` alone decides.
    outside : loops that are there already, around the whole program.
    around : loops that the program gets around the three parts, outermost first.
    joined : statements that begin and end each block of the result, gone from the parts; the sums need no memory.
    carried : temporaries whose values pass from one iteration of these to another, or in or out of them.
    """

    match: Match
    before: Scop | None
    after: Scop | None
    zero: bool = False
    scale: Scale | None = None
    choice: PlanChoice | None = None
    general: GeneralMatch | None = None
    least_work: float = 0.0
    ordinary_cycles: float = 0.0
    outside: tuple[KeptLoop, ...] = ()
    around: tuple[LoopAround, ...] = ()
    joined: Joined | None = None
    carried: frozenset[str] = frozenset()

    @property
    def loops(self) -> tuple[KeptLoop, ...]:
        """All loops around the instruction's nest, outermost first."""
        return (*self.outside, *(a.loop for a in self.around))

    @property
    def parts(self) -> tuple[tuple[Scop, tuple[KeptLoop, ...]], ...]:
        """What is left for ordinary code, each part with the loops around it."""
        found = [(p, self.loops[:at]) for at, a in enumerate(self.around, len(self.outside))
                 for p in (a.before, a.after)]
        found += [(p, self.loops) for p in (self.before, self.after)]
        return tuple((p, loops) for p, loops in found if p is not None)

    def with_parts(self, change: Callable[[Scop], Scop]) -> TensorizedProgram:
        """The program with other parts."""
        def changed(p: Scop | None) -> Scop | None:
            return None if p is None else change(p)

        around = tuple(replace(a, before=changed(a.before), after=changed(a.after)) for a in self.around)
        return replace(self, before=changed(self.before), after=changed(self.after), around=around)

    def with_joined(self, joined: Joined) -> TensorizedProgram:
        """The program with these statements in the nest, and nothing ahead of it and behind it."""
        return replace(self, before=None, after=None, joined=joined)

    @property
    def gone(self) -> tuple[str, ...]:
        """The statements that stand in no part any more: they clear or scale the result."""
        left = {s.name for p, _ in self.parts for s in p.statements} | {self.match.fragment.statement.name}
        return tuple(s.name for s in self.match.fragment.scop.statements if s.name not in left)

    @property
    def worth_a_team(self) -> bool:
        """Whether threads should share one execution of the nest: inside loops each of them starts a team."""
        cycles = self.match.executions * self.match.intrinsic.cost.cycles
        return not self.loops or cycles >= self.match.target.team_work_cycles

    @cached_property
    def preparations(self) -> Mapping[str, int]:
        """Input operands that are packed ahead of a loop around, once for all its iterations, and the loop's number."""
        return packed_once(self.match, [loop.written for loop in self.loops])


def tensorize(match: Match, *, dependences: Dependences | None = None,
              outside: tuple[KeptLoop, ...] = ()) -> TensorizedProgram:
    """Split the program of a match around the matched statement.

    Parameters
    ----------
    outside : loops around the whole program, which somebody else emits.

    Raises
    ------
    IllegalScheduleError : a dependence ties the statement to others inside a loop; the witness names it.
    NoIntrinsicMatchError : an array has elements of another C type than the function that reads them (`long long` for
        `long`, an enumeration), which C's rules of aliasing forbid.
    """
    scop, own = match.fragment.scop, match.fragment.statement.name
    dependences = dependences or analyse(scop)
    reasons, impossible = loops_kept_outside(match.fragment, dependences, sums=not match.ordered)
    if reasons or impossible:
        raise IllegalScheduleError(
            f"{own} cannot be taken out of the nest that it shares with other statements", where=scop.name,
            witness=impossible or "; ".join(reasons.values()),
            hint="match the body of that loop as a program of its own")
    foreign = [a for access in match.fragment.statement.accesses if not (a := scop.array(access.array)).own_type]
    if foreign:
        raise NoIntrinsicMatchError(
            f"{own} cannot be computed by a function that reads {foreign[0].name} as {foreign[0].dtype.c_name}",
            where=scop.name, witness=f"{foreign[0].name} is declared with another type of the same values",
            hint=f"declare it as {foreign[0].dtype.c_name}")
    around, names = _loops_around(match, outside)
    at = names.index(own)
    first = len(outside)
    library = match.intrinsic.library   # a call adds to what is there, or multiplies it first
    clears, scale = (None, scaling_statement(match, names)) if library else (clearing_statement(match, names), None)
    gone = {clears, scale.statement if scale is not None else None}
    return TensorizedProgram(
        match=match, before=part(scop, [n for n in names[:at] if n not in gone]), after=part(scop, names[at + 1:]),
        zero=clears is not None, scale=scale, outside=outside, around=around,
        carried=_carried(match, dependences, around, first))


def packed_once(match: Match, written: Sequence[Collection[str]]) -> dict[str, int]:
    """Input operands that stay the same in all iterations of a loop around, and the number of the outermost such loop.

    Parameters
    ----------
    written : per loop around the arrays that something inside writes.
    """
    found: dict[str, int] = {}
    fragment = match.fragment
    for operand, e in match.assignment.operands if fragment.reached_always else ():
        arrays = {fragment.statement.access(x.reference).array for x in walk(e) if isinstance(x, Load)}
        for at in reversed(range(len(written))):
            if fragment.kept[at] in fragment.loops_of(e) or arrays & {*written[at]}:
                break
            found[operand] = at
    return found if fragment.is_box or not found or not padding_counts(fragment, _views(match, found)) else {}


def _views(match: Match, once: Collection[str]) -> list[frozenset[str]]:
    """Per operand the loops that its places are told apart by, those around only where it is packed in each of them."""
    fragment, output = match.fragment, match.intrinsic.output.name
    held = [*match.assignment.operands, (output, fragment.result)]
    return [fragment.loops_of(e) | frozenset(() if o in once else fragment.kept) | {
        n for part, loops in zip(match.groups, match.loops, strict=True) if o in part.indexes for n in loops}
        for o, e in held]


def _loops_around(match: Match, outside: tuple[KeptLoop, ...]) -> tuple[tuple[LoopAround, ...], list[str]]:
    """The kept loops that are not there yet, and the statements inside all of them, in textual order."""
    scop, fragment, own = match.fragment.scop, match.fragment, match.fragment.statement.name
    places = surroundings(scop, own)
    names = [s.name for s in scop.statements]
    found: list[LoopAround] = []
    for depth in range(len(outside), len(fragment.kept)):
        inside = list(places[depth].statements)
        at = names.index(own)
        loop = kept_loop(scop, inside, depth, descending=places[depth].descending, sizes=fragment.sizes,
                         taken=[x.name for x in (*outside, *(a.loop for a in found))])
        found.append(LoopAround(loop=loop, before=part(scop, [n for n in names[:at] if n not in inside]),
                                after=part(scop, [n for n in names[at:] if n not in inside])))
        names = inside
    return tuple(found), names


def _carried(match: Match, dependences: Dependences, around: tuple[LoopAround, ...], first: int) -> frozenset[str]:
    """Arrays with values that are read in another iteration of the loops around than they are written in.

    Parameters
    ----------
    first : number of the outermost loop of `around`.
    """
    if not around:
        return frozenset()
    depth, sizes = len(match.fragment.kept), match.fragment.sizes
    core = {*surroundings(match.fragment.scop, match.fragment.statement.name)[first].statements}
    names = {s.name for s in match.fragment.scop.statements if s.depth >= depth}
    found: set[str] = set()
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.FLOW and pair.array not in found and {pair.source, pair.sink} & core:
            relation = fix_parameters(pair.relation, sizes)
            if {pair.source, pair.sink} <= names:
                same = relation
                for at in range(depth):
                    same = same.equate(isl.dim_type.in_, at, isl.dim_type.out, at)
                relation = relation.subtract(same)
            if not relation.is_empty():
                found.add(pair.array)
    return frozenset(found)


def part(scop: Scop, names: Collection[str]) -> Scop | None:
    """The Scop of some statements only, in their own order; None for none."""
    kept = tuple(s for s in scop.statements if s.name in names)
    if not kept:
        return None
    used = {a.array for s in kept for a in s.accesses}
    return replace(scop, statements=kept, arrays=tuple(a for a in scop.arrays if a.name in used),
                   schedule=scop.schedule.intersect_domain(union_set(s.domain for s in kept)))
