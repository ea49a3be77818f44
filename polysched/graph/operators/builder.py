"""`Builder`: adds nodes and constants one by one; for compositions, passes, and graphs by hand."""

from __future__ import annotations

from collections.abc import Callable

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
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}

    def constant(self, value: np.ndarray | np.generic | list[int] | tuple[int, ...]) -> str:
        """The name of a constant; whole numbers in a list are int64."""
        name = self.fresh("c")
        array = np.asarray(value, dtype=np.int64) if isinstance(value, list | tuple) else np.asarray(value)
        self.constants[name] = array
        return name

    def op(self, op: str, *inputs: str, **attributes: Attribute) -> str:
        """The name of an operator's only result."""
        return self.ops(op, 1, *inputs, **attributes)[0]

    def ops(self, op: str, results: int, *inputs: str, **attributes: Attribute) -> tuple[str, ...]:
        """The names of an operator's results."""
        outputs = tuple(self.fresh(op.lower()) for _ in range(results))
        self.nodes.append(Node.of(op, inputs, outputs, attributes))
        return outputs
