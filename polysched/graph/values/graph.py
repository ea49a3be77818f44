"""`Graph` and `Node`: operators applied to named values, each bound once, in the order in which they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.provided import provided

Attribute: TypeAlias = "int | float | str | tuple[int | float | str, ...]"


@dataclass(frozen=True, kw_only=True)
class Node:
    """One operator applied to values.

    Parameters
    ----------
    op : the operator's name in the registry.
    inputs : names of values; the empty name for an operand that is left out.
    outputs : names that the results are bound to; the empty name for one that nothing uses.
    attributes : by name, in the order of the names.
    regions : bodies of control flow; they see the values around them.
    name : what the model file calls it, for messages.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, Attribute], ...] = ()
    regions: tuple[Graph, ...] = ()
    name: str = field(default="", compare=False)

    @staticmethod
    def of(op: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, Attribute] | None = None,
           *, name: str = "") -> Node:
        """A node with attributes by name."""
        return Node(op=op, inputs=tuple(inputs), outputs=tuple(outputs), name=name,
                    attributes=tuple(sorted((attributes or {}).items())))

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; the default where it is not given."""
        return dict(self.attributes).get(name, default)

    @property
    def where(self) -> str:
        """The node as a message names it."""
        return f"node {self.name or next(iter(self.outputs), '')!r} ({self.op})"

    @property
    def used(self) -> tuple[str, ...]:
        """The values that it reads, those that its regions take from around them included."""
        outer = [name for region in self.regions for name in region.free]
        return tuple(dict.fromkeys([*(n for n in self.inputs if n), *outer]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """Values, each bound once: inputs, constants, and the results of nodes in the order in which they run.

    Parameters
    ----------
    name : of the graph.
    inputs : names and types of what is given.
    nodes : in an order in which every value is bound before it is used.
    outputs : names of the results.
    constants : arrays by name; not to be changed.
    types : of every value that a node binds; empty before types are inferred.
    parameters : of a region, names that its node binds anew each time; they have the types of what they are given.
    """

    name: str
    inputs: tuple[tuple[str, TensorType], ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    types: Mapping[str, TensorType] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        bound: set[str] = set()
        for name in [*dict(self.inputs), *self.parameters, *self.constants,
                     *(o for n in self.nodes for o in n.outputs if o)]:
            if name in bound:
                raise UnsupportedGraphError(f"the value {name!r} is bound twice", where=f"graph {self.name}",
                                            hint="give each value a name of its own")
            bound.add(name)
        if len(dict(self.inputs)) != len(self.inputs):
            raise UnsupportedGraphError("two inputs have one name", where=f"graph {self.name}",
                                        hint="give each input a name of its own")

    def type_of(self, name: str) -> TensorType:
        """The type of an input, a constant, or a value whose type was inferred.

        Raises
        ------
        UnsupportedGraphError : it is not known.
        """
        for name_of_input, its_type in self.inputs:
            if name_of_input == name:
                return its_type
        if name in self.constants:
            return TensorType.of_array(self.constants[name])
        if name not in self.types:
            raise UnsupportedGraphError(f"the type of {name!r} is not known", where=f"graph {self.name}",
                                        hint="infer types first: polysched.graph.passes.registry.PASSES['with_types']")
        return self.types[name]

    @property
    def bound(self) -> frozenset[str]:
        """The values that it binds."""
        return frozenset((*dict(self.inputs), *self.parameters, *self.constants,
                          *(o for n in self.nodes for o in n.outputs)))

    @property
    def free(self) -> tuple[str, ...]:
        """The values that it uses and does not bind: of a region, those around it."""
        own = self.bound
        wanted = [*(name for node in self.nodes for name in node.used), *self.outputs]
        return tuple(dict.fromkeys(name for name in wanted if name not in own))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of the inputs' shapes, in order of appearance."""
        return tuple(dict.fromkeys(s for _, t in self.inputs for e in t.shape for s in sorted(e.symbols)))

    @property
    def users(self) -> dict[str, list[Node]]:
        """The nodes that read each value."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in node.used:
                found.setdefault(name, []).append(node)
        return found

    def walk(self) -> Iterator[Node]:
        """All nodes, those of regions behind the node that has them."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    def but(self, **changes: Any) -> Graph:
        """The graph with some fields changed."""
        return replace(self, **changes)

    def __str__(self) -> str:
        text: str = provided("graph", "Graph.__str__")(self, most_elements=8)
        return text

    def _repr_html_(self) -> str:
        html: str = provided("graph", "Graph._repr_html_")(self)
        return html

    def __repr__(self) -> str:
        return (f"<Graph {self.name[:60]}: {len(self.nodes)} nodes, {len(self.constants)} constants, "
                f"{len(self.inputs)} inputs, {len(self.outputs)} outputs>")
