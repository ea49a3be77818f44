"""The Distributed value: what each rank executes, step by step, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.distribute.boundary import boundary_of
from polysched.distribute.messages import Gathered, Message, gathered, messages_of, with_whole_writes
from polysched.distribute.owners import Partition, axis_set, coordinates
from polysched.distribute.pivots import pivots, split_at
from polysched.distribute.shares import Shares
from polysched.distribute.steps import Step, find_steps, step_names
from polysched.distribute.time_tiles import EACH_STEP, TimeTile, find_time_tile, from_first
from polysched.errors import BudgetExceededError, IllegalScheduleError, UnsupportedScopError, UsageError
from polysched.records import dataclass
from polysched.scop.dtypes import INT64
from polysched.scop.scop import Access, Parameter, Scop, Statement, union_set
from polysched.scop.shown import Shown


@dataclass(frozen=True, eq=False, kw_only=True)
class Distributed(Shown):
    """A program over ranks with memories of their own.

    Parameters
    ----------
    dependences : of the program, in which writes on a condition always happen, and a row that a statement passes on may
        be a statement of its own.
    axis : the name of the loop.
    partition : how coordinates are dealt out.
    owners : `{ S[i, j] -> [a] }` per statement: the coordinate of each instance.
    steps : loops around which ranks exchange values, outermost first.
    messages : what is sent at the end of a step, or of a time tile.
    gathered : what every rank gets from every other when the region ends.
    tile : of steps between two exchanges; in one of several steps, ranks run replicas of others' instances.
    boundary : per statement what a rank runs of a step before it sends; the rest runs while messages are on their way.
        None sends when all is done.
    """

    dependences: Dependences
    axis: str
    partition: Partition
    owners: Mapping[str, isl.Map]
    steps: tuple[Step, ...]
    messages: tuple[Message, ...]
    gathered: tuple[Gathered, ...]
    tile: TimeTile = EACH_STEP
    boundary: Mapping[str, isl.Set] | None = None

    @property
    def shares(self) -> Shares:
        """Which rank runs what, and when."""
        return Shares(partition=self.partition, owners=self.owners, steps=self.steps, tile=self.tile)

    @property
    def scop(self) -> Scop:
        """The program that is dealt out."""
        return self.dependences.scop

    @property
    def axis_set(self) -> isl.Set:
        """`{ [a] }`: the coordinates that occur."""
        return axis_set(self.scop, self.owners)

    @property
    def step_set(self) -> isl.Set:
        """`{ [s0, s1] }`: the steps in which something runs; with time tiles, the tiles."""
        space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(self.steps))
        total = isl.Set.empty(space).align_params(self.scop.context.get_space())
        for statement in self.scop.statements:
            if self.steps:
                values = _stacked([step[statement.name] for step in self.steps])
                total = total.union(self.shares.step_values(values.intersect_domain(statement.domain).range()))
        return total.intersect_params(self.scop.context).coalesce()

    @property
    def part(self) -> Scop:
        """What one rank runs in one step: a program with the step and what the rank owns as further parameters."""
        return self._program({s.name: self._executed(s) for s in self.scop.statements})

    @property
    def parts(self) -> tuple[Scop, ...]:
        """The same in the order in which it runs: before messages are sent, and while they are on their way."""
        if self.boundary is None:
            return (self.part,)
        rest = {s.name: self._executed(s).subtract(self.boundary[s.name]) for s in self.scop.statements}
        return tuple(p for p in map(self._program, (self.boundary, rest)) if p.statements)

    def _executed(self, statement: Statement) -> isl.Set:
        return self.shares.executed_in_step(statement, self.partition.own_names)

    def _program(self, domains: Mapping[str, isl.Set]) -> Scop:
        names = (*step_names(self.steps), *self.partition.own_names)
        context = self.scop.context
        for name in names:
            context = _with_parameter(context, name)
        context = context.intersect(self.assumed.align_params(context.get_space()))
        made = (self._within(s, domains[s.name], context) for s in self.scop.statements)
        statements = tuple(s for s in made if not s.domain.is_empty())
        domain = union_set(s.domain for s in statements)
        return replace(
            self.scop, context=context, statements=statements,
            parameters=(*self.scop.parameters, *(Parameter(name=n, dtype=INT64) for n in names)),
            arrays=tuple(replace(a, dead_after=False) for a in self.scop.arrays),
            schedule=self.scop.schedule.intersect_domain(domain), source=None)

    @property
    def assumed(self) -> isl.Set:
        """What holds for the parameters of a rank and a step wherever something runs; the emitted code tests it."""
        known = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ : }")
        if self.partition.kind == "block":
            names = self.partition.own_names
            first = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{names[0]}] -> {{ [{names[0]}] }}")
            last = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{names[1]}] -> {{ [{names[1]} - 1] }}")
            inside = isl.Set.from_basic_set(self.axis_set.remove_divs().simple_hull())
            known = isl.Set.read_from_str(isl.DEFAULT_CONTEXT,
                                          f"[{', '.join(names)}] -> {{ : {names[0]} < {names[1]} }}")
            known = known.intersect(first.intersect(inside).params()).intersect(last.intersect(inside).params())
        else:
            (rank,) = self.partition.own_names
            known = isl.Set.read_from_str(
                isl.DEFAULT_CONTEXT, f"[{rank}] -> {{ : 0 <= {rank} < {self.partition.ranks} }}")
        if self.steps:
            names = step_names(self.steps)
            here = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{', '.join(names)}] -> {{ [{', '.join(names)}] }}")
            known = known.intersect(here.intersect(
                isl.Set.from_basic_set(self.step_set.remove_divs().simple_hull())).params())
        return known

    @staticmethod
    def _within(statement: Statement, domain: isl.Set, context: isl.Set) -> Statement:
        domain = domain.intersect_params(context).align_params(context.get_space())
        accesses: list[Access] = [replace(a, relation=a.relation.intersect_domain(domain)) for a in statement.accesses]
        return replace(statement, domain=domain.coalesce(), accesses=tuple(accesses))

    def headline(self) -> str:
        """For instance `jacobi along i (block): 1 loop of steps, 2 arrays in messages, 2 gathered`."""
        count = len(self.steps)
        return (f"{self.scop.name} along {self.axis} ({self.partition.kind}): {count} loop{'s' * (count != 1)} of "
                f"steps, {len(self.messages)} arrays in messages, {len(self.gathered)} gathered"
                + (f", {self.tile.headline()}" if self.tile.steps > 1 else "")
                + (", messages overlap with the interior" if self.boundary is not None else ""))

    def __str__(self) -> str:
        lines = [self.headline()]
        for statement in self.scop.statements:
            step = ", ".join(_affine_text(s[statement.name]) for s in self.steps)
            lines.append(f"  {statement.name} runs at {_map_text(self.owners[statement.name])}, step [{step}]")
        lines += [f"  sends {m.elements}" for m in self.messages]
        lines += [f"  gathers {g.elements}" for g in self.gathered]
        return "\n".join(lines)


def distribute(scop: Scop, axis: str, *, partition: Partition | None = None,
               owners: Mapping[str, str] | None = None, time_tile: int = 1, overlap: bool = False) -> Distributed:
    """A program over ranks: the iterations of a loop dealt out, and exact messages for what passes between them.

    Parameters
    ----------
    axis : the loop, by the name of its iterator.
    partition : how its iterations are dealt out; blocks unless given.
    owners : coordinates of statements by hand, see `coordinates`.
    time_tile : steps between two exchanges; more than one needs a block partition and makes replicas.
    overlap : send as soon as what others read is computed, and run the rest of the step meanwhile.

    Raises
    ------
    UsageError : there is no such loop; a time tile of another partition; an overlap with no messages.
    IllegalScheduleError : values pass between ranks in a way that no loops of steps order, or that no halo of a time
        tile holds; what is sent depends on the rest of its step.
    UnsupportedScopError : subscripts of writes are read from arrays, or dependences are not exact.
    BudgetExceededError : from the analysis.

    Source: owner computes, Rogers and Pingali, "Process decomposition through locality of reference", PLDI 1989; exact
    communication sets, Amarasinghe and Lam, PLDI 1993; distributed loops, Baghdadi et al., "Tiramisu", CGO 2019.
    """
    partition = partition or Partition()
    if not isinstance(partition, Partition):
        raise UsageError(f"no partition {partition!r}", hint='for instance Partition(kind="cyclic", ranks=4)')
    whole = with_whole_writes(scop)
    dependences = analyse(whole)
    if dependences.by_memory:
        raise BudgetExceededError("the dependences were not found exactly, so messages would not be",
                                  where=scop.name, witness="; ".join(dependences.fallbacks),
                                  hint="make the region smaller, or its subscripts simpler")
    found = coordinates(whole, axis, owners)
    _require_bounded(whole, found)
    dependences, found, steps = _in_fewest_loops(dependences, axis, found, owners or {})
    if time_tile != 1:
        if partition.kind != "block":
            raise UsageError(f"time tiles need a block partition, and this one is {partition.kind}", where=scop.name,
                             hint="every coordinate would be in somebody's halo; leave the time tile out")
        steps = from_first(dependences.scop, steps)
    tile = find_time_tile(dependences, found, steps, time_tile)
    shares = Shares(partition=partition, owners=found, steps=steps, tile=tile)
    messages = messages_of(dependences, shares)
    boundary = boundary_of(dependences, shares, messages) if overlap else None
    return Distributed(dependences=dependences, axis=axis, partition=partition, owners=found, steps=steps,
                       messages=messages, gathered=gathered(dependences, shares), tile=tile, boundary=boundary)


def _in_fewest_loops(dependences: Dependences, axis: str, owners: dict[str, isl.Map], given: Mapping[str, str]
                     ) -> tuple[Dependences, dict[str, isl.Map], tuple[Step, ...]]:
    """The program as it is, or with a row that it passes on as a statement of its own, where that takes fewer loops."""
    refused: IllegalScheduleError | None = None
    steps: tuple[Step, ...] = ()
    try:
        steps = find_steps(dependences, owners)
        if len(steps) < 2:
            return dependences, owners, steps
    except IllegalScheduleError as error:
        refused = error
    for statement, row in pivots(dependences, owners) if not given else ():
        split = analyse(split_at(dependences.scop, statement, row))
        moved = coordinates(split.scop, axis)
        try:
            fewer = find_steps(split, moved)
        except IllegalScheduleError:
            continue
        if refused is not None or len(fewer) < len(steps):
            return split, moved, fewer
    if refused is not None:
        raise refused
    return dependences, owners, steps


def _require_bounded(scop: Scop, owners: Mapping[str, isl.Map]) -> None:
    if not axis_set(scop, owners).is_bounded():
        raise UnsupportedScopError("the distributed loop has no bounds", where=scop.name)


def _stacked(steps: Sequence[isl.Aff]) -> isl.Map:
    """`{ S[i, j] -> [s0, s1] }`."""
    first, *others = (isl.Map.from_aff(step) for step in steps)
    for other in others:
        first = first.flat_range_product(other)
    return first


def _with_parameter(context: isl.Set, name: str) -> isl.Set:
    at = context.dim(isl.dim_type.param)
    return context.add_dims(isl.dim_type.param, 1).set_dim_name(isl.dim_type.param, at, name)


def _affine_text(step: isl.Aff) -> str:
    return str(step).split("->")[-1].strip(" {}[]()")


def _map_text(owner: isl.Map) -> str:
    return str(owner).split("->", 1)[-1].strip()
