"""Canonicalise: one way to write what can be written in several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.passes.expressions import reshaped
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node

COMMUTATIVE = frozenset({"Add", "Mul", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal"})
TURNED = {"Greater": "Less", "GreaterOrEqual": "LessOrEqual"}
TWO = {"Sum": "Add"}


def canonicalise(graph: Graph) -> Graph:
    """Constants stand on the right, a comparison is Less or LessOrEqual, another shape is Reshape.

    Rewrite:  let a = Greater(x, y); let b = Sub(x, 2)  ->  let a = Less(y, x); let b = Add(x, -2)

    Every rule is exact.
    """
    return rewritten(graph, _turned, _constant_right, _subtraction, _division, _several, _shape)


def _turned(node: Node, rw: Rewriting) -> Sequence[str] | None:
    return (rw.op(TURNED[node.op], *reversed(node.inputs)),) if node.op in TURNED else None


def _constant_right(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op not in COMMUTATIVE or rw.value(node.inputs[0]) is None or rw.value(node.inputs[1]) is not None:
        return None
    return (rw.op(node.op, node.inputs[1], node.inputs[0]),)


def _subtraction(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """Of a constant: its negative is added."""
    value = rw.value(node.inputs[1]) if node.op == "Sub" else None
    if value is None:
        return None
    with np.errstate(all="ignore"):
        return (rw.op("Add", node.inputs[0], rw.constant(np.asarray(-value))),)


def _division(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """By powers of two whose reciprocals are exact: a product."""
    value = rw.value(node.inputs[1]) if node.op == "Div" else None
    if value is None or value.dtype.kind != "f" or not value.size:
        return None
    fraction, exponent = np.frexp(value)
    limit = np.finfo(value.dtype).maxexp - 2
    if not ((np.abs(fraction) == 0.5) & (np.abs(exponent) < limit)).all():
        return None
    return (rw.op("Mul", node.inputs[0], rw.constant(np.asarray(1 / value, value.dtype))),)


def _several(node: Node, rw: Rewriting) -> Sequence[str] | None:
    return (rw.op(TWO[node.op], *node.inputs),) if node.op in TWO and len(node.inputs) == 2 else None


def _shape(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op not in ("Flatten", "Squeeze", "Unsqueeze"):
        return None
    made = reshaped(rw, node.inputs[0], rw.result(node).shape)
    return None if made is None else (made,)
