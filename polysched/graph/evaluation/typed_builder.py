"""`TypedBuilder`: a builder that knows the types and values of what it makes; for passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from polysched.graph.evaluation.inference import Inference
from polysched.graph.operators.builder import Builder
from polysched.graph.values.graph import Graph, Node


class TypedBuilder(Builder):
    """Collects nodes behind the inputs and constants of a graph.

    Parameters
    ----------
    fresh : makes a name that is not taken.
    """

    def __init__(self, graph: Graph, fresh: Callable[[str], str]) -> None:
        super().__init__(fresh)
        self.inference = Inference(graph)
        self.constants |= graph.constants

    def emit(self, node: Node) -> None:
        """One more node, whose operands are known by now."""
        self.inference.take(node)
        super().emit(node)

    def constant(self, value: np.ndarray | np.generic | Sequence[int]) -> str:
        """The name of one more constant; whole numbers in a list are int64."""
        name = super().constant(value)
        self.inference.bind(name, self.constants[name])
        return name
