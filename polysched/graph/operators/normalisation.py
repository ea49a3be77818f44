"""Normalisation and softmax, composed of reductions and elementwise operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.sizes import product
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT16
from polysched.scop.expression import Expression, Tensor, axis, compute, where
from polysched.scop.expression import sum as sum_of
from polysched.scop.expression.tensors import Constant, Convert


def _float_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if not own.dtype.is_float:
        raise site.refusal(f"elements of {own.dtype}, floating are wanted", 0, hint=Remedy.CONVERT)
    if own.rank or "axis" in dict(site.node.attributes):
        site.axis(site.attribute("axis", -1))
    return (own,)


def _flat(site: Site, build: Builder, x: str) -> tuple[str, int]:
    """The operand and the axis; as a matrix where an older operator set has softmax over all that follows the axis."""
    own, place = site.type(), site.axis(site.attribute("axis", -1))
    if not _is_flat(site):
        return x, place
    shape = [product(own.shape[:place]), product(own.shape[place:])]
    return build.op("Reshape", x, build.constant([int(e) for e in shape]), allowzero=1), 1


def _is_flat(site: Site) -> bool:
    """Whether several dimensions are one."""
    return bool(site.attribute("flatten", 0)) and site.axis(site.attribute("axis", -1)) + 1 < site.type().rank


def _back(site: Site, build: Builder, x: str) -> str:
    if not _is_flat(site):
        return x
    return build.op("Reshape", x, build.constant([int(e) for e in site.type().shape]), allowzero=1)


def _softmax(site: Site, build: Builder, x: str) -> str:
    x, place = _flat(site, build, x)
    axes = build.constant([place])
    if site.type().dtype == FLOAT16:
        return _back(site, build, _rounded_shares(build, build.op("Cast", x, to="float32"), axes))
    powers = build.op("Exp", build.op("Sub", x, build.op("ReduceMax", x, axes)))
    return _back(site, build, build.op("Div", powers, build.op("ReduceSum", powers, axes)))


def _rounded_shares(build: Builder, x: str, axes: str) -> str:
    """Powers over their sum in float32, both rounded to float16 as ONNX's function body of Softmax has them.

    A sum that float16 does not hold is not rounded: the body would have zeros.
    """
    powers = _as_float16(build, build.op("Exp", build.op("Sub", x, build.op("ReduceMax", x, axes))))
    total = build.op("ReduceSum", powers, axes)
    rounded = build.op("Cast", build.op("Cast", total, to="float16"), to="float32")
    most = build.constant(np.array(np.finfo(np.float16).max, np.float32))
    held = build.op("Where", build.op("LessOrEqual", total, most), rounded, total)
    return build.op("Cast", build.op("Div", powers, held), to="float16")


def _as_float16(build: Builder, x: str) -> str:
    """Numbers of float32 from 0 to 1, rounded to those of float16, by arithmetic that every vector unit has.

    `8193 x - (8193 x - x)` keeps 11 bits (T. J. Dekker, 1971, section 5: the splitting); below 2^-14, where float16 is
    as wide apart as float32 is between 1/2 and 1, adding and taking away 3/4 rounds.
    """
    def number(value: float) -> str:
        return build.constant(np.array(value, np.float32))
    upper = build.op("Add", build.op("Mul", x, number(8192)), x)   # one rounding, fused or not
    normal = build.op("Sub", upper, build.op("Sub", upper, x))
    small = build.op("Sub", build.op("Add", x, number(0.75)), number(0.75))
    return build.op("Where", build.op("Less", x, number(2.0 ** -14)), small, normal)


def _log_softmax(site: Site, build: Builder, x: str) -> str:
    x, place = _flat(site, build, x)
    axes = build.constant([place])
    less = build.op("Sub", x, build.op("ReduceMax", x, axes))
    total = build.op("Log", build.op("ReduceSum", build.op("Exp", less), axes))
    return _back(site, build, build.op("Sub", less, total))


def _np_axes(site: Site, x: np.ndarray) -> tuple[int, ...]:
    place = site.attribute("axis", -1) % x.ndim
    return tuple(range(place, x.ndim)) if site.attribute("flatten", 0) else (place,)


def _np_softmax(site: Site, x: np.ndarray) -> np.ndarray:
    axes, wide = _np_axes(site, x), x.astype(np.float64)
    with np.errstate(all="ignore"):
        powers = np.exp(wide - wide.max(axis=axes, keepdims=True, initial=-np.inf))
        return np.asarray(powers / powers.sum(axis=axes, keepdims=True)).astype(x.dtype)


def _np_log_softmax(site: Site, x: np.ndarray) -> np.ndarray:
    axes, wide = _np_axes(site, x), x.astype(np.float64)
    with np.errstate(all="ignore"):
        less = wide - wide.max(axis=axes, keepdims=True, initial=-np.inf)
        return np.asarray(less - np.log(np.exp(less).sum(axis=axes, keepdims=True))).astype(x.dtype)


def _hardmax(site: Site, build: Builder, x: str) -> str:
    own, first = site.type(), site.axis(site.attribute("axis", -1))
    x, place = _flat(site, build, x)
    best = build.op("ArgMax", x, axis=place, keepdims=0)
    count = int(product(own.shape[first:]) if _is_flat(site) else own.shape[first])
    values = build.constant(np.array([0, 1], site.type().numpy))
    return _back(site, build, build.op("OneHot", best, build.constant([count]), values, axis=place))


def _np_hardmax(site: Site, x: np.ndarray) -> Any:
    axes = _np_axes(site, x)
    if not x.size:
        return x
    flat = x.reshape(*x.shape[:axes[0]], -1) if len(axes) > 1 else np.moveaxis(x, axes[0], -1)
    hit = np.arange(flat.shape[-1]) == np.argmax(flat, axis=-1)[..., None]
    return (hit.reshape(x.shape) if len(axes) > 1 else np.moveaxis(hit, -1, axes[0])).astype(x.dtype)


def _check_channels(site: Site, own: TensorType, least: int, places: Iterable[int]) -> None:
    """Refuse data of fewer dimensions, and operands that are no number per channel."""
    if own.rank < least:
        raise site.refusal("data with channels are wanted", 0, witness=str(own),
                           hint=f"give it at least {least} dimensions: batch, channels and space")
    for place in places:
        if site.type(place).shape != own.shape[1:2]:
            raise site.refusal("a number per channel is wanted", place, witness=f"{site.type(place)} for {own}",
                               hint=f"give it {own.shape[1]} numbers")


def _batch_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    _check_channels(site, own, 2, range(1, 5))
    one_type(site, (0,))
    return (own, site.type(3), site.type(4)) if site.attribute("training_mode", 0) else (own,)


def _per_channel(site: Site, build: Builder, name: str) -> str:
    rest = site.type().rank - 2
    return name if not rest else build.op("Unsqueeze", name, build.constant([1 + d for d in range(rest)]))


def _batch(site: Site, build: Builder, x: str, scale: str, bias: str, mean: str, variance: str
           ) -> str | tuple[str, ...]:
    """By the numbers that are given; when it is trained, by those of the batch, and mixtures of both are results."""
    if not site.attribute("training_mode", 0):
        return _normalised(site, build, x, scale, bias, mean, variance)
    axes = build.constant([d for d in range(site.type().rank) if d != 1])
    own = build.op("ReduceMean", x, axes, keepdims=0)
    less = build.op("Sub", x, _per_channel(site, build, own))
    spread = build.op("ReduceMean", build.op("Mul", less, less), axes, keepdims=0)
    share = site.attribute("momentum", 0.9)

    def mixed(place: int, before: str, new: str) -> str:
        numpy = site.type(place).numpy
        new = build.op("Cast", new, to=site.type(place).dtype.name)
        return build.op("Add", build.op("Mul", before, build.constant(np.array(share, numpy))),
                        build.op("Mul", new, build.constant(np.array(1 - share, numpy))))
    wide = site.type(4).dtype.name
    made = _normalised(site, build, x, scale, bias, *(build.op("Cast", v, to=wide) for v in (own, spread)))
    return made, mixed(3, mean, own), mixed(4, variance, spread)


def _normalised(site: Site, build: Builder, x: str, scale: str, bias: str, mean: str, variance: str) -> str:
    numpy = site.type(4).numpy
    shifted = build.op("Add", variance, build.constant(np.array(site.attribute("epsilon", 1e-5), numpy)))
    factor = build.op("Div", scale, build.op("Sqrt", shifted))
    offset = build.op("Sub", bias, build.op("Mul", mean, factor))
    factor, offset = (_per_channel(site, build, n) for n in (factor, offset))
    return build.op("Add", build.op("Mul", x, factor), offset)


def _np_batch(site: Site, x: np.ndarray, *parts: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
    if site.attribute("training_mode", 0):
        axes, share = tuple(d for d in range(x.ndim) if d != 1), site.attribute("momentum", 0.9)
        own = [f(x.astype(np.float64), axis=axes) for f in (np.mean, np.var)]
        mixed = [(p * share + o * (1 - share)).astype(p.dtype) for p, o in zip(parts[2:], own, strict=True)]
        return (_np_normalised(site, x, *parts[:2], *own), *mixed)
    return _np_normalised(site, x, *parts)


def _np_normalised(site: Site, x: np.ndarray, *parts: np.ndarray) -> np.ndarray:
    scale, bias, mean, variance = (p.astype(np.float64).reshape(-1, *(1,) * (x.ndim - 2)) for p in parts)
    result = (x - mean) / np.sqrt(variance + site.attribute("epsilon", 1e-5)) * scale + bias
    return np.asarray(result).astype(x.dtype)


def _instance_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    _check_channels(site, own, 3, (1, 2))
    return _float_types(site)


def _instance(site: Site, build: Builder, x: str, scale: str, bias: str) -> str:
    axes = build.constant(list(range(2, site.type().rank)))
    less = build.op("Sub", x, build.op("ReduceMean", x, axes))
    variance = build.op("ReduceMean", build.op("Mul", less, less), axes)
    epsilon = build.constant(np.array(site.attribute("epsilon", 1e-5), site.type().numpy))
    normal = build.op("Div", less, build.op("Sqrt", build.op("Add", variance, epsilon)))
    return build.op("Add", build.op("Mul", normal, _per_channel(site, build, scale)), _per_channel(site, build, bias))


def _np_instance(site: Site, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
    wide, axes = x.astype(np.float64), tuple(range(2, x.ndim))
    less = wide - wide.mean(axis=axes, keepdims=True)
    normal = less / np.sqrt((less ** 2).mean(axis=axes, keepdims=True) + site.attribute("epsilon", 1e-5))
    own = (-1, *(1,) * (x.ndim - 2))
    return np.asarray(normal * scale.reshape(own) + bias.reshape(own)).astype(x.dtype)


def _lp(site: Site, build: Builder, x: str) -> str:
    axes = build.constant([site.axis(site.attribute("axis", -1))])
    norm = build.op("ReduceL1" if site.attribute("p", 2) == 1 else "ReduceL2", x, axes)
    zero, one = (build.constant(np.array(v, site.type().numpy)) for v in (0, 1))
    safe = build.op("Where", build.op("Equal", norm, zero), one, norm)
    return build.op("Div", x, safe)


def _np_lp(site: Site, x: np.ndarray) -> np.ndarray:
    place, wide = site.attribute("axis", -1), x.astype(np.float64)
    norm = np.abs(wide).sum(axis=place, keepdims=True) if site.attribute("p", 2) == 1 else np.sqrt(
        (wide ** 2).sum(axis=place, keepdims=True))
    return np.asarray(wide / np.where(norm == 0, 1, norm)).astype(x.dtype)


def _lrn_types(site: Site) -> tuple[TensorType, ...]:
    if site.type().rank < 2 or site.attribute("size", 0) < 1:
        raise site.refusal("channels and a size are wanted", "size" if site.type().rank > 1 else 0,
                           witness=str(site.type()),
                           hint="give data of at least two dimensions, and a size of at least 1")
    return _float_types(site)


def _lrn(site: Site, build: Builder, x: str) -> str:
    numpy = site.type().numpy
    size, alpha = site.attribute("size"), site.attribute("alpha", 1e-4)
    total = build.op("ChannelSum", build.op("Mul", x, x), size=size)
    scaled = build.op("Mul", total, build.constant(np.array(alpha / size, numpy)))
    base = build.op("Add", scaled, build.constant(np.array(site.attribute("bias", 1.0), numpy)))
    return build.op("Div", x, build.op("Pow", base, build.constant(np.array(site.attribute("beta", 0.75), numpy))))


def _reach(site: Site) -> tuple[int, int]:
    """How many channels before and behind are taken in."""
    size = site.attribute("size")
    return (size - 1) // 2, size - 1 - (size - 1) // 2


def _channel_sum(site: Site, x: Tensor) -> Tensor:
    own, (before, _) = site.type(), _reach(site)
    r = axis("r", site.attribute("size"))
    channels = extent_of(own.shape[1])

    def element(n: Expression, c: Expression, *i: Expression) -> Expression:
        place = c + r - before
        inside = (place >= 0) & (place < channels)
        return sum_of(where(inside, x[(n, place, *i)], Convert(Constant(0), own.dtype)), over=r)
    return compute([extent_of(e) for e in own.shape], element, name="y")


def _np_channel_sum(site: Site, x: np.ndarray) -> np.ndarray:
    before, behind = _reach(site)
    rows = [x[:, max(0, c - before):c + behind + 1].astype(np.float64).sum(axis=1) for c in range(x.shape[1])]
    return np.stack(rows, axis=1).astype(x.dtype)


def _np_lrn(site: Site, x: np.ndarray) -> np.ndarray:
    total = _np_channel_sum(site, x.astype(np.float64) ** 2)
    base = site.attribute("bias", 1.0) + site.attribute("alpha", 1e-4) / site.attribute("size") * total
    return np.asarray(x / base ** site.attribute("beta", 0.75)).astype(x.dtype)


def _dropout_types(site: Site) -> tuple[TensorType, ...]:
    if site.has(2) and bool(site.value(2).ravel()[0]) and not (site.has(1) and float(site.value(1).ravel()[0]) == 0):
        raise site.refusal("training_mode is true: what is dropped is drawn at random", 2,
                           hint="leave training_mode out, or export the model for inference")
    return site.type(), site.type().with_dtype(BOOL)


def _dropout(site: Site, build: Builder, x: str, *_: str) -> tuple[str, ...]:
    shape = [int(e) for e in site.type().shape]
    mask = build.op("ConstantOfShape", build.constant(shape), value=1, dtype="bool")
    return build.op("Identity", x), mask


def _np_dropout(site: Site, x: np.ndarray, *_: Any) -> tuple[np.ndarray, ...]:
    return x, np.ones(x.shape, bool)


OPERATORS = (
    Operator(name="Softmax", kind=Kind.REDUCTION, types=_float_types, reference=_np_softmax, composition=_softmax),
    Operator(name="LogSoftmax", kind=Kind.REDUCTION, types=_float_types, reference=_np_log_softmax,
             composition=_log_softmax, sums=True),
    Operator(name="Hardmax", kind=Kind.REDUCTION, types=_float_types, reference=_np_hardmax, composition=_hardmax),
    Operator(name="BatchNormalization", kind=Kind.BROADCAST, types=_batch_types, reference=_np_batch,
             composition=_batch, sums=True),
    Operator(name="InstanceNormalization", kind=Kind.REDUCTION, types=_instance_types, reference=_np_instance,
             composition=_instance, sums=True),
    Operator(name="LpNormalization", kind=Kind.REDUCTION, types=_float_types, reference=_np_lp, composition=_lp,
             sums=True),
    Operator(name="LRN", kind=Kind.REDUCTION, types=_lrn_types, reference=_np_lrn, composition=_lrn, sums=True),
    Operator(name="ChannelSum", kind=Kind.REDUCTION, types=_lrn_types, reference=_np_channel_sum,
             expression=_channel_sum),
    Operator(name="Dropout", kind=Kind.ELEMENTWISE, types=_dropout_types, reference=_np_dropout, composition=_dropout,
             steering=(1, 2)))
