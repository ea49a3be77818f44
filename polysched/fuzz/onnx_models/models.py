"""Random ONNX models: the operator set, the nodes and the inputs follow from a seed.

    drawn = random_model(seed)
    drawn.proto, drawn.inputs, drawn.calls()
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from polysched.fuzz.onnx_models import movement, pointwise, sequences, sums, windows
from polysched.fuzz.onnx_models.drawing import ModelDrawing
from polysched.records import dataclass

FAMILIES: tuple[tuple[tuple[Callable[[ModelDrawing], None], ...], int], ...] = (
    (pointwise.WAYS, 4), (movement.WAYS, 4), (windows.WAYS, 3), (sums.WAYS, 3), (sequences.WAYS, 2))
"""The ways of every family, and how often one of it is drawn."""
MOST_NODES = 4
OPEN = 0.3
"""The share of models with a size that is open."""
FURTHER_SIZES = (1, 2)
"""How much larger than the one that was drawn further values of an open size are; the first value is drawn."""


@dataclass(frozen=True, eq=False)
class RandomModel:
    """A model with arrays for its inputs.

    Parameters
    ----------
    proto : ONNX's value.
    inputs : an array per input.
    opened : the input and the dimension whose extent is the symbol N; None where all are known.
    """

    proto: Any
    inputs: dict[str, np.ndarray]
    opened: tuple[str, int] | None = None

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators in their order."""
        return tuple(node.op_type for node in self.proto.graph.node)

    @property
    def version(self) -> int:
        """Of the operator set."""
        return int(self.proto.opset_import[0].version)

    def calls(self) -> list[dict[str, np.ndarray]]:
        """The arrays of every call: with an open size, of some values of it."""
        if self.opened is None:
            return [self.inputs]
        name, axis = self.opened
        own = self.inputs[name]
        lengths = [own.shape[axis] + more for more in (0, *FURTHER_SIZES)]
        return [self.inputs | {name: _of_length(own, axis, length)} for length in lengths]


def _of_length(array: np.ndarray, axis: int, length: int) -> np.ndarray:
    """As many rows, the first ones again where there are not enough."""
    if not array.shape[axis]:
        return np.zeros([length if d == axis else e for d, e in enumerate(array.shape)], array.dtype)
    rows: np.ndarray = np.take(array, np.arange(length) % array.shape[axis], axis)
    return rows


def random_model(seed: int) -> RandomModel:
    """A model that is the same for the same seed, and the same version of onnx."""
    drawing = ModelDrawing(seed)
    ways = [ways for ways, weight in FAMILIES for _ in range(weight)]
    wanted = drawing.draw.randint(1, MOST_NODES)
    for _ in range(20 * wanted):
        drawing.draw.choice(drawing.draw.choice(ways))(drawing)
        if len(drawing.nodes) >= wanted:
            break
    else:
        drawing.add("Identity", drawing.given(np.zeros((2, 3), np.float32)))
    proto = drawing.finished()
    inputs = {value.name: drawing.inputs[value.name] for value in proto.graph.input}
    opened = _opened(proto, inputs, drawing.draw) if drawing.chance(OPEN) else None
    return RandomModel(proto, inputs, opened)


def _opened(proto: Any, inputs: dict[str, np.ndarray], draw: Random) -> tuple[str, int] | None:
    """Open one extent of an input, and forget the shapes of the outputs."""
    places = [(name, axis) for name, array in inputs.items() for axis in range(array.ndim)]
    if not places:
        return None
    name, axis = draw.choice(places)
    value = next(v for v in proto.graph.input if v.name == name)
    value.type.tensor_type.shape.dim[axis].dim_param = "N"
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    return name, axis
