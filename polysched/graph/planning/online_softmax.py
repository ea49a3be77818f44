"""Softmax times values, block by block of the keys: each block has a maximum, a sum and a product of its own.

The products of the blocks are then added up with weights, so that no row of the scores stands in memory as a whole.
The result is that of a softmax over whole rows but for roundings: with unit roundoff u and b blocks, each weight is
multiplied by one more exponential and by one more sum of b positive terms, so that an element of the result differs by
at most (b + 8) u times the sum of |weight * value| (first order; the exponential is taken to have 2 roundings).

Source: M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867, section 3 (the sums of
two parts combine); T. Dao et al., "FlashAttention", arXiv 2205.14135, section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node


def online_softmax(graph: Graph, cache_bytes: int) -> Graph:
    """Compute a softmax over long rows, and its product with values, block by block.

    Rewrite:  let y = MatMul(Softmax(x), v)
    ->  per block of x and v: m = ReduceMax(x); p = Exp(x - m); l = ReduceSum(p); o = MatMul(p, v)
        let w = Exp(m - ReduceMax(m)); let y = ReduceSum(w * o) / ReduceSum(w * l)

    A block in which every score is minus infinity counts nothing, as in whole rows.

    Parameters
    ----------
    cache_bytes : what a core keeps in its cache; rows are long, and blocks short, beside it.
    """
    return rewritten(graph, partial(_blocks, cache_bytes=cache_bytes))


def _blocks(node: Node, rw: Rewriting, *, cache_bytes: int) -> Sequence[str] | None:
    x = _scores(node, rw)
    if x is None or not all(e.is_constant for name in (x, node.inputs[1]) for e in rw.type(name).shape):
        return None
    row, values = rw.type(x).extents[-1], rw.type(node.inputs[1])
    block = _block(row, cache_bytes // (LIMITS.online_arrays * rw.type(x).dtype.bytes))
    if block == row or values.rank < 2 or rw.type(x).rank < 2 or not rw.type(x).dtype.is_float:
        return None
    own, last, blocks = _Blocks(rw, row, block), rw.constant([-1]), rw.constant([-3])
    z, lowest = own.of(x, top=True), np.array(np.finfo(rw.type(x).numpy).min)
    m = rw.op("Max", rw.op("ReduceMax", z, last), rw.constant(lowest))
    p = rw.op("Exp", rw.op("Sub", z, m))
    v = own.shaped(node.inputs[1], (*values.extents[:-2], row // block, block, values.extents[-1]))
    total, made = rw.op("ReduceSum", p, last), rw.op("MatMul", p, v)
    w = rw.op("Exp", rw.op("Sub", m, rw.op("ReduceMax", m, blocks)))
    above, below = (rw.op("ReduceSum", rw.op("Mul", w, part), blocks) for part in (made, total))
    return (own.shaped(rw.op("Div", above, below), rw.result(node).extents),)


def _scores(node: Node, rw: Rewriting) -> str | None:
    """What a softmax along the last dimension is taken of, whose result is the first operand of a product alone."""
    weights = rw.producer(node.inputs[0], "Div") if node.op == "MatMul" else None
    if weights is None or any(map(rw.is_shared, node.inputs[:1])):
        return None
    powers, total = rw.producer(weights.inputs[0], "Exp"), rw.producer(weights.inputs[1], "ReduceSum")
    less = rw.producer(powers.inputs[0], "Sub") if powers else None
    most = rw.producer(less.inputs[1], "ReduceMax") if less else None
    if less is None or total is None or most is None:
        return None
    fits = total.inputs[0] == weights.inputs[0] and most.inputs[0] == less.inputs[0]
    rank = rw.type(less.inputs[0]).rank
    return less.inputs[0] if fits and all(_is_last(n, rank, rw) for n in (total, most)) else None


def _is_last(node: Node, rank: int, rw: Rewriting) -> bool:
    """Whether a reduction goes along the last dimension, which stays with one element."""
    axes = rw.value(node.inputs[1]) if len(node.inputs) > 1 else None
    return axes is not None and axes.size == 1 and int(axes.ravel()[0]) % rank == rank - 1 and (
        node.attribute("keepdims", 1) == 1)


def _block(row: int, kept: int) -> int:
    """The largest block that divides a row; the row where it is short, or has no such divisor.

    Parameters
    ----------
    kept : elements of all rows that stay in the cache.
    """
    if row < kept // LIMITS.online_rows:
        return row
    most = kept // LIMITS.online_block_rows
    fitting = [k for k in range(most, max(1, most // 8), -1) if row % k == 0]
    return fitting[0] if fitting else row


class _Blocks:
    """Values `[..., rows, row]` as `[..., blocks, rows, block]`.

    Parameters
    ----------
    row, block : elements.
    """

    def __init__(self, rw: Rewriting, row: int, block: int) -> None:
        self.rw, self.row, self.block = rw, row, block

    def shaped(self, name: str, shape: Sequence[int]) -> str:
        """A value in another shape."""
        return self.rw.op("Reshape", name, self.rw.constant(list(shape)), allowzero=1)

    def of(self, name: str, *, top: bool = False) -> str:
        """A value in blocks: products and elementwise operators are computed in blocks, others are moved.

        Parameters
        ----------
        top : the value has other users, which are gone afterwards.
        """
        rw, shape = self.rw, self.rw.type(name).extents
        if len(shape) < 2:
            return name if int(np.prod(shape)) == 1 else self.shaped(name, (self.row // self.block, 1, self.block))
        *outer, rows, row = shape
        if row == 1:
            return self.shaped(name, (*outer, 1, rows, 1))
        node = rw.producers.get(name)
        if node is not None and (top or not rw.is_shared(name)):
            if operator_of(node).element is not None and all(node.inputs):
                return rw.op(node.op, *map(self.of, node.inputs), **dict(node.attributes))
            if node.op == "MatMul" and all(rw.type(n).rank > 1 for n in node.inputs):
                return rw.op("MatMul", *self._operands(node))
        return self._moved(self.shaped(name, (*outer, rows, self.row // self.block, self.block)), len(shape))

    def _operands(self, node: Node) -> tuple[str, str]:
        """Those of a product of blocks of columns."""
        a, b = node.inputs
        *outer, rows, inner = self.rw.type(a).extents
        *others, _, _ = self.rw.type(b).extents
        columns = self.shaped(b, (*others, inner, self.row // self.block, self.block))
        return self.shaped(a, (*outer, 1, rows, inner)), self._moved(columns, len(others) + 2)

    def _moved(self, name: str, rank: int) -> str:
        """`[..., rows, blocks, block]` as `[..., blocks, rows, block]`."""
        return self.rw.op("Transpose", name, perm=(*range(rank - 2), rank - 1, rank - 2, rank))
