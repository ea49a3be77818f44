"""Layers of TVM's inventory that ONNX has under no name of its own, composed of other operators.

| operator | what it is |
|---|---|
| `Dense` | `x @ w.T + bias`, weights `[out, in]` |
| `BiasAdd`, `ScaleShift` | a number per channel of the attribute `axis` (1) added, or multiplied and added |
| `FullLike` | the attribute `value` in the shape and type of the operand |
| `NllLoss` | the negative log likelihood of `[batch, class, x...]` at targets; `reduction` mean, sum or none |
| `AdaptivePool` | the mean (`mode="avg"`) or the maximum of windows that make up the attribute `output_size` |
| `PoolGrad` | the gradient of MaxPool or AveragePool (`mode`) by its operand, from that of its result |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.operators.windows import counted, np_max_pool, windows
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import INT32, INT64


def _dense_types(site: Site) -> tuple[TensorType, ...]:
    x, w = site.type(0), site.type(1)
    dtype = one_type(site, range(len(site.inputs)))
    if x.rank < 1 or w.rank != 2 or x.shape[-1] != w.shape[1] or (site.has(2) and site.type(2).shape != w.shape[:1]):
        raise site.refusal("data, weights and bias do not fit together", (0, 1), witness=f"{x} and {w}",
                           hint="the last extent of the data is that of the weights, [out, in]; a bias has out numbers")
    return (TensorType(dtype, (*x.shape[:-1], w.shape[0])),)


def _dense(site: Site, build: Builder, x: str, w: str, bias: str = "") -> str:
    product = build.op("MatMul", x, build.op("Transpose", w, perm=(1, 0)))
    return build.op("Add", product, bias) if bias else product


def _np_dense(site: Site, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    result = x.astype(wide) @ w.astype(wide).T
    return np.asarray(result if bias is None else result + bias).astype(x.dtype)


def _channel_types(site: Site) -> tuple[TensorType, ...]:
    own, place = site.type(), site.axis(site.attribute("axis", 1))
    one_type(site, range(len(site.inputs)))
    for operand in range(1, len(site.inputs)):
        if site.type(operand).shape != (own.shape[place],):
            raise site.refusal("a number per channel is wanted", operand, witness=f"{own}, axis {place}",
                               hint=f"give it {own.shape[place]} numbers, or another axis")
    return (own,)


def _per_channel(site: Site, build: Builder, x: str, *parts: str) -> str:
    place = site.axis(site.attribute("axis", 1))
    for op, part in zip(("Mul", "Add")[-len(parts):], parts, strict=True):
        x = build.op(op, x, build.op("AlignedAt", part, x, axis=place))
    return x


def _np_per_channel(site: Site, x: np.ndarray, *parts: np.ndarray) -> Any:
    place = site.attribute("axis", 1) % x.ndim
    aligned = [p.reshape(-1, *(1,) * (x.ndim - place - 1)) for p in parts]
    return x + aligned[0] if len(parts) == 1 else x * aligned[0] + aligned[1]


def _full_like(site: Site, build: Builder, x: str) -> str:
    value = build.constant(np.array(site.attribute("value", 0), site.type().numpy))
    return build.op("Expand", value, build.constant([int(e) for e in site.type().shape]))


def _np_full_like(site: Site, x: np.ndarray) -> np.ndarray:
    return np.full(x.shape, site.attribute("value", 0), x.dtype)


def _nll_types(site: Site) -> tuple[TensorType, ...]:
    own, targets = site.type(0), site.type(1)
    if own.rank < 2 or targets.shape != (own.shape[0], *own.shape[2:]) or targets.dtype not in (INT32, INT64):
        raise site.refusal("a class per element beside the classes is wanted", 1, witness=f"{own} and {targets}",
                           hint="give it int32 or int64 classes, in the shape of the data without the dimension of "
                                "classes")
    if site.has(2) and site.type(2).shape != own.shape[1:2]:
        raise site.refusal("a weight per class is wanted", 2, witness=str(site.type(2)),
                           hint=f"give it {own.shape[1]} numbers")
    if site.attribute("reduction", "mean") not in ("mean", "sum", "none"):
        raise site.refusal(f"a reduction {site.attribute('reduction')}", "reduction", hint="give mean, sum or none")
    whole = site.attribute("reduction", "mean") == "none"
    return (own.with_shape(targets.shape if whole else ()),)


def _nll(site: Site, build: Builder, x: str, targets: str, weights: str = "") -> str:
    """Minus the elements at the targets times their weights; where the target is ignored, nothing."""
    own, kind = site.type(), site.type(1).numpy
    classes = int(own.shape[1])
    weights = weights or build.constant(np.ones(classes, own.numpy))
    ignored = build.op("Equal", targets, build.constant(np.array(site.attribute("ignore_index", -100), kind)))
    safe = build.op("Where", ignored, build.constant(np.array(0, kind)), targets)
    factor = build.op("Where", ignored, build.constant(np.array(0, own.numpy)), build.op("Gather", weights, safe))
    axis = build.constant([1])
    chosen = build.op("Squeeze", build.op("GatherElements", x, build.op("Unsqueeze", safe, axis), axis=1), axis)
    loss = build.op("Neg", build.op("Mul", chosen, factor))
    reduction = site.attribute("reduction", "mean")
    if reduction == "none":
        return loss
    total = build.op("ReduceSum", loss, keepdims=0)
    return total if reduction == "sum" else build.op("Div", total, build.op("ReduceSum", factor, keepdims=0))


def _np_nll(site: Site, x: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    own = np.ones(x.shape[1]) if weights is None else weights.astype(np.float64)
    kept = targets != site.attribute("ignore_index", -100)
    safe = np.where(kept, targets, 0).astype(np.int64)
    factor = np.where(kept, own[safe], 0)
    loss = -np.take_along_axis(x.astype(np.float64), safe[:, None], 1)[:, 0] * factor
    reduction = site.attribute("reduction", "mean")
    with np.errstate(all="ignore"):
        made = loss if reduction == "none" else loss.sum() / (factor.sum() if reduction == "mean" else 1)
    return np.asarray(made).astype(x.dtype)


def _sizes(site: Site) -> tuple[int, ...]:
    sizes, own = tuple(site.required("output_size")), site.type()
    if own.rank < 3 or len(sizes) != own.rank - 2 or min(*sizes, *map(int, own.shape[2:])) < 1:
        raise site.refusal("a size of at least 1 per dimension of space is wanted", "output_size",
                           witness=f"{own} to {sizes}")
    if site.attribute("mode", "avg") not in ("avg", "max") or not own.dtype.is_float:
        raise site.refusal("the mode is avg or max, of floats", "mode", witness=f"{site.attribute('mode')} of {own}",
                           hint="give avg or max, and floating data")
    return sizes


def _adaptive_types(site: Site) -> tuple[TensorType, ...]:
    return (site.type().with_shape((*site.type().shape[:2], *_sizes(site))),)


def _bounds(place: int, size: int, extent: int) -> tuple[int, int]:
    """The first element of a window, and the one behind its last."""
    return place * extent // size, -(-(place + 1) * extent // size)


def _adaptive(site: Site, build: Builder, x: str) -> str:
    """Equal windows by a pool; others dimension by dimension, which is the same for boxes."""
    sizes, extents = _sizes(site), [int(e) for e in site.type().shape[2:]]
    average = site.attribute("mode", "avg") == "avg"
    if all(e % s == 0 for e, s in zip(extents, sizes, strict=True)):
        window = tuple(e // s for e, s in zip(extents, sizes, strict=True))
        return build.op("AveragePool" if average else "MaxPool", x, kernel_shape=window, strides=window)
    for d, (extent, size) in enumerate(zip(extents, sizes, strict=True)):
        parts = []
        for place in range(size):
            cut = build.op("Slice", x, *(build.constant([v]) for v in (*_bounds(place, size, extent), 2 + d)))
            parts.append(build.op("ReduceMean" if average else "ReduceMax", cut, build.constant([2 + d])))
        x = build.op("Concat", *parts, axis=2 + d)
    return x


def _np_adaptive(site: Site, x: np.ndarray) -> np.ndarray:
    sizes = _sizes(site)
    result = np.empty((*x.shape[:2], *sizes), np.float64)
    for place in np.ndindex(*sizes):
        cut = tuple(slice(*_bounds(p, s, e)) for p, s, e in zip(place, sizes, x.shape[2:], strict=True))
        window = x[(slice(None), slice(None), *cut)].astype(np.float64).reshape(*x.shape[:2], -1)
        result[(slice(None), slice(None), *place)] = window.mean(-1) if site.attribute("mode", "avg") == "avg" else (
            window.max(-1))
    return result.astype(x.dtype)


def _of_data(site: Site) -> Site:
    """The pool whose gradient this is: its operand is the second one here."""
    return Site(node=site.node, inputs=site.inputs[1:], known=site.known[1:])


def _grad_types(site: Site) -> tuple[TensorType, ...]:
    own, pool = site.type(1), _of_data(site)
    if site.attribute("mode", "avg") not in ("avg", "max") or not own.dtype.is_float:
        raise site.refusal("the mode is avg or max, of floats", "mode", witness=f"{site.attribute('mode')} of {own}",
                           hint="give avg or max, and floating data")
    if site.attribute("mode", "avg") == "avg" and site.attribute("ceil_mode", 0):
        raise site.refusal("the gradient of a mean with ceil_mode", "ceil_mode",
                           hint="leave ceil_mode out, or use the mode max")
    if site.type(0) != own.with_shape((*own.shape[:2], *windows(pool, site.required("kernel_shape")).places)):
        raise site.refusal("the gradient has another shape than the pool's result", 0,
                           witness=f"{site.type(0)} of {own}")
    return (own,)


def _grad(site: Site, build: Builder, grad: str, x: str) -> str:
    own, pool = site.type(1), _of_data(site)
    attributes = {k: v for k, v in site.node.attributes if k not in ("mode", "count_include_pad")}
    if site.attribute("mode", "avg") == "max":
        _, places = build.ops("MaxPool", 2, x, **attributes)
        flat = build.constant([-1])
        zeros = build.op("Expand", build.constant(np.zeros((), own.numpy)), build.constant([int(own.elements)]))
        spread = build.op("ScatterElements", zeros, build.op("Reshape", places, flat), build.op("Reshape", grad, flat),
                          reduction="add")
        return build.op("Reshape", spread, build.constant([int(e) for e in own.shape]))
    view = windows(pool, site.attribute("kernel_shape"))
    channels = int(own.shape[1])
    each = build.op("Div", grad, build.constant(counted(pool, view).astype(own.numpy)))
    ones = build.constant(np.ones((channels, 1, *view.size), own.numpy))
    extra = tuple(int(e) - ((int(n) - 1) * s + (k - 1) * d + 1 - b - a) for e, n, s, k, d, b, a in zip(
        own.shape[2:], view.places, view.strides, view.size, view.dilations, *view.padding, strict=True))
    return build.op("ConvTranspose", each, ones, group=channels, strides=view.strides, dilations=view.dilations,
                    pads=(*view.padding[0], *view.padding[1]), output_padding=extra)


def _np_grad(site: Site, grad: np.ndarray, x: np.ndarray) -> np.ndarray:
    pool = _of_data(site)
    view = windows(pool, site.attribute("kernel_shape"))
    result = np.zeros(x.shape, np.float64)
    if site.attribute("mode", "avg") == "max":
        _, places = np_max_pool(pool, x)
        np.add.at(result.reshape(-1), places.reshape(-1), grad.reshape(-1))
        return result.astype(x.dtype)
    share = grad / counted(pool, view)
    for place in np.ndindex(*(int(n) for n in view.places)):
        for r in np.ndindex(*view.size):
            at = tuple(p * s + q * d - b for p, q, s, d, b in zip(
                place, r, view.strides, view.dilations, view.padding[0], strict=True))
            if all(0 <= a < e for a, e in zip(at, x.shape[2:], strict=True)):
                result[(slice(None), slice(None), *at)] += share[(slice(None), slice(None), *place)]
    return result.astype(x.dtype)


OPERATORS = (
    Operator(name="Dense", kind=Kind.OUTPUT_FUSABLE, types=_dense_types, reference=_np_dense, composition=_dense),
    Operator(name="BiasAdd", kind=Kind.BROADCAST, types=_channel_types, reference=_np_per_channel,
             composition=_per_channel),
    Operator(name="ScaleShift", kind=Kind.BROADCAST, types=_channel_types, reference=_np_per_channel,
             composition=_per_channel),
    Operator(name="FullLike", kind=Kind.ELEMENTWISE, types=lambda site: (site.type(),), reference=_np_full_like,
             composition=_full_like),
    Operator(name="NllLoss", kind=Kind.REDUCTION, types=_nll_types, reference=_np_nll, composition=_nll, sums=True),
    Operator(name="AdaptivePool", kind=Kind.OUTPUT_FUSABLE, types=_adaptive_types, reference=_np_adaptive,
             composition=_adaptive),
    Operator(name="PoolGrad", kind=Kind.OUTPUT_FUSABLE, types=_grad_types, reference=_np_grad, composition=_grad))
