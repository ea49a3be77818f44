"""Convolutions in other layouts than ONNX's: channels last, and channels in blocks that lie last.

| operator | data and result | weights |
|---|---|---|
| `ChannelsLastConv` | `[batch, x..., channel]` | `[r..., in channel, out channel]` |
| `BlockedConv` | `[batch, channel / b, x..., b]` | `[out / b, in / b, r..., in b, out b]` |
| `BlockedDepthwise` | the same | `[channel / b, r..., b]` |

Attributes are those of Conv; a bias is `[out channel]` or `[out / b, b]`.  There are no groups, but for the one of each
channel in a depthwise convolution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.operators.windows import Windows, conv_shape, np_conv, padded_read, room_in, windows
from polysched.graph.values.graph import Node
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.expression import Expression, Tensor, axis, compute
from polysched.scop.expression import sum as sum_of


def _plain(site: Site, data: TensorType, weights: TensorType) -> Site:
    """The site as a convolution in ONNX's layout."""
    if site.attribute("group", 1) != 1:
        raise site.refusal("a convolution of several groups in another layout than ONNX's", "group",
                           hint="use Conv in ONNX's layout, which takes groups")
    return Site(node=site.node, inputs=(data, weights, *site.inputs[2:]), known=site.known)


def _last(site: Site) -> Site:
    """A channels-last convolution in ONNX's layout."""
    x, w = site.type(0), site.type(1)
    if x.rank < 3 or w.rank != x.rank:
        raise site.refusal("data and weights do not fit together", (0, 1), witness=f"{x} and {w}")
    return _plain(site, x.with_shape((x.shape[0], x.shape[-1], *x.shape[1:-1])),
                  w.with_shape((w.shape[-1], w.shape[-2], *w.shape[:-2])))


def _last_types(site: Site) -> tuple[TensorType, ...]:
    plain = _last(site)
    n, k, *places = conv_shape(plain, plain.type(0), plain.type(1))
    if site.has(2) and site.type(2).shape != (k,):
        raise site.refusal("a bias per output channel is wanted", 2, witness=str(site.type(2)),
                           hint=f"give it {k} numbers, one per output channel")
    return (TensorType(one_type(site, range(len(site.inputs))), (n, *places, k)),)


def _view(plain: Site) -> Windows:
    return windows(plain, [int(e) for e in plain.type(1).shape[2:]])


def _with_bias(site: Site, total: Tensor, bias: Tensor | None, width: int) -> Tensor:
    """The result with a bias, which is subscripted by some of the result's indices."""
    if bias is None:
        return total
    shape = [extent_of(e) for e in site.output.shape]
    if width == 1:
        return compute(shape, lambda *i: total[i] + bias[i[-1]], name="y")
    return compute(shape, lambda *i: total[i] + bias[i[1], i[-1]], name="y")


def _last_conv(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    plain = _last(site)
    view = _view(plain)
    c = axis("c", extent_of(plain.type(1).shape[1]))
    r = tuple(axis(f"r{d}", s) for d, s in enumerate(view.size))

    def element(n: Expression, *rest: Expression) -> Expression:
        value = padded_read(plain, view, rest[:-1], r, lambda places: x[(n, *places, c)])
        return sum_of(value * w[(*r, c, rest[-1])], over=(*r, c))
    shape = [extent_of(e) for e in site.output.shape]
    total = compute(shape, element, name="y" if bias is None else "total")
    return _with_bias(site, total, bias, 1)


def _np_last(site: Site, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    plain = _last(site)
    made = np_conv(plain, np.moveaxis(x, -1, 1), np.moveaxis(w, (-1, -2), (0, 1)), bias)
    return np.moveaxis(made, 1, -1)


def _unblocked(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """`[batch, channel / b, x..., b]` as `[batch, channel, x...]`."""
    return (shape[0], shape[1] * shape[-1], *shape[2:-1])


def _blocked(site: Site) -> Site:
    """A blocked convolution in ONNX's layout."""
    x, w = site.type(0), site.type(1)
    if x.rank < 4 or w.rank != x.rank + 1 or x.shape[-1] != w.shape[-2]:
        raise site.refusal("data and weights do not fit together", (0, 1), witness=f"{x} and {w}")
    weights = (w.shape[0] * w.shape[-1], w.shape[1] * w.shape[-2], *w.shape[2:-2])
    return _plain(site, x.with_shape(_unblocked(x.shape)), w.with_shape(weights))


def _blocked_types(site: Site) -> tuple[TensorType, ...]:
    plain, w = _blocked(site), site.type(1)
    n, _, *places = conv_shape(plain, plain.type(0), plain.type(1))
    if site.has(2) and site.type(2).shape != (w.shape[0], w.shape[-1]):
        raise site.refusal("a bias per output channel is wanted", 2, witness=str(site.type(2)),
                           hint=f"give it the shape [{w.shape[0]}, {w.shape[-1]}]: blocks, and channels of a block")
    return (TensorType(one_type(site, range(len(site.inputs))), (n, w.shape[0], *places, w.shape[-1])),)


def _blocked_conv(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    plain, weights = _blocked(site), site.type(1)
    view = _view(plain)
    c, b = axis("c", extent_of(weights.shape[1])), axis("b", extent_of(weights.shape[-2]))
    r = tuple(axis(f"r{d}", s) for d, s in enumerate(view.size))

    def element(n: Expression, k: Expression, *rest: Expression) -> Expression:
        value = padded_read(plain, view, rest[:-1], r, lambda places: x[(n, c, *places, b)])
        return sum_of(value * w[(k, c, *r, b, rest[-1])], over=(c, *r, b))
    shape = [extent_of(e) for e in site.output.shape]
    total = compute(shape, element, name="y" if bias is None else "total")
    return _with_bias(site, total, bias, 2)


def _np_blocked(site: Site, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None) -> Any:
    plain = _blocked(site)
    data = np.moveaxis(x, -1, 2).reshape(plain.type(0).extents)
    weights = np.moveaxis(w, (-1, -2), (1, 3)).reshape(plain.type(1).extents)
    made = np_conv(plain, data, weights, None if bias is None else bias.reshape(-1))
    block = w.shape[-1]
    return np.moveaxis(made.reshape(made.shape[0], -1, block, *made.shape[2:]), 2, -1)


def _depthwise(site: Site) -> Site:
    """A depthwise convolution in blocks in ONNX's layout."""
    x, w = site.type(0), site.type(1)
    if x.rank < 4 or w.rank != x.rank - 1 or w.shape[0] != x.shape[1] or w.shape[-1] != x.shape[-1]:
        raise site.refusal("data and weights do not fit together", (0, 1), witness=f"{x} and {w}")
    return Site(node=site.node, inputs=(x.with_shape(_unblocked(x.shape)), w.with_shape(
        (w.shape[0] * w.shape[-1], Size(1), *w.shape[1:-1])), *site.inputs[2:]), known=site.known)


def _depthwise_types(site: Site) -> tuple[TensorType, ...]:
    plain, x, w = _depthwise(site), site.type(0), site.type(1)
    places = _view(plain).places
    if site.has(2) and site.type(2).shape != (w.shape[0], w.shape[-1]):
        raise site.refusal("a bias per channel is wanted", 2, witness=str(site.type(2)),
                           hint=f"give it the shape [{w.shape[0]}, {w.shape[-1]}]: blocks, and channels of a block")
    return (TensorType(one_type(site, range(len(site.inputs))), (*x.shape[:2], *places, x.shape[-1])),)


def _depthwise_conv(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    plain = _depthwise(site)
    view = _view(plain)
    r = tuple(axis(f"r{d}", s) for d, s in enumerate(view.size))

    def element(n: Expression, c: Expression, *rest: Expression) -> Expression:
        value = padded_read(plain, view, rest[:-1], r, lambda places: x[(n, c, *places, rest[-1])])
        return sum_of(value * w[(c, *r, rest[-1])], over=r)
    shape = [extent_of(e) for e in site.output.shape]
    total = compute(shape, element, name="y" if bias is None else "total")
    return _with_bias(site, total, bias, 2)


def _np_depthwise(site: Site, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None) -> Any:
    plain = _depthwise(site)
    channels = int(plain.type(0).shape[1])
    data = np.moveaxis(x, -1, 2).reshape(plain.type(0).extents)
    weights = np.moveaxis(w, -1, 1).reshape(plain.type(1).extents)
    own = Site(node=Node.of("Conv", site.node.inputs, site.node.outputs,
                            {**dict(site.node.attributes), "group": channels}), inputs=plain.inputs, known=plain.known)
    made = np_conv(own, data, weights, None if bias is None else bias.reshape(-1))
    return np.moveaxis(made.reshape(made.shape[0], -1, x.shape[-1], *made.shape[2:]), 2, -1)


OPERATORS = (
    Operator(name="ChannelsLastConv", kind=Kind.OUTPUT_FUSABLE, types=_last_types, reference=_np_last,
             expression=_last_conv, room=room_in(1, -1)),
    Operator(name="BlockedConv", kind=Kind.OUTPUT_FUSABLE, types=_blocked_types, reference=_np_blocked,
             expression=_blocked_conv, room=room_in(2, -1)),
    Operator(name="BlockedDepthwise", kind=Kind.OUTPUT_FUSABLE, types=_depthwise_types, reference=_np_depthwise,
             expression=_depthwise_conv, room=room_in(2, -1)))
