"""Control flow of a plan: the plans of regions become parts of the plan around them, in one memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

import numpy as np

from polysched.graph.evaluation.inference import Inference, Inferred
from polysched.graph.operators.control import REPEAT, Repeated, repeated
from polysched.graph.planning.steps import Carried, Either, Part, Repetition, Row, Step
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass


class RegionPlan(Protocol):
    """What is read of the plan of a region."""

    @property
    def graph(self) -> Graph:
        """With types."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """In order."""

    @property
    def roots(self) -> Mapping[str, str]:
        """The value whose memory each value uses."""

    @property
    def room(self) -> tuple[Size, ...]:
        """Sizes that are not negative."""

    def type_of(self, name: str) -> TensorType:
        """The type of a value."""


@dataclass(eq=False)
class Nesting:
    """Takes nodes with regions into a plan.

    Parameters
    ----------
    inferred : what is known of the values around the regions.
    planner : the plan of a region, as a graph whose inputs are its parameters.
    around : constants around the regions.
    constants, types, roots, room : of the values of regions under their names in the plan around; filled as nodes
        are taken.
    """

    inferred: Inferred
    planner: Callable[[Graph], RegionPlan]
    around: Mapping[str, np.ndarray]
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    types: dict[str, TensorType] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    room: list[Size] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.taken = set(self.inferred.types)
        self.inference = Inference(Graph(name="", inputs=tuple(self.inferred.types.items()), nodes=(), outputs=()))
        self.arrays = {id(array): name for name, array in self.around.items()}

    def step(self, node: Node) -> Either | Repetition:
        """The step of a node."""
        return self.repetition(node) if node.op == REPEAT else self.either(node)

    def either(self, node: Node) -> Either:
        """A branch."""
        stem, types = self.stem(node), [self.inferred.types[n] for n in node.inputs[1:]]
        outputs = tuple(o or f"{stem}/{place}" for place, o in enumerate(node.outputs))
        parts = []
        for side, region in zip(("yes", "no"), node.regions, strict=True):
            names = dict(zip(region.parameters, node.inputs[1:], strict=True))
            taken = _Taken(self, region, types, names, f"{stem}/{side}")
            parts.append(taken.part(list(zip(region.outputs, outputs, strict=False))))
        for place, output in enumerate(outputs):
            self.types.setdefault(output, taken.plan.type_of(node.regions[1].outputs[place]))
            self.roots.setdefault(output, output)
        return Either(condition=node.inputs[0], yes=parts[0], no=parts[1], outputs=outputs)

    def repetition(self, node: Node) -> Repetition:
        """A loop."""
        own, region, stem = repeated(node), node.regions[0], self.stem(node)
        types = self.inference.parameters(own)
        named = len(types) - len(own.captured)
        outer = dict(zip(region.parameters[named:], own.captured, strict=True))
        taken = _Taken(self, region, types, outer, f"{stem}/body")
        inner = [taken.name(p) for p in region.parameters[:named]]
        for name, its_type in zip(inner, types, strict=False):
            self.bind(name, its_type)
        carried = self.carried(own, inner[2:], stem)
        rows = tuple(Row(whole=whole or f"{stem}/stack {place}", row=f"{stem}/row {place}", backwards=back)
                     for place, (whole, back) in enumerate(zip(own.stacked, own.stacked_backwards, strict=True)))
        for row, name in zip(rows, region.outputs[1 + len(carried):], strict=True):
            self.bind(row.row, taken.plan.type_of(name))
            self.roots[row.whole] = row.whole
        homes = [*(c.next for c in carried), *(r.row for r in rows)]
        body = taken.part(list(zip(region.outputs[1:], homes, strict=True)))
        sliced = tuple(map(Row, own.sliced, inner[2 + len(carried):], own.backwards))
        return Repetition(limit=own.limit, condition="" if own.steady else own.condition, iteration=inner[0],
                          goes_on=inner[1], carried=carried, sliced=sliced, stacked=rows, body=body,
                          next_condition="" if own.steady else taken.name(region.outputs[0]))

    def carried(self, own: Repeated, inner: Sequence[str], stem: str) -> tuple[Carried, ...]:
        """The values that iterations hand on.

        Parameters
        ----------
        inner : what the body reads.
        """
        found = []
        for place, (first, now, result) in enumerate(zip(own.carried, inner, own.results, strict=False)):
            each = Carried(first=first, now=now, next=f"{stem}/next {place}", other=f"{stem}/other {place}",
                           result=result or f"{stem}/{place}")
            for name in (each.next, each.other, each.result):
                self.bind(name, self.inferred.types[first])
            found.append(each)
        return tuple(found)

    def bind(self, name: str, its_type: TensorType) -> None:
        """A value with memory of its own."""
        self.types[name], self.roots[name] = its_type, name

    def stem(self, node: Node) -> str:
        """What the names of a node's regions begin with: no other name does."""
        stem = next(filter(None, node.outputs), node.op)
        while any(name.startswith(f"{stem}/") for name in self.taken):
            stem += "'"
        self.taken.add(f"{stem}/")
        return stem


class _Taken:
    """The plan of a region under names of the plan around it.

    Parameters
    ----------
    types : of its parameters.
    names : of parameters that are values outside.
    stem : what the other names begin with.
    """

    def __init__(self, nesting: Nesting, region: Graph, types: Sequence[TensorType], names: Mapping[str, str],
                 stem: str) -> None:
        inputs = tuple(zip(region.parameters, types, strict=True))
        outputs = tuple(dict.fromkeys(region.outputs))
        self.plan = nesting.planner(region.but(parameters=(), inputs=inputs, outputs=outputs))
        self.nesting, self.names, self.stem = nesting, dict(names), stem
        graph = self.plan.graph
        self.names |= {n: nesting.arrays[id(a)] for n, a in graph.constants.items() if id(a) in nesting.arrays}
        own = {self.name(n): a for n, a in graph.constants.items() if n not in self.names}
        nesting.constants |= own
        nesting.arrays |= {id(array): name for name, array in own.items()}
        nesting.room += self.plan.room
        nesting.types |= {self.name(n): t for n, t in graph.types.items()}

    def name(self, name: str) -> str:
        """A value's name in the plan around; empty for an operand that is left out."""
        return name and self.names.get(name, f"{self.stem}/{name}")

    def part(self, results: Sequence[tuple[str, str]]) -> Part:
        """The steps of the region.

        Parameters
        ----------
        results : values of the region, and the memory that gets them.
        """
        graph, roots = self.plan.graph, self.plan.roots
        homes: dict[str, str] = {}
        copied = []
        given = {*dict(graph.inputs), *graph.constants}
        for name, home in results:
            root = roots[name]
            if root in given or root in homes:
                copied.append((home, self.name(name)))
            else:
                homes[root] = home
        self.nesting.roots |= {self.name(n): homes.get(r, self.name(r)) for n, r in roots.items()
                               if n not in self.names}
        return Part(steps=tuple(s.renamed(self.name) for s in self.plan.steps), copied=tuple(copied))
