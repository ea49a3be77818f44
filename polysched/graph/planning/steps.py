"""The steps of a plan: kernels, copies, and control flow whose regions consist of steps themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from polysched.graph.operators.moves import Move
from polysched.graph.values.graph import Graph
from polysched.graph.values.sizes import Size
from polysched.records import dataclass


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """A step that runs a compiled fragment.

    Parameters
    ----------
    fragment : what it computes, with canonical names.
    inputs, outputs : values of the graph.
    sizes : symbols and products of the graph's open sizes, in the order of the fragment's own.
    """

    fragment: Graph
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: tuple[Size, ...] = ()

    def renamed(self, name: Callable[[str], str]) -> Kernel:
        """The step on values under other names."""
        return replace(self, inputs=tuple(map(name, self.inputs)), outputs=tuple(map(name, self.outputs)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Together:
    """A step that runs kernels in one parallel region, with one barrier behind all of them.

    Parameters
    ----------
    kernels : with equal fragments; none reads what another makes.
    """

    kernels: tuple[Kernel, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """What they read."""
        return tuple(dict.fromkeys(n for k in self.kernels for n in k.inputs))

    @property
    def outputs(self) -> tuple[str, ...]:
        """What they make."""
        return tuple(n for k in self.kernels for n in k.outputs)

    def renamed(self, name: Callable[[str], str]) -> Together:
        """The step on values under other names."""
        return Together(kernels=tuple(k.renamed(name) for k in self.kernels))


@dataclass(frozen=True, eq=False, kw_only=True)
class Copies:
    """A step that copies elements.

    Parameters
    ----------
    moves : one after the other.
    inputs : the values that the moves' operands name.
    output : the value that is made.
    node : what the model file calls the node that it stands for; empty where it does not say.
    """

    moves: tuple[Move, ...]
    inputs: tuple[str, ...]
    output: str
    node: str = ""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The values that are made."""
        return (self.output,)

    @property
    def indices(self) -> tuple[str, ...]:
        """The values that say where elements come from, or go."""
        return tuple(dict.fromkeys(self.inputs[place.index[0]] for move in self.moves
                                   for place in (*move.source, *move.target) if place.index is not None))

    def renamed(self, name: Callable[[str], str]) -> Copies:
        """The step on values under other names."""
        return replace(self, inputs=tuple(map(name, self.inputs)), output=name(self.output))


@dataclass(frozen=True, eq=False, kw_only=True)
class Sizes:
    """A step that writes sizes which are open while compiling.

    Parameters
    ----------
    values : the elements of the value that is made.
    output : the value.
    """

    values: tuple[Size, ...]
    output: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """It reads no value."""
        return ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The value that is made."""
        return (self.output,)

    def renamed(self, name: Callable[[str], str]) -> Sizes:
        """The step on values under other names."""
        return replace(self, output=name(self.output))


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """What a region does: its steps, then copies of whole values.

    Parameters
    ----------
    steps : in order.
    copied : targets and sources of results that no step makes in their place.
    """

    steps: tuple[Step, ...]
    copied: tuple[tuple[str, str], ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Every value that it reads or makes."""
        found = [n for s in self.steps for n in (*s.inputs, *s.outputs)]
        return tuple(dict.fromkeys(n for n in (*found, *(n for pair in self.copied for n in pair)) if n))

    def renamed(self, name: Callable[[str], str]) -> Part:
        """The part on values under other names."""
        return Part(steps=tuple(s.renamed(name) for s in self.steps),
                    copied=tuple((name(a), name(b)) for a, b in self.copied))


@dataclass(frozen=True, eq=False, kw_only=True)
class Either:
    """A step that runs one of two parts.

    Parameters
    ----------
    condition : the value that decides.
    yes, no : make the outputs.
    outputs : values of the graph.
    """

    condition: str
    yes: Part
    no: Part
    outputs: tuple[str, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """Both."""
        return self.yes, self.no

    @property
    def inputs(self) -> tuple[str, ...]:
        """What it reads, and what it makes inside."""
        return tuple(dict.fromkeys((self.condition, *self.yes.used, *self.no.used)))

    def renamed(self, name: Callable[[str], str]) -> Either:
        """The step on values under other names."""
        return Either(condition=name(self.condition), yes=self.yes.renamed(name), no=self.no.renamed(name),
                      outputs=tuple(map(name, self.outputs)))


@dataclass(frozen=True, kw_only=True)
class Carried:
    """A value that iterations hand on, in two buffers by turns.

    Parameters
    ----------
    first : the value before the loop.
    now, next : what an iteration reads, and what it makes.
    result : the value behind the loop, which is one of the buffers.
    other : the other buffer.
    """

    first: str
    now: str
    next: str
    result: str
    other: str


@dataclass(frozen=True)
class Row:
    """The part of a value along its first dimension that belongs to one iteration.

    Parameters
    ----------
    whole, row : values.
    backwards : whether the first iteration has the last row.
    """

    whole: str
    row: str
    backwards: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Repetition:
    """A step that runs a part again and again.

    Parameters
    ----------
    limit, condition : values that say how often, and whether at all; empty where nothing does.
    iteration, goes_on : what the part reads as the number of the iteration, and as the condition.
    next_condition : what the part makes; empty where the limit alone counts.
    carried, sliced, stacked : see `Carried` and `Row`; rows of sliced values are read, of stacked ones made.
    body : the part.
    """

    limit: str
    condition: str
    iteration: str
    goes_on: str
    next_condition: str
    carried: tuple[Carried, ...]
    sliced: tuple[Row, ...]
    stacked: tuple[Row, ...]
    body: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its body."""
        return (self.body,)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The values behind the loop."""
        return (*(c.result for c in self.carried), *(r.whole for r in self.stacked))

    @property
    def inputs(self) -> tuple[str, ...]:
        """What it reads, and what it makes inside."""
        around = (self.limit, self.condition, *(c.first for c in self.carried), *(r.whole for r in self.sliced))
        return tuple(dict.fromkeys(n for n in (*around, *self.body.used) if n))

    def renamed(self, name: Callable[[str], str]) -> Repetition:
        """The step on values under other names."""
        def row(r: Row) -> Row:
            return Row(whole=name(r.whole), row=name(r.row), backwards=r.backwards)
        return Repetition(
            limit=name(self.limit), condition=name(self.condition), iteration=name(self.iteration),
            goes_on=name(self.goes_on), next_condition=name(self.next_condition), body=self.body.renamed(name),
            carried=tuple(Carried(first=name(c.first), now=name(c.now), next=name(c.next), result=name(c.result),
                                  other=name(c.other)) for c in self.carried),
            sliced=tuple(map(row, self.sliced)), stacked=tuple(map(row, self.stacked)))


Step: TypeAlias = "Kernel | Together | Copies | Sizes | Either | Repetition"


def walked(steps: Sequence[Step]) -> Iterator[Step]:
    """All steps, those inside of a step behind it."""
    for step in steps:
        yield step
        if isinstance(step, Together):
            yield from step.kernels
        if isinstance(step, Either | Repetition):
            for part in step.parts:
                yield from walked(part.steps)
