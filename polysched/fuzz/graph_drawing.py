"""What random graphs are drawn on: a graph that grows by one operator at a time, with the types of all values."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import Inference
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, DType

EXTENTS = (1, 2, 3, 5, 7, 8, 9)
NUMBERS = (FLOAT32, FLOAT64, INT32, INT64)
SMOOTH = ("Tanh", "Sigmoid", "Sin", "Cos", "Erf", "Softsign", "Atan")
PLAIN = ("Neg", "Abs", "Sign", "Relu")
PAIRS = ("Add", "Sub", "Max", "Min")
COMPARED = ("Less", "Greater", "Equal", "LessOrEqual")
NARROW = (FLOAT16, INT8, UINT8)
SIZED = 600


def counts(own: TensorType) -> bool:
    """A number that every operator computes alike: halves are rounded after every operation or later."""
    return own.dtype not in (BOOL, FLOAT16)


def moves(own: TensorType) -> bool:
    """Whatever is moved, compared by size or cut: all but truth values."""
    return own.dtype != BOOL


class Drawing:
    """A graph that grows by one operator at a time."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self.inputs: list[tuple[str, TensorType]] = []
        self.inference = Inference(Graph(name="drawn", inputs=(), nodes=(), outputs=()))
        for number in range(self.draw.randint(1, 3)):
            rank = self.draw.randint(1, 4)
            dtype = self.draw.choice((*NUMBERS, *NUMBERS, *NARROW))
            own = TensorType.of(dtype, [self.draw.choice(EXTENTS) for _ in range(rank)])
            if int(own.elements) <= SIZED:
                self.inputs.append((f"x{number}", own))
        self.inputs = self.inputs or [("x", TensorType.of(FLOAT32, (3, 5)))]
        self.inference.types |= dict(self.inputs)

    def any(self, wanted: Callable[[TensorType], bool] = counts) -> str | None:
        """A value of a kind; the newest are drawn the most."""
        fitting = [n for n, t in self.inference.types.items() if n not in self.constants and wanted(t)]
        return self.draw.choice(fitting[-6:]) if fitting else None

    def constant(self, values: object, dtype: DType = INT64) -> str:
        """The name of a constant."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(values, dtype.name)
        self.inference.bind(name, self.constants[name])
        return name

    def add(self, op: str, *inputs: str, results: int = 1, **attributes: Attribute) -> None:
        """One more node, where its results are small and its operator takes the operands."""
        outputs = [f"v{len(self.nodes)}_{r}" for r in range(results)]
        node = Node.of(op, inputs, outputs, attributes)
        try:
            self.inference.take(node)
        except UnsupportedGraphError:
            return
        if any(int(self.inference.types[o].elements) > SIZED for o in outputs):
            for output in outputs:
                del self.inference.types[output]
            return
        self.nodes.append(node)

    def region(self, node: Node, like: list[str]) -> None:
        """A node with regions, whose results have the types of some values."""
        self.inference.types |= {o: self.inference.types[x] for o, x in zip(node.outputs, like, strict=True)}
        self.nodes.append(node)
