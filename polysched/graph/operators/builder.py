"""`Builder`: adds nodes and constants one by one; for compositions and passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from polysched.graph.values.graph import Attribute, Node


class Builder:
    """Collects nodes under names of its own.

    Parameters
    ----------
    fresh : makes a name that is not taken.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.fresh = fresh
        self.origin = ""   # what the model file calls the node that new ones stand for
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}

    def constant(self, value: np.ndarray | np.generic | Sequence[int]) -> str:
        """The name of a constant; whole numbers in a list are int64."""
        name = self.fresh("c")
        self.constants[name] = np.asarray(value, None if isinstance(value, np.ndarray | np.generic) else np.int64)
        return name

    def op(self, op: str, *inputs: str, **attributes: Attribute) -> str:
        """The name of an operator's only result."""
        return self.ops(op, 1, *inputs, **attributes)[0]

    def ops(self, op: str, results: int, *inputs: str, **attributes: Attribute) -> tuple[str, ...]:
        """The names of an operator's results."""
        outputs = tuple(self.fresh(op.lower()) for _ in range(results))
        self.emit(Node.of(op, inputs, outputs, attributes, name=self.origin))
        return outputs

    def emit(self, node: Node) -> None:
        """One more node."""
        self.nodes.append(node)
