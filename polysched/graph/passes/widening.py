"""Wider floating types: the same graph in float64, as a reference whose rounding does not count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import FLOAT64

SHORTER = frozenset({"float16", "float32"})


def widened(graph: Graph) -> Graph:
    """The graph with float64 in place of every shorter floating type.

    Rewrite:  graph f(x: float32[N]) { let y = Cast(i; to="float32") ...  ->  graph f(x: float64[N]) { ... to="float64"
    """
    inputs = tuple((name, _type(t)) for name, t in graph.inputs)
    constants = {name: widened_array(a) for name, a in graph.constants.items()}
    return graph.but(inputs=inputs, constants=constants, types={}, nodes=tuple(_node(n) for n in graph.nodes))


def widened_array(array: np.ndarray) -> np.ndarray:
    """An array of floats in float64, any other as it is."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _type(own: TensorType) -> TensorType:
    return own.with_dtype(FLOAT64) if own.dtype.name in SHORTER else own


def _node(node: Node) -> Node:
    def wide(name: str, value: Attribute) -> Attribute:
        return FLOAT64.name if name in ("to", "dtype") and value in SHORTER else value
    attributes = tuple((n, wide(n, v)) for n, v in node.attributes)
    if node.op == "ConstantOfShape" and "dtype" not in dict(attributes):
        attributes += (("dtype", FLOAT64.name),)
    return replace(node, attributes=attributes, regions=tuple(widened(r) for r in node.regions))
