"""Layer, group and mean-variance normalisation: by deviations from the mean, whose squares cancel nothing.

ONNX's function bodies take the variance for the mean of squares less the square of the mean, which loses all digits
where the mean is large, and flatten what is reduced; its reference and its text of `LayerNormalization` do not.
"""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site, broadcast, one_type
from polysched.graph.values.element_types import array_type
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType

STASHED = {1: FLOAT32, 10: FLOAT16, 11: FLOAT64, 16: BFLOAT16}
"""Types of the statistics by ONNX's numbers of types."""


def _stashed(site: Site) -> DType:
    """The type that the statistics have."""
    number = site.attribute("stash_type", 1)
    if number not in STASHED:
        raise site.refusal(f"statistics of the type {number}", "stash_type",
                           hint=f"give one of {', '.join(map(str, STASHED))}: a floating type")
    return STASHED[number]


def _wide(site: Site) -> DType:
    """The type in which deviations are computed: never a shorter one than the data have, or float32."""
    return FLOAT64 if FLOAT64 in (site.type().dtype, _stashed(site)) else FLOAT32


def _float(site: Site) -> TensorType:
    own = site.type()
    if not own.dtype.is_float:
        raise site.refusal(f"elements of {own.dtype}, floating are wanted", 0)
    return own


def _deviations(build: Builder, x: str, axes: str, epsilon: str) -> tuple[str, str, str]:
    """The mean, what elements are more than that, and the standard deviation."""
    mean = build.op("ReduceMean", x, axes)
    less = build.op("Sub", x, mean)
    variance = build.op("ReduceMean", build.op("Mul", less, less), axes)
    return mean, less, build.op("Sqrt", build.op("Add", variance, epsilon))


def _epsilon(site: Site, build: Builder) -> str:
    return build.constant(np.array(site.attribute("epsilon", 1e-5), _wide(site).name))


def _np_deviations(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same in float64."""
    wide = x.astype(np.float64)
    mean = wide.mean(axis=axes, keepdims=True)
    less = wide - mean
    return mean, less, np.sqrt((less ** 2).mean(axis=axes, keepdims=True) + epsilon)


def _np_scaled(normal: np.ndarray, x: np.ndarray, scale: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """The second stage, in the type of the data where that is a short one, as ONNX has it."""
    normal = normal.astype(x.dtype) if x.dtype.itemsize < 4 else normal
    scaled = normal * scale
    return np.asarray(scaled if bias is None else scaled + bias).astype(x.dtype)


def _layer_types(site: Site) -> tuple[TensorType, ...]:
    own, axis = _float(site), site.axis(site.attribute("axis", -1))
    one_type(site, (0, 1, 2))
    for place in (1, 2):
        if site.has(place) and broadcast(site, [own, site.type(place)]) != own.shape:
            raise site.refusal("the operand does not broadcast to the data", place,
                               witness=f"{site.type(place)} for {own}", hint="give it the extents that are normalised")
    statistics = TensorType(_stashed(site), (*own.shape[:axis], *(type(e).of(1) for e in own.shape[axis:])))
    return own, statistics, statistics


def _layer(site: Site, build: Builder, x: str, scale: str, bias: str = "") -> tuple[str, ...]:
    own, axis, stashed = site.type(), site.axis(site.attribute("axis", -1)), _stashed(site).name
    axes = build.constant(list(range(axis, own.rank)))
    wide = build.op("Cast", x, to=_wide(site).name)
    mean, less, deviation = _deviations(build, wide, axes, _epsilon(site, build))
    result = build.op("Mul", build.op("Cast", build.op("Div", less, deviation), to=own.dtype.name), scale)
    result = build.op("Add", result, bias) if bias else result
    return (result, build.op("Cast", mean, to=stashed),
            build.op("Cast", build.op("Reciprocal", deviation), to=stashed))


def _np_layer(site: Site, x: np.ndarray, scale: np.ndarray, bias: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    axes = tuple(range(site.attribute("axis", -1) % x.ndim, x.ndim))
    mean, less, deviation = _np_deviations(x, axes, site.attribute("epsilon", 1e-5))
    stashed = array_type(_stashed(site))
    return (_np_scaled(less / deviation, x, scale, bias), mean.astype(stashed), (1 / deviation).astype(stashed))


def _group_types(site: Site) -> tuple[TensorType, ...]:
    own, groups = _float(site), site.required("num_groups")
    one_type(site, (0, 1, 2))
    if own.rank < 2 or not own.shape[1].is_constant or groups < 1 or int(own.shape[1]) % groups:
        raise site.refusal("channels that are known and make up equal groups are wanted", (0, "num_groups"),
                           witness=f"{own}, num_groups={groups}", hint="give data of batch, channels and space, and a "
                           "number of groups that divides the channels")
    for place in (1, 2):
        if site.type(place).shape not in ((own.shape[1],), (groups,)):
            raise site.refusal("a number per channel is wanted", place, witness=f"{site.type(place)} for {own}",
                               hint=f"give it {own.shape[1]} numbers, or one per group before operator set 21")
    _stashed(site)
    return (own,)


def _group(site: Site, build: Builder, x: str, scale: str, bias: str) -> str:
    own, groups = site.type(), site.attribute("num_groups")
    each = int(own.shape[1]) // groups
    shape = build.op("Shape", x)
    apart = build.op("Concat", build.op("Shape", x, start=0, end=1), build.constant([groups, each]), build.op(
        "Shape", x, start=2), axis=0)
    wide = build.op("Cast", build.op("Reshape", x, apart, allowzero=1), to=_wide(site).name)
    axes = build.constant(list(range(2, own.rank + 1)))
    _, less, deviation = _deviations(build, wide, axes, _epsilon(site, build))
    normal = build.op("Cast", build.op("Div", less, deviation), to=own.dtype.name)
    normal = build.op("Reshape", normal, shape, allowzero=1)
    return build.op("Add", build.op("Mul", normal, _spread(site, build, scale, 1)), _spread(site, build, bias, 2))


def _spread(site: Site, build: Builder, name: str, place: int) -> str:
    """Numbers per channel or per group, as they broadcast to the data."""
    own, groups = site.type(), site.attribute("num_groups")
    if site.type(place).shape != (own.shape[1],):
        each = int(own.shape[1]) // groups
        name = build.op("Expand", build.op("Unsqueeze", name, build.constant([1])), build.constant([groups, each]))
        name = build.op("Reshape", name, build.constant([groups * each]))
    return name if own.rank == 2 else build.op("Unsqueeze", name, build.constant(list(range(1, own.rank - 1))))


def _np_group(site: Site, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
    groups = site.attribute("num_groups")
    apart = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    _, less, deviation = _np_deviations(apart, tuple(range(2, apart.ndim)), site.attribute("epsilon", 1e-5))
    parts = [np.repeat(p, x.shape[1] // max(len(p), 1)).reshape(-1, *(1,) * (x.ndim - 2)) for p in (scale, bias)]
    return _np_scaled((less / deviation).reshape(x.shape), x, *parts)


def _mean_variance_axes(site: Site) -> tuple[int, ...]:
    return site.axes(site.attribute("axes", (0, 2, 3)))


def _mean_variance_types(site: Site) -> tuple[TensorType, ...]:
    _mean_variance_axes(site)
    return (_float(site),)


LEAST_DEVIATION = 1e-9
"""What ONNX's function body of `MeanVarianceNormalization` adds to the deviation."""


def _mean_variance(site: Site, build: Builder, x: str) -> str:
    zero, least = (build.constant(np.array(v, site.type().numpy)) for v in (0, LEAST_DEVIATION))
    _, less, deviation = _deviations(build, x, build.constant(list(_mean_variance_axes(site))), zero)
    return build.op("Div", less, build.op("Add", deviation, least))


def _np_mean_variance(site: Site, x: np.ndarray) -> np.ndarray:
    axes = _mean_variance_axes(site) or tuple(range(x.ndim))
    _, less, deviation = _np_deviations(x, axes, 0)
    return np.asarray(less / (deviation + LEAST_DEVIATION)).astype(x.dtype)


OPERATORS = (
    Operator(name="LayerNormalization", kind=Kind.REDUCTION, types=_layer_types, reference=_np_layer,
             composition=_layer),
    Operator(name="GroupNormalization", kind=Kind.REDUCTION, types=_group_types, reference=_np_group,
             composition=_group),
    Operator(name="MeanVarianceNormalization", kind=Kind.REDUCTION, types=_mean_variance_types,
             reference=_np_mean_variance, composition=_mean_variance, sums=True))
