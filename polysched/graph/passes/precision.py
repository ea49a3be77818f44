"""Mixed precision: products in short floats, sums and sensitive functions in float32; weights stored short.

Three lists say what becomes short, as in TVM's ToMixedPrecision and PyTorch's autocast: operators that gain are always
computed on short operands, those that would lose too much never, and the others in the type that they are given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.errors import UsageError
from polysched.graph.operators.operator import Kind
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node
from polysched.scop.dtypes import FLOAT16, FLOAT32

ALWAYS = frozenset({"Conv", "MatMul", "Gemm", "Dense"})
FOLLOWING = frozenset({Kind.ELEMENTWISE, Kind.BROADCAST, Kind.INJECTIVE})
NEVER = frozenset({"Exp", "Log", "Pow", "Sqrt", "Reciprocal", "Div", "Erf", "Tan", "Sinh", "Cosh", "Gelu", "Softplus",
                   "Mish", "Cast", "BitCast", "Resize", "QuantizeLinear", "DequantizeLinear"})
STORED = ("float16", "bfloat16")


def mixed_precision(graph: Graph, to: str = "float16") -> Graph:
    """Compute products on float16, or store constant weights as bfloat16.

    Rewrite:  let y = MatMul(x, w)  ->  let h = Cast(x); let z = MatMul(h, w'); let y = Cast(z; to="float32")

    Parameters
    ----------
    to : `float16`: operands of products and what follows them; sums are float32 inside.  A node with a constant that
        float16 does not hold stays float32.  `bfloat16`: constant operands of products are 16 bits in memory and
        float32 in every computation.

    Raises
    ------
    UsageError : another type.
    """
    if to not in STORED:
        raise UsageError(f"no storage as {to}", hint=f"one of {', '.join(STORED)}")
    if to == "bfloat16":
        return rewritten(graph, _stored_weights)
    return rewritten(graph, _short_product, _following)


def _holds(name: str, rw: Rewriting) -> bool:
    """Whether float16 holds a value as far as is known: no number becomes infinite, and not all of them become 0."""
    value = rw.value(name) if name else None
    if value is None or value.dtype != np.float32:
        return True
    with np.errstate(over="ignore", under="ignore"):
        short = value.astype(np.float16)
    return not (np.isinf(short) & np.isfinite(value)).any() and bool(short.any() or not value.any())


def _halved(name: str, rw: Rewriting) -> str:
    """A value as float16; what was widened from it is taken as it was."""
    own = rw.type(name).dtype
    if own != FLOAT32:
        return name
    value, wide = rw.value(name), rw.producer(name, "Cast")
    if value is not None:
        return rw.constant(value.astype(np.float16))
    if wide is not None and rw.type(wide.inputs[0]).dtype == FLOAT16:
        return wide.inputs[0]
    return rw.op("Cast", name, to="float16")


def _widened(rw: Rewriting, node: Node, inputs: Sequence[str]) -> Sequence[str]:
    """A node on other operands, with its result in float32 again."""
    return (rw.op("Cast", rw.op(node.op, *inputs, **dict(node.attributes)), to="float32"),)


def _short_product(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op not in ALWAYS or len(node.outputs) != 1 or rw.type(node.inputs[0]).dtype != FLOAT32:
        return None
    if not all(_holds(n, rw) for n in node.inputs):
        return None
    return _widened(rw, node, [_halved(n, rw) if n else n for n in node.inputs])


def _following(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """An operator of short values that were widened for it: it takes them as they are."""
    if not _follows(node):
        return None
    floats = [n for n in node.inputs if n and rw.type(n).dtype == FLOAT32]
    if not any(_was_short(n, rw) for n in floats) or rw.result(node).dtype != FLOAT32:
        return None
    if not all((_was_short(n, rw) or rw.value(n) is not None) and _holds(n, rw) for n in floats):
        return None
    return _widened(rw, node, [_halved(n, rw) if n in floats else n for n in node.inputs])


def _follows(node: Node) -> bool:
    """Whether an operator is computed in the type that it is given."""
    operator = OPERATORS.get(node.op)
    return operator is not None and operator.kind in FOLLOWING and node.op not in NEVER and len(node.outputs) == 1


def _was_short(name: str, rw: Rewriting) -> bool:
    wide = rw.producer(name, "Cast")
    return wide is not None and rw.type(wide.inputs[0]).dtype == FLOAT16


def bfloat16_bits(array: np.ndarray) -> np.ndarray:
    """The bits of bfloat16 for float32 values, rounded to even; NaN stays NaN."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), 0x7FC0, rounded).astype(np.uint16).reshape(array.shape)


def _stored_weights(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """A product whose constant operands stand in memory as bfloat16."""
    if node.op not in ALWAYS or len(node.outputs) != 1:
        return None
    inputs = [_stored(n, rw) if place else n for place, n in enumerate(node.inputs)]
    if tuple(inputs) == node.inputs:
        return None
    return (rw.op(node.op, *inputs, **dict(node.attributes)),)


def _stored(name: str, rw: Rewriting) -> str:
    value = rw.value(name)
    if value is None or value.dtype != np.float32 or value.size < 2:
        return name
    wide = rw.op("Cast", rw.constant(bfloat16_bits(value)), to="uint32", stored=1)
    shifted = rw.op("BitShift", wide, rw.constant(np.array(16, np.uint32)), direction="LEFT")
    return rw.op("BitCast", shifted, to="float32")
