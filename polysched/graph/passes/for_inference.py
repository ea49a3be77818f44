"""Simplify inference: what only training needs goes, and scales of channels go into the weights before them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node


def simplify_inference(graph: Graph) -> Graph:
    """Take dropout away, and batch normalisation into the convolution or the product before it.

    Rewrite:  let c = Conv(x, w); let y = BatchNormalization(c, s, b, m, v)  ->  let y = Conv(x, w', b')

    Weights and statistics are constants, and nothing else uses the result before the normalisation; the new weights are
    computed in float64 and rounded once.  Results differ by rounding.
    """
    return rewritten(graph, _dropout, _normalised)


def _dropout(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op != "Dropout":
        return None
    training = node.inputs[2] if len(node.inputs) > 2 else ""
    mode = rw.value(training)
    if training and (mode is None or mode.any()):
        return None
    if len(node.outputs) == 1 or not node.outputs[1]:
        return (node.inputs[0],)
    return None


AXES = {"Conv": 0, "MatMul": 1}
"""Operators with weights, and the axis of the weights that makes the channels of the result."""


def _normalised(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """A batch normalisation behind an operator with constant weights."""
    if node.op != "BatchNormalization" or node.attribute("training_mode", 0) or len(node.outputs) > 1:
        return None
    before = rw.producer(node.inputs[0], *AXES)
    if before is None or rw.is_shared(before.outputs[0]) or not rw.type(node.inputs[0]).dtype.is_float:
        return None
    weights, bias, *parts = _values(before, node, rw)
    if weights is None or bias is None or any(p is None for p in parts) or not _fits(before, weights, rw):
        return None
    scale, shift, mean, variance = (np.asarray(p, np.float64) for p in parts)
    factor = scale / np.sqrt(variance + node.attribute("epsilon", 1e-5))
    own = [1] * weights.ndim
    own[AXES[before.op]] = -1
    scaled = np.empty_like(weights)
    np.multiply(weights, factor.reshape(own), out=scaled, dtype=np.float64, casting="same_kind")   # no wide copies
    offset = ((bias.astype(np.float64) - mean) * factor + shift).astype(weights.dtype)
    attributes = dict(before.attributes)
    if before.op == "Conv":
        return (rw.op("Conv", before.inputs[0], rw.constant(scaled), rw.constant(offset), **attributes),)
    return (rw.op("Add", rw.op("MatMul", before.inputs[0], rw.constant(scaled)), rw.constant(offset)),)


def _values(before: Node, node: Node, rw: Rewriting) -> list[np.ndarray | None]:
    """Weights and bias of an operator, and what the normalisation behind it takes; None for what is no constant."""
    bias = rw.value(before.inputs[2]) if len(before.inputs) > 2 and before.inputs[2] else np.zeros(1)
    return [rw.value(before.inputs[1]), bias, *(rw.value(name) for name in node.inputs[1:5])]


def _fits(before: Node, weights: np.ndarray, rw: Rewriting) -> bool:
    """Whether the channels of the result, its dimension 1, are an axis of the weights."""
    return before.op == "Conv" or (weights.ndim == 2 and rw.type(before.inputs[0]).rank == 2)
