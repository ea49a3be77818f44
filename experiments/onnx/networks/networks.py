"""Networks as ONNX models: the published architectures, random weights, the batch an open size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPERATOR_SET = 17
FORMAT = 8
"""Of the file: the one that came with the operator set."""
BATCH = "batch"
CLASSES = 1000


@dataclass(eq=False)
class Layers:
    """The nodes and weights of a network that grows; values are names."""

    seed: int
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def node(self, op: str, *operands: str, **attributes: Any) -> str:
        """One more node; its result."""
        result = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, operands, [result], name=result, **attributes))
        return result

    def weight(self, values: np.ndarray) -> str:
        """One more constant."""
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def random(self, shape: Sequence[int], scale: float) -> str:
        """Weights of a normal distribution."""
        return self.weight(self._random.normal(0.0, scale, tuple(shape)))

    def convolution(self, x: str, channels: tuple[int, int], size: int, stride: int = 1, groups: int = 1) -> str:
        """A convolution without bias and its batch normalisation, as every one of these networks has them."""
        inner, outer = channels
        fan = size * size * inner // groups
        kernel = self.random((outer, inner // groups, size, size), (2.0 / fan) ** 0.5)
        y = self.node("Conv", x, kernel, kernel_shape=[size, size], strides=[stride, stride], group=groups,
                      pads=[(size - 1) // 2] * 4)
        draw = self._random
        mean, bias = draw.normal(0.0, 0.1, outer), draw.normal(0.0, 0.1, outer)
        scale, variance = draw.uniform(0.5, 1.0, outer), draw.uniform(0.5, 1.5, outer)
        return self.node("BatchNormalization", y, *map(self.weight, (scale, bias, mean, variance)), epsilon=1e-5)

    def classes(self, x: str, channels: int) -> str:
        """The mean over space and a dense layer."""
        pooled = self.node("Flatten", self.node("GlobalAveragePool", x), axis=1)
        dense = self.random((CLASSES, channels), channels ** -0.5)
        return self.node("Gemm", pooled, dense, self.weight(np.zeros(CLASSES)), transB=1)

    def model(self, name: str, result: str, side: int) -> onnx.ModelProto:
        """All of it, for images `[batch, 3, side, side]`."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, 3, side, side])
        y = helper.make_tensor_value_info(result, TensorProto.FLOAT, [BATCH, CLASSES])
        graph = helper.make_graph(self.nodes, name, [x], [y], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPERATOR_SET)], ir_version=FORMAT)


def resnet50(side: int = 224) -> onnx.ModelProto:
    """ResNet-50 (He et al., 2016, table 1), strides in the 3 x 3 convolutions as in torchvision: 25.6M weights."""
    layers = Layers(50)
    x = layers.node("Relu", layers.convolution("x", (3, 64), 7, 2))
    x = layers.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    given = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        narrow = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage else 1
            y = layers.node("Relu", layers.convolution(x, (given, narrow), 1))
            y = layers.node("Relu", layers.convolution(y, (narrow, narrow), 3, stride))
            y = layers.convolution(y, (narrow, 4 * narrow), 1)
            if block == 0:
                x = layers.convolution(x, (given, 4 * narrow), 1, stride)
            x = layers.node("Relu", layers.node("Add", y, x))
            given = 4 * narrow
    return layers.model("resnet50", layers.classes(x, given), side)


MOBILE = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Table 2 of Sandler et al.: expansion, channels, blocks, stride of the first block."""


def mobilenet_v2(side: int = 224) -> onnx.ModelProto:
    """MobileNetV2 (Sandler et al., 2018, table 2): 3.5M weights."""
    layers = Layers(2)

    def bounded(value: str) -> str:
        return layers.node("Clip", value, low, high)
    low, high = layers.weight(np.array(0.0)), layers.weight(np.array(6.0))
    x, given = bounded(layers.convolution("x", (3, 32), 3, 2)), 32
    for expansion, channels, blocks, first in MOBILE:
        for block in range(blocks):
            inner, stride = given * expansion, first if block == 0 else 1
            y = bounded(layers.convolution(x, (given, inner), 1)) if expansion > 1 else x
            y = bounded(layers.convolution(y, (inner, inner), 3, stride, inner))
            y = layers.convolution(y, (inner, channels), 1)
            x = layers.node("Add", x, y) if stride == 1 and given == channels else y
            given = channels
    x = bounded(layers.convolution(x, (given, 1280), 1))
    return layers.model("mobilenet_v2", layers.classes(x, 1280), side)


NETWORKS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}


def save(name: str, path: Path) -> None:
    """A network as a file."""
    onnx.save(NETWORKS[name](), path)
