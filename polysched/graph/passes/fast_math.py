"""Fast math, for those who ask for it: functions by short polynomials, with the errors that these state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node
from polysched.scop.dtypes import FLOAT32

FAST = {"Exp": "FastExp", "Tanh": "FastTanh", "Erf": "FastErf"}


def fast_math(graph: Graph) -> Graph:
    """Replace exp, tanh and erf of float32 by polynomials, and leave out sums with 0 and products with reciprocals.

    Rewrite:  let a = Exp(x); let b = Add(a, 0.0); let c = Div(b, 3.0)  ->  let a = FastExp(x); let c = Mul(a, 0.333...)

    Nothing runs it unless it is asked for.  `operators/approximations.py` states the errors; signed zeros may change.
    """
    return rewritten(expand_compositions(graph), _function, _zero, _reciprocal)


def _function(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op not in FAST or rw.type(node.inputs[0]).dtype != FLOAT32:
        return None
    return (rw.op(FAST[node.op], node.inputs[0]),)


def _zero(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """A sum or a difference with 0, whatever its sign."""
    value = rw.value(node.inputs[1]) if node.op in ("Add", "Sub") else None
    if value is None or not value.size or (value != 0).any() or rw.result(node) != rw.type(node.inputs[0]):
        return None
    return (node.inputs[0],)


def _reciprocal(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """A division by a constant: a product, which differs in the last bit."""
    value = rw.value(node.inputs[1]) if node.op == "Div" else None
    if value is None or value.dtype.kind != "f" or not value.size:
        return None
    with np.errstate(all="ignore"):
        inverse = np.asarray(1 / value.astype(np.float64)).astype(value.dtype)
    tiny = np.finfo(value.dtype).tiny
    if not (np.isfinite(inverse).all() and (np.abs(inverse) >= tiny).all()):
        return None
    return (rw.op("Mul", node.inputs[0], rw.constant(inverse)),)
