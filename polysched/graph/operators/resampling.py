"""Resize: every axis on its own, as a sum of gathered elements times weights that are known while compiling.

Source: the ONNX operator Resize, version 19, and its reference in `onnx.reference.ops.op_resize`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.sizes import Size, SizeLike
from polysched.graph.values.types import TensorType
from polysched.records import dataclass

ROI, SCALES, SIZES = 1, 2, 3
CROPPED = "tf_crop_and_resize"
"""The one way of placing that takes a part of an axis, which an operand says."""


@dataclass(frozen=True)
class Axis:
    """How one axis is resampled: `result[i] = sum_t weights[i, t] x[places[i, t]]`; some `i` are outside."""

    axis: int
    places: np.ndarray
    weights: np.ndarray
    outside: np.ndarray


def _operand(site: Site, place: int) -> np.ndarray | None:
    if not site.has(place) or site.type(place).elements == 0:
        return None
    return site.value(place)


@dataclass(frozen=True)
class Scaled:
    """What is asked of one axis.

    Parameters
    ----------
    number : of the axis among those that are named.
    scale : by which it grows; None where it follows from an open size.
    after : the extent of the result.
    """

    number: int
    axis: int
    scale: float | None
    after: Size


def _asked(site: Site) -> list[Scaled]:
    """The axes that are named, their scales, and the extents of the result on them."""
    axes, scales, extents = _scales(site)
    return [Scaled(n, a, s, Size.of(e)) for n, (a, s, e) in enumerate(zip(axes, scales, extents, strict=True))]


def _grown(site: Site, extent: Size, factor: float, place: int = SCALES) -> Size:
    """`floor(extent * factor)`.

    Parameters
    ----------
    place : of the operand that has the factor.

    Raises
    ------
    UnsupportedGraphError : the extent is open, and the factor no quotient of small numbers.
    """
    if extent.is_constant:
        return Size(math.floor(int(extent) * factor))
    above, below = factor.as_integer_ratio()
    if max(abs(above), below) > LIMITS.largest_part_of_a_scale:
        raise site.refusal(f"an open size times {factor}", place, witness=str(site.type()),
                           hint="fix the size by sizes=, or give a scale that is a quotient of small numbers")
    return extent * above // below


def _scales(site: Site) -> tuple[list[int], Sequence[float | None], Sequence[SizeLike]]:
    own = site.type()
    axes = list(site.axes(site.attribute("axes", tuple(range(own.rank)))))
    before = [own.shape[a] for a in axes]
    scales, sizes = _operand(site, SCALES), _operand(site, SIZES)
    if scales is not None:
        factors = [float(v) for v in scales.ravel()]
        if not all(math.isfinite(f) for f in factors):
            raise site.refusal("a scale is not finite", SCALES, witness=str(factors), hint="give finite scales")
        return axes, factors, [_grown(site, b, f) for b, f in zip(before, factors, strict=True)]
    if sizes is None:
        raise site.refusal("neither scales nor sizes are given", (SCALES, SIZES), hint="give one of them")
    policy = site.attribute("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return axes, [_ratio(Size.of(w), b) for w, b in zip(sizes.ravel(), before, strict=True)], list(sizes.ravel())
    known = [int(b) for b in before]
    ratios = [int(w) / b if b else 1.0 for w, b in zip(sizes.ravel(), known, strict=True)]
    factor = (min if policy == "not_larger" else max)(ratios)
    return axes, [factor] * len(axes), [math.floor(factor * b + 0.5) for b in known]


def _ratio(wanted: Size, before: Size) -> float | None:
    """By which an extent grows; None where that follows from an open size."""
    if wanted == before or before == 0:
        return 1.0
    return int(wanted) / int(before) if wanted.is_constant and before.is_constant else None


def _check_elements(site: Site) -> None:
    """Refuse whole numbers between others: ONNX does not say how they are rounded."""
    if not site.type().dtype.is_float and site.attribute("mode", "nearest") != "nearest":
        raise site.refusal(f"elements of {site.type().dtype} between others", "mode",
                           hint="convert them by Cast, or use the mode nearest")


def _check_numbers(site: Site) -> None:
    """Refuse scales or sizes that are not one per axis."""
    own = site.type()
    axes = site.axes(site.attribute("axes", tuple(range(own.rank))))
    if any(v is not None and v.shape != (len(axes),)
           for v in (_operand(site, SCALES), _operand(site, SIZES))):
        raise site.refusal("a scale or a size per axis is wanted", (SCALES, SIZES), witness=str(own),
                           hint=f"give {len(axes)} numbers")


def _types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    _check_elements(site)
    _check_numbers(site)
    asked = _asked(site)
    if site.has(ROI) and site.type(ROI).elements not in (0, 2 * len(asked)):
        raise site.refusal("a region has a start and an end per axis", ROI, witness=str(site.type(ROI)),
                           hint=f"give {2 * len(asked)} numbers: the starts, then the ends")
    shape = list(own.shape)
    for each in asked:
        if each.scale is not None and each.scale <= 0:
            raise site.refusal("a scale is not positive", SCALES, witness=str([a.scale for a in asked]),
                               hint="give scales above 0")
        if each.after != 0 and shape[each.axis] == 0:
            raise site.refusal("nothing is resized to something", SIZES if site.has(SIZES) else SCALES,
                               witness=str(own), hint="a dimension without elements stays without")
        shape[each.axis] = each.after
    return (own.with_shape(shape),)


@dataclass(frozen=True, eq=False)
class Computed:
    """A vector of float64 that nodes compute; formulas are written once for it and for numbers."""

    build: Builder
    name: str

    @staticmethod
    def of(build: Builder, value: float) -> Computed:
        """A constant."""
        return Computed(build, build.constant(np.array(value, np.float64)))

    def op(self, op: str, *operands: Computed | float) -> Computed:
        """An operator on vectors and numbers."""
        made = (o if isinstance(o, Computed) else Computed.of(self.build, o) for o in operands)
        return Computed(self.build, self.build.op(op, *(o.name for o in made)))

    def __add__(self, other: Computed | float) -> Computed:
        return self.op("Add", self, other)

    def __sub__(self, other: Computed | float) -> Computed:
        return self.op("Sub", self, other)

    def __rsub__(self, other: float) -> Computed:
        return self.op("Sub", other, self)

    def __mul__(self, other: Computed | float) -> Computed:
        return self.op("Mul", self, other)

    def __truediv__(self, other: Computed | float) -> Computed:
        return self.op("Div", self, other)


Real = TypeVar("Real", float, Computed)


def _floor(x: Real) -> Real:
    return x.op("Floor", x) if isinstance(x, Computed) else float(math.floor(x))


def _ceil(x: Real) -> Real:
    return x.op("Ceil", x) if isinstance(x, Computed) else float(math.ceil(x))


def _unless_one(tested: Real, value: Callable[[], Real]) -> Real:
    """A value, but 0 where a number is 1."""
    if isinstance(tested, Computed):
        return tested.op("Where", tested.op("Equal", tested, 1), 0, value())
    return 0.0 if tested == 1 else value()


def _original(site: Site, place: Real, result: Real, scale: Real, before: Real) -> Real:
    """Where a place of the result lies in the operand, of which no part is cut off.

    A floor may hang on the last bit: operations stand in the order of the reference.
    """
    mode, length = site.attribute("coordinate_transformation_mode", "half_pixel"), scale * before
    if mode == "asymmetric":
        return place / scale
    if mode == "align_corners":
        return _unless_one(length, lambda: place * (before - 1) / (length - 1))
    if mode == "pytorch_half_pixel":   # the reference has -0.5 where the result has one place, the text 0
        return _unless_one(result, lambda: (place + 0.5) / scale - 0.5)
    if mode == "half_pixel":
        return (place + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        return before / 2 * (1 - result / length) + (place + 0.5) / scale - 0.5
    raise site.refusal(f"coordinate_transformation_mode={mode}", "coordinate_transformation_mode",
                       hint="give half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric "
                            f"or {CROPPED}")


def _in_part(place: int, result: int, before: int, roi: tuple[float, float]) -> float:
    """Where a place of the result lies in the operand, of which a part is taken."""
    if result <= 1:
        return (roi[1] - roi[0]) * (before - 1) / 2
    return place * (roi[1] - roi[0]) * (before - 1) / (result - 1) + roi[0] * (before - 1)


def _nearest(site: Site, x: Real) -> Real:
    mode = site.attribute("nearest_mode", "round_prefer_floor")
    if mode == "round_prefer_floor":
        return _ceil(x - 0.5)
    if mode == "round_prefer_ceil":
        return _floor(x + 0.5)
    if mode in ("floor", "ceil"):
        return _floor(x) if mode == "floor" else _ceil(x)
    raise site.refusal(f"nearest_mode={mode}", "nearest_mode",
                       hint="give round_prefer_floor, round_prefer_ceil, floor or ceil")


def _cubic(distance: float, a: float) -> float:
    d = abs(distance)
    if d <= 1:
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    return a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a if d < 2 else 0.0


def _taps(site: Site, x: float, scale: float) -> dict[int, float]:
    """Places around a place, and their weights."""
    mode = site.attribute("mode", "nearest")
    if mode == "nearest":
        return {int(_nearest(site, x)): 1.0}
    if mode not in ("linear", "cubic"):
        raise site.refusal(f"mode={mode}", "mode", hint="give nearest, linear or cubic")
    shrink = min(scale, 1.0) if site.attribute("antialias", 0) else 1.0
    reach = (1 if mode == "linear" else 2) / shrink
    a = site.attribute("cubic_coeff_a", -0.75)
    first, last = math.floor(x - reach) + 1, math.ceil(x + reach) - 1
    taps = {p: max(0.0, 1 - abs(x - p) * shrink) if mode == "linear" else _cubic((x - p) * shrink, a)
            for p in range(first, last + 1)}
    total = sum(taps.values())
    return {p: w / total for p, w in taps.items()} if site.attribute("antialias", 0) else taps


def _check_table(site: Site, scale: float, result: int) -> None:
    """Refuse an axis of more places, or of more neighbours each, than are found one by one."""
    reach = {"nearest": 0.5, "linear": 1.0, "cubic": 2.0}.get(site.attribute("mode", "nearest"), 1.0)
    count = result * 2 * reach / (min(scale, 1.0) if site.attribute("antialias", 0) else 1.0)
    if count > LIMITS.most_neighbours:
        raise site.refusal("an axis has very many elements to be resized", SIZES if site.has(SIZES) else SCALES,
                           hint=f"at most {LIMITS.most_neighbours}",
                           witness=f"{count:.0f} elements between which others lie")


def _is_cropped(site: Site) -> bool:
    """Whether a part of every axis is taken."""
    return bool(site.attribute("coordinate_transformation_mode", "half_pixel") == CROPPED)


def _part(site: Site, number: int) -> tuple[float, float]:
    """Which part of an axis is taken: all of it where nothing is cropped."""
    roi = _operand(site, ROI) if _is_cropped(site) else None
    if roi is None:
        return 0.0, 1.0
    return float(roi.flat[number]), float(roi.flat[number + roi.size // 2])


def _axis(site: Site, asked: Scaled) -> Axis:
    """The places and weights of one axis."""
    number, axis, scale, result = asked.number, asked.axis, asked.scale, int(asked.after)
    assert scale is not None, "extents that are known have a known ratio"
    before = int(site.type().shape[axis])
    _check_table(site, scale, result)
    part = _part(site, number)
    rows: list[dict[int, float]] = []
    outside = np.zeros(result, bool)
    for place in range(result):
        x = _in_part(place, result, before, part) if _is_cropped(site) else _original(
            site, float(place), float(result), scale, float(before))
        if _is_cropped(site):
            outside[place] = not 0 <= x <= before - 1
        taps = _taps(site, x, scale)
        if site.attribute("exclude_outside", 0):
            taps = {p: w for p, w in taps.items() if 0 <= p < before}
            total = sum(taps.values())
            taps = {p: w / total for p, w in taps.items()} if total else taps   # beyond all elements: outside
        rows.append(taps)
    most = max([1, *map(len, rows)])
    places, weights = np.zeros((result, most), np.int64), np.zeros((result, most))
    for i, taps in enumerate(rows):
        places[i] = min(max(min(taps, default=0), 0), before - 1)   # what has a weight of 0 is read, too
        for t, (p, w) in enumerate(taps.items()):
            places[i, t], weights[i, t] = min(max(p, 0), before - 1), w
    return Axis(axis, places, weights, outside)


def _is_known(site: Site, asked: Scaled) -> bool:
    """Whether both extents of an axis are known."""
    return asked.after.is_constant and site.type().shape[asked.axis].is_constant


def _resampled(site: Site) -> list[Axis]:
    """The axes of known extents that change."""
    made = [_axis(site, asked) for asked in _asked(site) if _is_known(site, asked)]
    return [m for m in made if not (m.places.shape[1] == 1 and not m.outside.any() and np.array_equal(
        m.places[:, 0], np.arange(int(site.type().shape[m.axis]))))]


def _resize(site: Site, build: Builder, x: str, *_: str) -> str:
    numpy, rank = site.type().numpy, site.type().rank
    changed = _resampled(site)
    result = build.op("Identity", x)
    for asked in _asked(site):
        if not _is_known(site, asked) and (asked.scale != 1 or _part(site, asked.number) != (0.0, 1.0)):
            result = _open_axis(site, build, result, asked)
    outside = None
    for own in changed:
        column = [-1 if d == own.axis else 1 for d in range(rank)]
        parts = []
        for t in range(own.places.shape[1]):
            part = build.op("Gather", result, build.constant(own.places[:, t].copy()), axis=own.axis)
            if not (own.weights[:, t] == 1).all():
                part = build.op("Mul", part, build.constant(own.weights[:, t].astype(numpy).reshape(column)))
            parts.append(part)
        result = parts[0] if len(parts) == 1 else build.op("Sum", *parts)
        if own.outside.any():
            beyond = own.outside.reshape(column)
            outside = beyond if outside is None else outside | beyond
    if outside is None:
        return result
    value = build.constant(np.array(site.attribute("extrapolation_value", 0.0), numpy))
    return build.op("Where", build.constant(outside), value, result)


def _open_axis(site: Site, build: Builder, x: str, asked: Scaled) -> str:
    """The same over an open extent: places and weights are computed when the model runs, in float64.

    Raises
    ------
    UnsupportedGraphError : how many elements a place has follows from the size, or some are outside.
    """
    cut_off = ("coordinate_transformation_mode", f"coordinate_transformation_mode={CROPPED}", _is_cropped(site))
    flags = ((name, name, site.attribute(name, 0)) for name in ("antialias", "exclude_outside"))
    for name, what, asked_for in (*flags, cut_off):
        if asked_for:
            raise site.refusal(f"{what} over an open size", name, witness=str(site.type()),
                               hint="fix the size by sizes=")
    count = build.op("Shape", x, start=asked.axis, end=asked.axis + 1)
    before = Computed(build, build.op("Cast", count, to="float64"))
    if asked.scale is None or _operand(site, SCALES) is None:
        count = build.op("Gather", site.node.inputs[SIZES], build.constant([asked.number]), axis=0)
    else:
        above, below = asked.scale.as_integer_ratio()
        count = build.op("Div", build.op("Mul", count, build.constant([above])), build.constant([below]))
    after = Computed(build, build.op("Cast", count, to="float64"))
    scale = after / before if asked.scale is None else Computed.of(build, asked.scale)
    zero, one = (build.constant(np.array(v, np.int64)) for v in (0, 1))
    places = build.op("Cast", build.op("Range", zero, build.op("Squeeze", count, build.constant([0])), one),
                      to="float64")
    original, last = _original(site, Computed(build, places), after, scale, before), before - 1
    parts = []
    for place, weight in _open_taps(site, original):
        index = build.op("Cast", last.op("Min", last.op("Max", place, 0), last).name, to="int64")
        part = build.op("Gather", x, index, axis=asked.axis)
        if weight is not None:
            numpy, behind = site.type().numpy, list(range(1, site.type().rank - asked.axis))
            column = build.op("Cast", weight.name, to=site.type().dtype.name)
            column = build.op("Unsqueeze", column, build.constant(behind)) if behind else column
            zeros = build.constant(np.array(0, numpy))
            part = build.op("Where", build.op("Equal", column, zeros), zeros, build.op("Mul", part, column))
        parts.append(part)
    return parts[0] if len(parts) == 1 else build.op("Sum", *parts)


def _open_taps(site: Site, x: Computed) -> list[tuple[Computed, Computed | None]]:
    """What `_taps` says, without antialiasing: places and their weights; no weight where that is 1."""
    mode = site.attribute("mode", "nearest")
    if mode == "nearest":
        return [(_nearest(site, x), None)]
    front = _floor(x)
    share = x - front
    rest = 1 - share
    if mode == "linear":
        return [(front, rest), (front + 1, share)]
    a = site.attribute("cubic_coeff_a", -0.75)
    far = [_polynomial(d, (a, -5 * a, 8 * a, -4 * a)) for d in (share + 1, rest + 1)]
    near = [_polynomial(d, (a + 2, -(a + 3), 0, 1)) for d in (share, rest)]
    return [(front - 1, far[0]), (front, near[0]), (front + 1, near[1]), (front + 2, far[1])]


def _polynomial(x: Computed, factors: tuple[float, ...]) -> Computed:
    made = Computed.of(x.build, factors[0])
    for factor in factors[1:]:
        made = made * x + factor
    return made


def _np_resize(site: Site, x: np.ndarray, *_: Any) -> Any:
    result = x.astype(np.float64) if x.dtype.kind == "f" else x
    outside = np.zeros((1,) * x.ndim, bool)
    for own in _resampled(site):
        column = [-1 if d == own.axis else 1 for d in range(x.ndim)]
        if own.places.shape[1] == 1:
            result = np.take(result, own.places[:, 0], axis=own.axis)
        else:
            result = reduce(np.add, (np.take(result, places, axis=own.axis) * weights.reshape(column)
                                     for places, weights in zip(own.places.T, own.weights.T, strict=True)))
        outside = outside | own.outside.reshape(column)
    return np.where(outside, site.attribute("extrapolation_value", 0.0), result).astype(x.dtype)


def _factors(site: Site) -> list[float]:
    """The scales of every dimension."""
    factors = [float(v) for v in site.value(1).ravel()]
    if len(factors) != site.type().rank or not all(0 < f < math.inf for f in factors):
        raise site.refusal("a positive scale per dimension is wanted", 1, witness=str(factors),
                           hint=f"give {site.type().rank} finite numbers above 0")
    return factors


def _upsample_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    _check_elements(site)
    return (own.with_shape([_grown(site, e, f, 1) for e, f in zip(own.shape, _factors(site), strict=True)]),)


def _upsample(site: Site, build: Builder, x: str, _: str) -> str:
    """By `Resize`: the element in front of a place, behind it where there are fewer places than elements.

    Source: the examples of ONNX's first `Resize`, `downsample_nearest` and `upsample_nearest`.
    """
    factors, mode = _factors(site), site.attribute("mode", "nearest")
    for nearest, own in (("floor", [max(f, 1.0) for f in factors]), ("ceil", [min(f, 1.0) for f in factors])):
        if any(f != 1 for f in own):
            x = build.op("Resize", x, "", build.constant(np.array(own, np.float32)), mode=mode,
                         coordinate_transformation_mode="asymmetric", nearest_mode=nearest)
    return x


def _np_upsample(site: Site, x: np.ndarray, _: np.ndarray) -> Any:
    linear = site.attribute("mode", "nearest") == "linear"
    result = x.astype(np.float64) if linear else x
    for axis, factor in enumerate(_factors(site)):
        places, last = np.arange(int(site.outputs[0].shape[axis])) / factor, x.shape[axis] - 1
        front = (np.ceil if factor < 1 and not linear else np.floor)(places).astype(int)
        own = np.take(result, np.minimum(front, last), axis)
        if linear:
            share = (places - front).reshape(-1, *(1,) * (x.ndim - axis - 1))
            own = own * (1 - share) + np.take(result, np.minimum(front + 1, last), axis) * share
        result = own
    return result.astype(x.dtype)


OPERATORS = (
    Operator(name="Resize", kind=Kind.INJECTIVE, types=_types, reference=_np_resize, composition=_resize,
             steering=(ROI, SCALES, SIZES), words={
                 "mode": ("nearest", "linear", "cubic"),
                 "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller")}),
    Operator(name="Upsample", kind=Kind.INJECTIVE, types=_upsample_types, reference=_np_upsample,
             composition=_upsample, steering=(1,), words={"mode": ("nearest", "linear")}))
