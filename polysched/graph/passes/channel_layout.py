"""Convert layout: convolutions with channels last, or in blocks of a vector; what is between follows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.errors import UsageError
from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expressions import simplify_expression
from polysched.graph.passes.layouts.blocks import Blocks
from polysched.graph.passes.rewriting import Rewriting, rewritten, until_nothing_fits
from polysched.graph.passes.simple import fold_constants
from polysched.graph.values.graph import Graph, Node


def convert_layout(graph: Graph) -> Graph:
    """Let convolutions have their channels last, and carry that layout through the elementwise operators behind them.

    Rewrite:  let c = Conv(x, w)  ->  let t = Transpose(x); let l = ChannelsLastConv(t, w'); let c = Transpose(l)
    """
    return _carried(rewritten(graph, _channels_last))


def alter_layout(graph: Graph, block: int = LIMITS.channel_block, *, wide: int = 0) -> Graph:
    """Let convolutions have their channels in blocks that lie last, and with them what stands between convolutions.

    Rewrite:  let c = Conv(x, w)  ->  [n, c, x...] as [n, c / b, x..., b]; BlockedConv; and back

    A vector then holds channels of one place, however short the rows of an image are.  Data that are not in blocks are
    read as blocks of one channel.  Convolutions of one group, or of one per channel, elementwise operators, pools,
    padding and sums over images follow.

    Parameters
    ----------
    block : channels; a vector of float32 holds so many.
    wide : of the blocks of channels that are a number of these; 0 for blocks of one width.

    Raises
    ------
    UsageError : a block of less than 2.
    """
    if block < 2:
        raise UsageError("a block has at least 2 channels", witness=str(block),
                         hint="give an even number, as many as a vector has")
    widths = (wide, block) if wide else (block,)
    return simplify_expression(fold_constants(rewritten(graph, Blocks(widths).take)))


def _carried(graph: Graph) -> Graph:
    """Moves of layout behind elementwise operators, so that opposite ones meet and go."""
    return simplify_expression(fold_constants(until_nothing_fits(graph, _behind)))


def _is_plain(node: Node, rw: Rewriting) -> bool:
    return node.op == "Conv" and node.attribute("group", 1) == 1 and rw.type(node.inputs[0]).is_static and (
        rw.value(node.inputs[1]) is not None and rw.type(node.inputs[0]).dtype.bits >= 32)


def _channels_last(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if not _is_plain(node, rw):
        return None
    rank = rw.type(node.inputs[0]).rank
    data = rw.op("Transpose", node.inputs[0], perm=(0, *range(2, rank), 1))
    weights = rw.op("Transpose", node.inputs[1], perm=(*range(2, rank), 1, 0))
    made = rw.op("ChannelsLastConv", data, weights, *node.inputs[2:], **dict(node.attributes))
    return (rw.op("Transpose", made, perm=(0, rank - 1, *range(1, rank - 1))),)


def _behind(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """An elementwise operator before the moves of layout that its operands went through."""
    operator = OPERATORS.get(node.op)
    if operator is None or operator.element is None or len(node.outputs) != 1:
        return None
    moves = [rw.producer(n, "Transpose", "Reshape") if n else None for n in node.inputs]
    first = next((m for m in moves if m is not None), None)
    if first is None:
        return None
    before = [_undone(name, move, first, rw) for name, move in zip(node.inputs, moves, strict=True)]
    if any(b is None for b in before) or rw.result(node).shape != rw.type(first.outputs[0]).shape:
        return None
    made = rw.op(node.op, *map(str, before), **dict(node.attributes))
    return (rw.op(first.op, made, *first.inputs[1:], **dict(first.attributes)),)


def _undone(name: str, move: Node | None, first: Node, rw: Rewriting) -> str | None:
    """An operand as it is before a move of layout; None where it did not go through the same one."""
    if not name:
        return name
    source = rw.type(first.inputs[0])
    if move is not None and move.attributes == first.attributes and move.op == first.op and (
            rw.type(move.inputs[0]).shape == source.shape and rw.type(name).shape == rw.type(first.outputs[0]).shape):
        return move.inputs[0]
    own, value = rw.type(name), rw.value(name)
    if own.elements == 1 and own.rank <= source.rank:
        return name if own.rank == 0 else rw.op("Reshape", name, rw.constant([]))
    if value is None or first.op != "Transpose" or own.rank > source.rank:
        return None
    wide = value.reshape((1,) * (source.rank - own.rank) + value.shape)
    return rw.constant(np.ascontiguousarray(np.transpose(wide, np.argsort(first.attribute("perm")))))
