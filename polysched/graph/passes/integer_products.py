"""Products of dequantised bytes as products of integers, whose scales are applied behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, INT8, UINT8

VIEWS = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Identity")
"""What changes no element, so that it may stand before a dequantisation with one scale."""
MOST = 2**31 - 1
"""The largest sum that an accumulator of 32 bits holds."""
BYTE = 255


@dataclass(frozen=True, kw_only=True)
class Dequantised:
    """A float32 value that is bytes, less a zero point, times a scale.

    Parameters
    ----------
    bytes, scale, zero : values; the zero point is empty where it is 0.
    axis : along which every place has its own scale; None where there is one.
    """

    bytes: str
    scale: str
    zero: str
    axis: int | None


def integer_products(graph: Graph) -> Graph:
    """Compute products of dequantised bytes on the bytes, with sums in int32, and scale the sums.

    Rewrite:  let a = DequantizeLinear(x, s, z); let b = DequantizeLinear(w, t, u); let y = MatMul(a, b)
    ->  let p = MatMulInteger(x, w, z, u); let f = Cast(p; to="float32"); let c = Mul(s, t); let y = Mul(f, c)

    The sum of integers is exact; the result is rounded three times (conversion, product of scales, scaling), where
    ONNX's order rounds every product and sum.  Left as they are: sums that may leave int32, scales along what is
    summed, zero points of weights that differ by channel.
    """
    return rewritten(graph, _moved, _product)


def _moved(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """A view of a dequantised value: the dequantised view."""
    if node.op not in VIEWS or len(node.outputs) != 1:
        return None
    own = _dequantised(node.inputs[0], rw)
    if own is None or (own.axis is not None and node.op != "Transpose"):
        return None
    made = rw.op(node.op, own.bytes, *node.inputs[1:], **dict(node.attributes))
    axis: dict[str, int] = {}
    if own.axis is not None:
        rank = rw.type(own.bytes).rank
        axis = {"axis": tuple(node.attribute("perm", tuple(reversed(range(rank))))).index(own.axis)}
    return (rw.op("DequantizeLinear", made, own.scale, *([own.zero] if own.zero else []), **axis),)


def _dequantised(name: str, rw: Rewriting) -> Dequantised | None:
    """What a value is made of, where it is dequantised bytes."""
    node = rw.producer(name, "DequantizeLinear") if name else None
    if node is None or rw.type(name).dtype != FLOAT32 or rw.type(node.inputs[0]).dtype not in (INT8, UINT8):
        return None
    scale, zero = rw.type(node.inputs[1]), node.inputs[2] if len(node.inputs) > 2 else ""
    if scale.dtype != FLOAT32 or scale.rank > 1 or node.attribute("block_size", 0):
        return None
    axis = None if scale.rank == 0 or scale.elements == 1 else node.attribute("axis", 1) % rw.type(name).rank
    return Dequantised(bytes=node.inputs[0], scale=node.inputs[1], zero=zero, axis=axis)


def _product(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op not in ("MatMul", "Gemm", "Conv") or len(node.inputs) < 2:
        return None
    left, right = (_dequantised(n, rw) for n in node.inputs[:2])
    if left is None or right is None or left.axis is not None:
        return None
    made = {"MatMul": _matmul, "Gemm": _gemm, "Conv": _conv}[node.op](node, rw, left, right)
    return None if made is None else (made,)


def _matmul(node: Node, rw: Rewriting, left: Dequantised, right: Dequantised) -> str | None:
    rank = rw.type(right.bytes).rank
    if right.axis is not None and (rank < 2 or right.axis != rank - 1):
        return None
    if not _fits(rw, left, right, summed=(max(rank - 2, 0),)):
        return None
    return _scaled(rw, rw.op("MatMulInteger", left.bytes, right.bytes, *_zeros(rw, left, right)), left, right, ())


def _gemm(node: Node, rw: Rewriting, left: Dequantised, right: Dequantised) -> str | None:
    turned = node.attribute("transB", 0)
    if right.axis not in (None, 0 if turned else 1) or not _fits(rw, left, right, summed=(1 if turned else 0,)):
        return None
    a = rw.op("Transpose", left.bytes, perm=(1, 0)) if node.attribute("transA", 0) else left.bytes
    b = rw.op("Transpose", right.bytes, perm=(1, 0)) if turned else right.bytes
    made = _scaled(rw, rw.op("MatMulInteger", a, b, *_zeros(rw, left, right)), left, right, ())
    if (alpha := node.attribute("alpha", 1.0)) != 1.0:
        made = rw.op("Mul", made, rw.constant(np.array(alpha, np.float32)))
    addend, beta = node.inputs[2] if len(node.inputs) > 2 else "", node.attribute("beta", 1.0)
    if not addend or beta == 0.0:   # as in `Gemm`: an addend that counts nothing is not read
        return made
    if beta != 1.0:
        addend = rw.op("Mul", addend, rw.constant(np.array(beta, np.float32)))
    return rw.op("Add", made, addend)


def _conv(node: Node, rw: Rewriting, left: Dequantised, right: Dequantised) -> str | None:
    rank = rw.type(right.bytes).rank
    if right.axis not in (None, 0) or not _fits(rw, left, right, summed=tuple(range(1, rank))):
        return None
    product = rw.op("ConvInteger", left.bytes, right.bytes, *_zeros(rw, left, right), **dict(node.attributes))
    behind = (-1, *(1,) * (rank - 2))
    made = _scaled(rw, product, left, right, behind)
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    return rw.op("Add", made, rw.op("Reshape", bias, rw.constant(behind))) if bias else made


def _zeros(rw: Rewriting, left: Dequantised, right: Dequantised) -> tuple[str, ...]:
    """The operands for zero points: one number each."""
    number = rw.constant(np.array([], np.int64))
    zeros = [_number(rw, own, number) for own in (left, right)]
    return tuple(zeros) if zeros[1] else tuple(filter(None, zeros[:1]))


def _number(rw: Rewriting, own: Dequantised, shape: str) -> str:
    value = rw.value(own.zero)
    if value is not None:
        return rw.constant(value.reshape(-1)[0]) if value.any() else ""
    return rw.op("Reshape", own.zero, shape) if own.zero else ""


def _scaled(rw: Rewriting, product: str, left: Dequantised, right: Dequantised, shape: Sequence[int]) -> str:
    """A product of integers times the scales.

    Parameters
    ----------
    shape : in which scales per channel broadcast; empty where they do as they are.
    """
    scales = [rw.op("Reshape", left.scale, rw.constant(np.array([], np.int64)))]
    if right.axis is None:
        scales.append(rw.op("Reshape", right.scale, rw.constant(np.array([], np.int64))))
    else:
        scales.append(rw.op("Reshape", right.scale, rw.constant(shape)) if shape else right.scale)
    return rw.op("Mul", rw.op("Cast", product, to="float32"), rw.op("Mul", *scales))


def _fits(rw: Rewriting, left: Dequantised, right: Dequantised, summed: tuple[int, ...]) -> bool:
    """Whether no sum leaves int32, and the weights have one zero point that is known.

    Parameters
    ----------
    summed : dimensions of the right operand.
    """
    zero = rw.value(right.zero) if right.zero else np.zeros((), np.int64)
    if zero is None or not zero.size or (zero != zero.flat[0]).any():
        return False
    weights = rw.value(right.bytes)
    if weights is not None:
        largest = int(np.abs(weights.astype(np.int64) - int(zero.flat[0])).sum(axis=summed).max(initial=0))
    else:
        extents = [rw.type(right.bytes).shape[d] for d in summed]
        if not all(e.is_constant for e in extents):
            return False
        largest = int(np.prod([int(e) for e in extents])) * BYTE
    return largest * BYTE <= MOST
