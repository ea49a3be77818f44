"""Nodes of older operator sets in the form of the newest: attributes that became operands, operators that went."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from polysched.graph.values.graph import Node

Constant = Callable[[np.ndarray], str]

AS_OPERANDS: dict[str, tuple[tuple[str, int, type], ...]] = {
    "Squeeze": (("axes", 1, np.int64),), "Unsqueeze": (("axes", 1, np.int64),), "Split": (("split", 1, np.int64),),
    "Slice": (("starts", 1, np.int64), ("ends", 2, np.int64), ("axes", 3, np.int64)),
    "Pad": (("pads", 1, np.int64), ("paddings", 1, np.int64), ("value", 2, np.float32)),
    "Clip": (("min", 1, np.float32), ("max", 2, np.float32)), "TopK": (("k", 1, np.int64),),
    "Reshape": (("shape", 1, np.int64),), "Upsample": (("scales", 1, np.float32),),
    "Tile": (("repeats", 1, np.int64),), "OneHot": ()}
"""Attributes of older operator sets, the operand that each became, and its element type."""

OF_THE_DATA = {"Clip": ("min", "max"), "Pad": ("value",)}
"""Those that were numbers, and are operands of the data's type."""

REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
              "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
DEFAULTS: tuple[tuple[str, int, str, Any], ...] = (
    ("Concat", 4, "axis", 1), ("DFT", 20, "axis", 1),
    ("RoiAlign", 16, "coordinate_transformation_mode", "output_half_pixel"))
"""Operators, the first version without it, an attribute, and what it was where it was not given."""
GONE = ("consumed_inputs", "is_test", "spatial", "broadcast")


def modernised(node: Node, version: int, constant: Constant) -> Iterator[Node]:
    """A node as the newest operator set has it.

    Parameters
    ----------
    version : of the operator set that the node is of.
    constant : names a new constant.
    """
    axis = 1 if node.op == "PRelu" else node.attribute("axis") if node.attribute("broadcast", 0) else None
    if version < 7 and axis is not None:
        aligned = f"{node.outputs[0]}_{node.inputs[1]}_aligned"
        yield Node.of("AlignedAt", node.inputs[::-1], (aligned,), {"axis": axis}, name=node.name)
        node = replace(node, inputs=(node.inputs[0], aligned),
                       attributes=tuple(a for a in node.attributes if a[0] != "axis"))
    moved = AS_OPERANDS.get(node.op, (("axes", 1, np.int64),) if node.op in REDUCTIONS else ())
    inputs, attributes = list(node.inputs), _attributes(node, version)
    for name, place, dtype in moved:
        if name in attributes:
            inputs += [""] * (place + 1 - len(inputs))
            inputs[place] = constant(np.array(_operand(node.op, name, attributes.pop(name)), dtype))
            if name in OF_THE_DATA.get(node.op, ()):
                number = f"{inputs[place]}_{name}"
                yield Node.of("CastLike", (inputs[place], node.inputs[0]), (number,), name=node.name)
                inputs[place] = number
    node = replace(node, op=_newer_name(node.op, version))
    if version < 13 and node.op in ("Softmax", "LogSoftmax", "Hardmax"):
        attributes = {"axis": attributes.get("axis", 1), "flatten": 1}
    yield replace(node, inputs=tuple(inputs), attributes=tuple(sorted(attributes.items())))


def _attributes(node: Node, version: int) -> dict[str, Any]:
    """The attributes without those that are gone, and with a default that there was."""
    before = {name: value for op, last, name, value in DEFAULTS if node.op == op and version < last}
    return {**before, **{k: v for k, v in node.attributes if k not in GONE}}


def _newer_name(op: str, version: int) -> str:
    """The operator that does the same: the first `Resize` has scales alone, as `Upsample`."""
    return {"Scatter": "ScatterElements", "Resize": "Upsample" if version < 11 else op}.get(op, op)


def _operand(op: str, name: str, value: Any) -> Any:
    return [value] if op == "TopK" and name == "k" else value
