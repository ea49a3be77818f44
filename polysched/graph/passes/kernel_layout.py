"""Layouts: weights in the order in which products read them; convolutions without padding and unit dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.windows import windows
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node
from polysched.scop.dtypes import DType

LETTERS = "abcdefghij"


def pack_weights(graph: Graph, *, lanes: Callable[[DType], int]) -> Graph:
    """Bring constant right factors of products into panels of columns, so that a product reads them in order.

    Rewrite:  let y = MatMul(x, w)  ->  const p: [N / lanes, K, lanes];
    let e = Einsum(x, p; equation="ak,qkr->aqr"); let y = Reshape(e, [0, N])

    Parameters
    ----------
    lanes : the elements of a type in one vector.
    """
    packed: dict[tuple[str, int], str] = {}

    def in_panels(node: Node, rw: Rewriting) -> Sequence[str] | None:
        width = _panel(node, rw, lanes) if node.op == "MatMul" else None
        if width is None:
            return None
        x, w = node.inputs
        depth, columns = rw.type(w).extents
        if (w, width) not in packed:
            panels = rw.constants[w].reshape(depth, columns // width, width)
            packed[w, width] = rw.constant(np.ascontiguousarray(panels.transpose(1, 0, 2)))
        lead = LETTERS[:rw.type(x).rank - 1]
        made = rw.op("Einsum", x, packed[w, width], equation=f"{lead}k,qkr->{lead}qr")
        return (rw.op("Reshape", made, rw.constant([0] * len(lead) + [columns])),)
    return rewritten(graph, in_panels)


def _panel(node: Node, rw: Rewriting, lanes: Callable[[DType], int]) -> int | None:
    """How many columns stand side by side; None where the product stays as it is."""
    x, w = map(rw.type, node.inputs)
    if node.inputs[1] not in rw.constants or w.rank != 2 or not 2 <= x.rank <= len(LETTERS):
        return None
    if not x.dtype.is_float or 0 in w.extents:
        return None
    rows = [e.constant if e.is_constant else LIMITS.most_rows_of_narrow_panels + 1 for e in x.shape[:-1]]
    width = lanes(x.dtype) * (1 if int(np.prod(rows)) <= LIMITS.most_rows_of_narrow_panels else 2)
    return width if width > 1 and int(w.shape[1]) % width == 0 else None


def drop_unit_dimensions(graph: Graph) -> Graph:
    """Take spatial dimensions of one element, under windows of one element, out of convolutions.

    Rewrite:  let y = Conv(x: [N, C, L, 1], w: [K, C, R, 1])
    ->  let u = Reshape(x, [N, C, L]); let v = Conv(u, w: [K, C, R]); let y = Unsqueeze(v, [3])
    """
    return rewritten(graph, _without_units)


def _without_units(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op != "Conv":
        return None
    x, w = map(rw.type, node.inputs[:2])
    rank = x.rank - 2
    if node.attribute("auto_pad", "NOTSET") not in ("NOTSET", "VALID", ""):
        return None
    pads = tuple(node.attribute("pads", (0,) * (2 * rank)))
    units = [d for d in range(rank) if x.shape[d + 2] == w.shape[d + 2] == 1 and not pads[d] + pads[d + rank]]
    kept = [d for d in range(rank) if d not in units] or [0]
    dropped = [d + 2 for d in range(rank) if d not in kept]
    if not dropped:
        return None
    axes = rw.constant(dropped)
    attributes = {name: _at(node.attribute(name), kept) for name in ("strides", "dilations", "kernel_shape")
                  if node.attribute(name) is not None}
    attributes["pads"] = (*_at(pads, kept), *_at(pads[rank:], kept))
    operands = [rw.op("Squeeze", name, axes) for name in node.inputs[:2]]
    made = rw.op("Conv", *operands, *node.inputs[2:], group=node.attribute("group", 1), **attributes)
    return (rw.op("Unsqueeze", made, axes),)


def pad_explicitly(graph: Graph) -> Graph:
    """Pad the data of convolutions by a copy, so that no element of a window is asked whether it is there.

    Rewrite:  let y = Conv(x, w; pads=[1, 1])  ->  let p = Pad(x, [0, 0, 1, 0, 0, 1]); let y = Conv(p, w)
    """
    return rewritten(graph, _padded)


def _padded(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op not in ("Conv", "ByteConv"):
        return None
    view = windows(rw.inference.site(node), [int(e) for e in rw.type(node.inputs[1]).shape[2:]])
    if not any((*view.before, *view.behind)):
        return None
    kept = {name: value for name, value in node.attributes if name not in ("pads", "auto_pad")}
    zero = [rw.constant(np.array(node.attribute("x_zero"), rw.type(node.inputs[0]).numpy))] if (
        node.attribute("x_zero")) else []
    padded = rw.op("Pad", node.inputs[0], rw.constant([0, 0, *view.before, 0, 0, *view.behind]), *zero)
    return (rw.op(node.op, padded, *node.inputs[1:], **kept),)


def _at(values: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(values[p] for p in places)
