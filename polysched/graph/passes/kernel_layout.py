"""Layouts: weights in the order in which products read them; convolutions without padding, unit dimensions and gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.families.transposed import transposed_windows
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
    columns = int(w.shape[1])
    rows = int(np.prod([e.constant if e.is_constant else LIMITS.most_rows_of_wide_panels + 1 for e in x.shape[:-1]]))
    vectors = (1,) if rows <= 1 else (4, 2, 3, 1) if rows <= LIMITS.most_rows_of_wide_panels else (2, 3)
    widths = (count * lanes(x.dtype) for count in vectors)
    return next((width for width in widths if width > 1 and columns % width == 0), None)


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


def products_of_places(graph: Graph) -> Graph:
    """Compute convolutions with one window as products of matrices.

    Rewrite:  let y = Conv(x: [N, C, 1, 1], w: [K, C, 1, 1], b)
    ->  let m = MatMul(Reshape(x, [N, C]), w': [C, K]); let y = Reshape(Add(m, b), [N, K, 1, 1])
    """
    return rewritten(graph, _as_product)


def _as_product(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op != "Conv" or node.attribute("group", 1) != 1 or rw.value(node.inputs[1]) is None:
        return None
    x, w = map(rw.type, node.inputs[:2])
    result = rw.result(node)
    if x.shape[1:] != w.shape[1:] or any(e != 1 for e in result.shape[2:]) or 0 in w.extents:
        return None
    outputs, *rest = w.extents
    depth = int(np.prod(rest))
    columns = rw.op("Transpose", rw.op("Reshape", node.inputs[1], rw.constant([outputs, depth])), perm=(1, 0))
    made = rw.op("MatMul", rw.op("Reshape", node.inputs[0], rw.constant([-1, depth])), columns)
    if len(node.inputs) > 2:
        made = rw.op("Add", made, node.inputs[2])
    return (rw.op("Reshape", made, rw.constant([-1, outputs, *(1,) * (len(rest) - 1)])),)


def pad_explicitly(graph: Graph) -> Graph:
    """Pad the data of convolutions by a copy, so that no element of a window is asked whether it is there.

    Rewrite:  let y = Conv(x, w; pads=[1, 1])  ->  let p = Pad(x, [0, 0, 1, 0, 0, 1]); let y = Conv(p, w)
    """
    return rewritten(graph, _padded)


def _padded(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op not in ("Conv", "ByteConv"):
        return None
    view = windows(rw.inference.site(node), [int(e) for e in rw.type(node.inputs[1]).shape[2:]])
    if not view.is_padded or not all(p.is_constant for p in (*view.before, *view.behind)):
        return None
    kept = {name: value for name, value in node.attributes if name not in ("pads", "auto_pad")}
    zero = [rw.constant(np.array(node.attribute("x_zero"), rw.type(node.inputs[0]).numpy))] if (
        node.attribute("x_zero")) else []
    padded = rw.op("Pad", node.inputs[0], rw.constant([0, 0, *view.padding[0], 0, 0, *view.padding[1]]), *zero)
    return (rw.op(node.op, padded, *node.inputs[1:], **kept),)


def transposed_by_phases(graph: Graph) -> Graph:
    """Compute transposed convolutions with strides as convolutions whose channels are the phases of a stride.

    Rewrite:  let y = ConvTranspose(x: [N, C, I], w: [C, M, T s]; strides=[s])
    ->  let c = Conv(x, v: [M s, C, T]; pads=[T - 1, T - 1]); let r = Reshape(c, [N, M, s, Q]);
    let y = Reshape(Transpose(r), [N, M, Q s])

    An element at `q s + p` sums up the weights `t s + p` times the data at `q - t`: no other condition is left.

    Source: W. Shi et al., "Is the deconvolution layer the same as a convolutional layer?", arXiv 1609.07009, 2016.
    """
    return rewritten(graph, _by_phases)


def _by_phases(node: Node, rw: Rewriting) -> Sequence[str] | None:
    if node.op != "ConvTranspose" or not _has_phases(node, rw):
        return None
    x, w, bias = (*node.inputs, "")[:3]
    own, weights, groups = rw.type(x), rw.type(w), node.attribute("group", 1)
    size, strides, _, front, extents = transposed_windows(rw.inference.site(node))
    rank, outputs = len(size), int(weights.shape[1])
    taps = tuple(-(-k // s) for k, s in zip(size, strides, strict=True))
    phases = _phase_weights(rw, w, groups, strides, taps)
    made = rw.op("Conv", x, phases, group=groups, pads=tuple(t - 1 for t in taps) * 2)
    counts = [int(e) + t - 1 for e, t in zip(own.shape[2:], taps, strict=True)]
    apart = rw.op("Reshape", made, rw.constant([0, outputs * groups, *strides, *counts]))
    order = (0, 1, *(p for d in range(rank) for p in (2 + rank + d, 2 + d)))
    whole = rw.op("Reshape", rw.op("Transpose", apart, perm=order),
                  rw.constant([0, 0, *(q * s for q, s in zip(counts, strides, strict=True))]))
    result = _cut_out(rw, whole, front, [int(e) for e in extents])
    if bias:
        result = rw.op("Add", result, rw.op("Reshape", bias, rw.constant([-1, *(1,) * rank])))
    return (result,)


def _has_phases(node: Node, rw: Rewriting) -> bool:
    """Whether a transposed convolution has strides, known extents, and no gaps in its windows."""
    if not all(e.is_constant and int(e) for e in (*rw.type(node.inputs[0]).shape[1:], *rw.type(node.inputs[1]).shape)):
        return False
    _, strides, dilations, front, _ = transposed_windows(rw.inference.site(node))
    return max(strides) > 1 and max(dilations) == 1 and min(front) >= 0


def _phase_weights(rw: Rewriting, w: str, groups: int, strides: Sequence[int], taps: Sequence[int]) -> str:
    """Weights `[C, M, r...]` as `[group M p..., C, t...]` for `r = t s + p`, t descending; zeros where r has an end."""
    shape, rank = rw.type(w).extents, len(strides)
    missing = [t * s - k for t, s, k in zip(taps, strides, shape[2:], strict=True)]
    if any(missing):
        w = _with_zeros(rw, w, missing)
    parts = [n for pair in zip(taps, strides, strict=True) for n in pair]
    w = rw.op("Reshape", w, rw.constant([groups, shape[0] // groups, shape[1], *parts]))
    along = [3 + 2 * d for d in range(rank) if taps[d] > 1]
    if along:
        backwards = [rw.constant([number] * len(along)) for number in (-1, np.iinfo(np.int64).min, -1)]
        w = rw.op("Slice", w, *backwards[:2], rw.constant(along), backwards[2])
    order = (0, 2, *(4 + 2 * d for d in range(rank)), 1, *(3 + 2 * d for d in range(rank)))
    channels = groups * shape[1] * int(np.prod(strides))
    return rw.op("Reshape", rw.op("Transpose", w, perm=order), rw.constant([channels, shape[0] // groups, *taps]))


def _cut_out(rw: Rewriting, whole: str, front: Sequence[int], extents: Sequence[int]) -> str:
    """The elements from `front` on, with zeros where they end too early."""
    found = [int(e) for e in rw.type(whole).shape[2:]]
    missing = [max(f + e - n, 0) for f, e, n in zip(front, extents, found, strict=True)]
    if any(missing):
        whole = _with_zeros(rw, whole, missing)
    if not any(front) and [n + m for n, m in zip(found, missing, strict=True)] == list(extents):
        return whole
    ends = [f + e for f, e in zip(front, extents, strict=True)]
    return rw.op("Slice", whole, rw.constant(list(front)), rw.constant(ends),
                 rw.constant(list(range(2, 2 + len(front)))))


def _with_zeros(rw: Rewriting, x: str, behind: Sequence[int]) -> str:
    """Zeros behind the elements of each spatial dimension."""
    zero = rw.constant(np.zeros((), rw.type(x).numpy))
    return rw.op("PadConstant", x, zero, before=(0,) * (len(behind) + 2), behind=(0, 0, *behind))


def _at(values: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(values[p] for p in places)
