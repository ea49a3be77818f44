"""The messages between numbered ranks at given sizes, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import permutations
from math import prod

import islpy as isl

from polysched.distribute.counts import count_points
from polysched.distribute.distribution import Distributed
from polysched.distribute.steps import step_names
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.points import fix_parameters, points_of

NAMED = 4
"""Elements that a message names one by one, where they are no box."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What one rank sends to another at the end of one step.

    Parameters
    ----------
    step : its values, outermost first; empty without steps.  With time tiles, the tile's.
    array : its name.
    count : elements.
    elements : for instance `A[3][1..5]`.
    """

    step: tuple[int, ...]
    sender: int
    receiver: int
    array: str
    count: int
    elements: str

    def headline(self) -> str:
        """For instance `step 2: rank 0 to rank 1, 5 elements, A[3][1..5]`."""
        when = f"step {', '.join(map(str, self.step))}: " if self.step else ""
        return (f"{when}rank {self.sender} to rank {self.receiver}, {self.count} element{'s' * (self.count != 1)}, "
                f"{self.elements}")


@dataclass(frozen=True, kw_only=True)
class Run:
    """Instances that a rank runs in a step.

    Parameters
    ----------
    own : those that it owns.
    replicas : of time tiles.
    first : those that run before messages are sent, where the rest runs while they are on their way; otherwise 0.
    """

    own: int
    replicas: int
    first: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class AtSizes:
    """A distributed program at given sizes on a given number of ranks: its sets with all parameters fixed."""

    distributed: Distributed
    ranks: int
    sizes: Mapping[str, int]

    def __post_init__(self) -> None:
        made = self.distributed.partition.ranks
        if not isinstance(self.ranks, int) or self.ranks < 1:
            raise UsageError(f"{self.ranks!r} ranks run nothing", hint="give one or more")
        if made is not None and made != self.ranks:
            raise UsageError(f"the partition is made for {made} ranks, not {self.ranks}",
                             where=self.distributed.scop.name)

    @cached_property
    def steps(self) -> list[tuple[int, ...]]:
        """The steps in which something runs, in order; one without values where there is no loop of steps."""
        if not self.distributed.steps:
            return [()] if self._ends else []
        return sorted(points_of(fix_parameters(self.distributed.step_set, self.sizes)))

    def known(self, step: tuple[int, ...], rank: int | None = None, other: int | None = None) -> dict[str, int]:
        """Values of all parameters that describe a step, a rank and the rank at the other end of a message."""
        partition, values = self.distributed.partition, dict(self.sizes)
        values.update(zip(step_names(self.distributed.steps), step, strict=True))
        for names, number in ((partition.own_names, rank), (partition.other_names, other)):
            if number is not None and self._ends is not None:
                values.update(partition.values(names, number, self.ranks, self._ends))
        return values

    @cached_property
    def _ends(self) -> tuple[int, int] | None:
        """The first and the last coordinate."""
        axis = fix_parameters(self.distributed.axis_set, self.sizes)
        if axis.is_empty():
            return None
        return int(axis.dim_min_val(0).to_python()), int(axis.dim_max_val(0).to_python())

    def sent_in(self, step: tuple[int, ...]) -> Iterator[Sent]:
        """The messages at the end of a step that hold something."""
        for sender, receiver in permutations(range(self.ranks), 2):
            known = self.known(step, sender, receiver)
            for message in self.distributed.messages:
                elements = fix_parameters(message.elements, known)
                if not elements.is_empty():
                    yield Sent(step=step, sender=sender, receiver=receiver, array=message.array,
                               count=count_points(elements), elements=elements_text(message.array, elements))

    def run_in(self, step: tuple[int, ...], rank: int) -> Run:
        """What a rank runs of a step."""
        known, made = self.known(step, rank), self.distributed
        first = own = total = 0
        for statement in made.scop.statements:
            executed = fix_parameters(made.shares.executed_in_step(statement, made.partition.own_names), known)
            total += count_points(executed)
            if made.tile.steps > 1:
                executed = executed.intersect(fix_parameters(
                    made.shares.owned(statement, made.partition.own_names), known))
            own += count_points(executed)
            if made.boundary is not None:
                first += count_points(fix_parameters(made.boundary[statement.name], known))
        return Run(own=own, replicas=total - own, first=first)

    def gathered_from(self, rank: int) -> dict[str, int]:
        """Elements per array that a rank sends to all others when the region ends."""
        if not self.steps:
            return {}
        known = self.known(self.steps[-1], rank)
        counts = {g.array: count_points(fix_parameters(g.elements, known)) for g in self.distributed.gathered}
        return {array: count for array, count in counts.items() if count}


def sent(distributed: Distributed, ranks: int, sizes: Mapping[str, int]) -> tuple[Sent, ...]:
    """Every message between ranks at the given sizes, in the order of steps; without what is gathered at the end.

    Parameters
    ----------
    ranks : their number; that of the partition where it is made for one.
    sizes : values of the program's parameters.
    """
    at = AtSizes(distributed=distributed, ranks=ranks, sizes=sizes)
    return tuple(found for step in at.steps for found in at.sent_in(step))


def elements_text(array: str, elements: isl.Set) -> str:
    """A box as `A[3][1..5]`; of other sets the first elements, `A[0][1], A[1][2], ...`."""
    count, dimensions = count_points(elements), range(elements.dim(isl.dim_type.set))
    low = [int(elements.dim_min_val(at).to_python()) for at in dimensions]
    high = [int(elements.dim_max_val(at).to_python()) for at in dimensions]
    if prod(b - a + 1 for a, b in zip(low, high, strict=True)) == count:
        return array + "".join(f"[{a}]" if a == b else f"[{a}..{b}]" for a, b in zip(low, high, strict=True))
    first = sorted(points_of(elements))[:NAMED]
    named = [array + "".join(f"[{value}]" for value in point) for point in first]
    return ", ".join(named + ["..."] * (count > NAMED))
