"""Common subexpressions: what is computed twice is computed once; equal constants are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.control import CLOSED
from polysched.graph.passes.calls import with_regions
from polysched.graph.passes.control import renamed
from polysched.graph.passes.rewriting import with_outputs
from polysched.graph.values.graph import Graph, Node
from polysched.records import whole

Constant: TypeAlias = "tuple[str, tuple[int, ...], bytes]"
"""Element type, shape and some of the elements."""
Result: TypeAlias = "tuple[str, tuple[str, ...], str, tuple[bool, ...]]"
"""Operator, operands, attributes as text (0.0 and -0.0 are equal and differ), and which results are bound."""


def common_subexpressions(graph: Graph) -> Graph:
    """Compute once what is computed twice: a region uses what stands before it around it.

    Rewrite:  let a = Exp(x); let b = Exp(x); let c = Add(a, b)  ->  let a = Exp(x); let c = Add(a, a)
    """
    scope = _Scope({}, {})
    return with_outputs(scope.of(graph), scope.names)


class _Scope:
    """What is computed so far, here and around.

    Parameters
    ----------
    constants, results : values by what they are.
    """

    def __init__(self, constants: Mapping[Constant, Sequence[tuple[str, np.ndarray]]],
                 results: Mapping[Result, tuple[str, ...]]) -> None:
        self.constants, self.results = {key: list(own) for key, own in constants.items()}, dict(results)
        self.names: dict[str, str] = {}

    def of(self, graph: Graph) -> Graph:
        """A graph or a region without what was computed before; `names` says what stands for what went."""
        constants: dict[str, np.ndarray] = {}
        for name, array in graph.constants.items():
            first = self.first_equal(name, array)
            if first == name:
                constants[name] = array
            else:
                self.names[name] = first
        nodes: list[Node] = []
        for node in graph.nodes:
            own = renamed(node, self.names)
            key: Result = (own.op, own.inputs, whole(own.attributes), tuple(o != "" for o in own.outputs))
            if node.regions:
                nodes.append(own if node.op in CLOSED else self.with_regions(own))
            elif key in self.results:
                self.names |= {o: first for o, first in zip(node.outputs, self.results[key], strict=True) if o}
            else:
                self.results[key] = own.outputs
                nodes.append(own)
        return graph.but(nodes=tuple(nodes), constants=constants, types={})

    def first_equal(self, name: str, array: np.ndarray) -> str:
        """The first constant of the same type with the same bytes: itself where there is none.

        The letters of NumPy's types (`dtype.str`) do not tell int4, uint4 and floats of 8 bits apart; their names do.
        """
        sample = array.flat[::max(array.size // LIMITS.sampled_elements, 1)].tobytes()   # no copy of transposed weights
        alike = self.constants.setdefault((str(array.dtype), array.shape, sample), [])
        for other, its_array in alike:
            if array.size <= LIMITS.sampled_elements or its_array.tobytes() == array.tobytes():
                return other
        alike.append((name, array))
        return name

    def with_regions(self, node: Node) -> Node:
        """A node whose regions use what is known here, under names that they do not bind anew."""
        regions = []
        for region in node.regions:
            own = region.bound
            results = {key: made for key, made in self.results.items() if not own & {*made, *key[1]}}
            constants = {key: [(name, array) for name, array in equal if name not in own]
                         for key, equal in self.constants.items()}
            inner = _Scope(constants, results)
            made = inner.of(region)
            regions.append(made.but(outputs=tuple(inner.names.get(o, o) for o in made.outputs)))
        return with_regions(node, regions)

