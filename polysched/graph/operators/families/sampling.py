"""Elements between elements, at places that are data: GridSample, RoiAlign, DeformConv.

Source: the ONNX operators GridSample, version 20, RoiAlign, version 16, and DeformConv, version 19.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.families.numbers import Numbers
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.operators.windows import windows
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.dtypes import INT64

CUBIC = -0.75
"""The free coefficient of cubic convolution: Keys, Cubic convolution interpolation (1981), as ONNX has it."""


@dataclass(frozen=True)
class Tap:
    """One of the elements around a place along one axis: the names of its index, its weight, whether it is inside."""

    index: str
    weight: str
    inside: str


class Places(Numbers):
    """Arithmetic of places between elements."""

    def clipped(self, x: str, low: float, high: float) -> str:
        """A value between two numbers."""
        return self.op("Min", self.op("Max", x, low), high)

    def finite(self, x: str, otherwise: float) -> str:
        """A value, or a number where it is infinite or no number."""
        return self.op("Where", self.op("Less", self.op("Abs", x), np.inf), x, otherwise)

    def index(self, x: str) -> str:
        """A whole number as a subscript."""
        return self.build.op("Cast", x, to=INT64.name)


def _cubic_weight(own: Places, distance: str, far: bool) -> str:
    """The weight of an element at a distance of at most 1, or from 1 to 2, by Horner's scheme."""
    coefficients = (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC) if far else (CUBIC + 2, -(CUBIC + 3), 0.0, 1.0)
    total = own.op("Mul", distance, coefficients[0])
    for coefficient in coefficients[1:-1]:
        total = own.op("Mul", own.op("Add", total, coefficient), distance)
    return own.op("Add", total, coefficients[-1])


def _reflected(own: Places, x: str, low: float, high: float) -> str:
    """A place mirrored at two borders until it is between them."""
    span = high - low
    if span <= 0:
        return own.clipped(x, low, low)
    away = own.op("Sub", x, low)
    turned = own.op("Sub", away, own.op("Mul", own.op("Floor", own.op("Div", away, 2 * span)), 2 * span))
    inner = own.op("Add", own.op("Min", turned, own.op("Sub", 2 * span, turned)), low)
    return own.op("Where", _outside(own, x, low, high), inner, x)


def _outside(own: Places, x: str, low: float, high: float) -> str:
    """Whether a place lies beyond one of two borders."""
    return own.op("Or", own.op("Less", x, low), own.op("Greater", x, high))


def _borders(extent: int, aligned: bool) -> tuple[float, float]:
    """The borders of an axis: the outer elements, or their outer edges."""
    return (0.0, extent - 1.0) if aligned else (-0.5, extent - 0.5)


def _taps(site: Site, own: Places, place: str, extent: int) -> list[Tap]:
    """The elements around a place along one axis of a grid."""
    mode, padding = _mode(site), site.attribute("padding_mode", "zeros")
    aligned, place = bool(site.attribute("align_corners", 0)), own.finite(place, -1)   # as ONNX Runtime has it
    if aligned:
        x = own.op("Mul", own.op("Div", own.op("Add", place, 1), 2), extent - 1)
    else:
        x = own.op("Div", own.op("Sub", own.op("Mul", own.op("Add", place, 1), extent), 1), 2)
    x = own.op("Round", x) if mode == "nearest" else x
    if padding == "border":   # a place between an edge and the outer element stays, as onnx.reference has it
        x = own.op("Where", _outside(own, x, *_borders(extent, aligned)), own.clipped(x, 0, extent - 1), x)
    if padding == "reflection":
        x = _reflected(own, x, *_borders(extent, aligned))
    floor = x if mode == "nearest" else own.op("Floor", x)
    near = own.clipped(floor, -3, extent + 2)   # as far outside as all taps are
    rest = own.op("Sub", x, floor)
    left = own.op("Sub", 1, rest)
    if mode == "nearest":
        weights = {0: own.op("Add", own.op("Mul", rest, 0), 1)}
    elif mode == "linear":
        weights = {0: left, 1: rest}
    else:
        weights = {-1: _cubic_weight(own, own.op("Add", rest, 1), True), 0: _cubic_weight(own, rest, False),
                   1: _cubic_weight(own, left, False), 2: _cubic_weight(own, own.op("Add", left, 1), True)}
    return [_tap(own, own.op("Add", near, step) if step else near, weight, extent,
                 _borders(extent, aligned) if padding == "reflection" else None) for step, weight in weights.items()]


def _tap(own: Places, at: str, weight: str, extent: int, borders: tuple[float, float] | None) -> Tap:
    """An element at a whole place, which may be outside."""
    inside = own.op("And", own.op("GreaterOrEqual", at, 0), own.op("LessOrEqual", at, extent - 1))
    at = at if borders is None else _reflected(own, at, *borders)
    return Tap(own.index(own.clipped(at, 0, extent - 1)), weight, inside)


def _sampled(own: Places, flat: str, taps: Sequence[Sequence[Tap]], extents: Sequence[int], rows: Sequence[int],
             zeros: bool) -> str:
    """The sum of all combinations of taps, `[batch, channels, points]`.

    Parameters
    ----------
    flat : `[batch, channels, elements]`.
    taps : per axis, of places `[batch, points]`.
    rows : batch, channels, points.
    zeros : what is outside counts nothing.
    """
    parts = [own.op("Mul", *_corner(own, flat, combination, extents, rows, zeros))
             for combination in itertools.product(*taps)]
    return parts[0] if len(parts) == 1 else own.build.op("Sum", *parts)


def _corner(own: Places, flat: str, combination: Sequence[Tap], extents: Sequence[int], rows: Sequence[int],
            zeros: bool) -> tuple[str, str]:
    """The elements at one combination of taps, and their weights `[batch, 1, points]`."""
    build, index, weight = own.build, combination[0].index, combination[0].weight
    for tap, extent in zip(combination[1:], extents[1:], strict=True):
        index = build.op("Add", build.op("Mul", index, build.constant(np.array(extent, np.int64))), tap.index)
        weight = own.op("Mul", weight, tap.weight)
    if zeros:
        inside = combination[0].inside
        for tap in combination[1:]:
            inside = own.op("And", inside, tap.inside)
        weight = own.op("Where", inside, weight, 0)
    one = build.constant([1])
    spread = build.op("Expand", build.op("Unsqueeze", index, one), build.constant(list(rows)))
    return build.op("GatherElements", flat, spread, axis=2), build.op("Unsqueeze", weight, one)


def _mode(site: Site) -> str:
    """How elements between elements are made, by the words of the newest operator set."""
    mode: str = site.attribute("mode", "linear")
    return {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)


def _grid_types(site: Site) -> tuple[TensorType, ...]:
    own, grid = site.type(0), site.type(1)
    space = own.rank - 2
    if not own.dtype.is_float or not grid.dtype.is_float or space < 1 or grid.rank != own.rank or (
            grid.shape[-1] != space or grid.shape[0] != own.shape[0]):
        raise site.refusal("a place per dimension of space is wanted for each element", (0, 1),
                           witness=f"{own} and {grid}",
                           hint="give floats [batch, channels, space...] and a grid [batch, places..., dimensions "
                                "of space]")
    if space > 2 and _mode(site) == "cubic":
        raise site.refusal("cubic sampling of more than two dimensions of space", "mode", witness=str(own),
                           hint="use nearest or linear")
    if not own.is_static or not grid.is_static or any(e == 0 for e in own.shape):
        raise site.refusal("elements between elements of known extents are wanted", (0, 1),
                           witness=f"{own} and {grid}", hint="fix open sizes by sizes=, and give data with elements")
    return (own.with_shape((*own.shape[:2], *grid.shape[1:-1])),)


def _grid(site: Site, build: Builder, x: str, grid: str) -> str:
    own, made = site.type(), site.output.extents
    batch, channels, *extents = own.extents
    points = math.prod(made[2:])
    numbers = Places(build, site.type(1).numpy)
    flat = build.op("Reshape", x, build.constant([batch, channels, math.prod(extents)]), allowzero=1)
    listed = build.op("Reshape", grid, build.constant([batch, points, len(extents)]), allowzero=1)
    taps = []
    for axis, extent in enumerate(extents):
        column = build.constant(np.array(len(extents) - 1 - axis, np.int64))   # the last axis comes first
        taps.append(_taps(site, numbers, build.op("Gather", listed, column, axis=2), extent))
    own_numbers = Places(build, own.numpy)
    if own.dtype != site.type(1).dtype:
        taps = [[Tap(t.index, build.op("Cast", t.weight, to=own.dtype.name), t.inside) for t in row] for row in taps]
    total = _sampled(own_numbers, flat, taps, extents, (batch, channels, points),
                     site.attribute("padding_mode", "zeros") == "zeros")
    return build.op("Reshape", total, build.constant(list(made)), allowzero=1)


def _np_grid(site: Site, x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Place by place."""
    space = x.shape[2:]
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]), np.float64)
    for place in np.ndindex(grid.shape[:-1]):
        rows = [_np_taps(site, v, e) for v, e in zip(grid[place][::-1], space, strict=True)]
        for combination in itertools.product(*rows):
            at, weights = zip(*combination, strict=True)
            if all(0 <= a < e for a, e in zip(at, space, strict=True)):
                result[(place[0], slice(None), *place[1:])] += x[(place[0], slice(None), *at)] * math.prod(weights)
    return result.astype(x.dtype)


def _np_taps(site: Site, value: Any, extent: int) -> list[tuple[int, float]]:
    """Indices along one axis, and their weights."""
    aligned, padding = bool(site.attribute("align_corners", 0)), site.attribute("padding_mode", "zeros")
    one, two = value.dtype.type(1), value.dtype.type(2)
    value = value if np.isfinite(value) else -one
    x = float((value + one) / two * (extent - 1) if aligned else ((value + one) * extent - one) / two)
    mode = _mode(site)
    x = float(np.rint(x)) if mode == "nearest" else x

    def moved(at: float) -> float:
        low, high = _borders(extent, aligned)
        if padding == "border" and not low <= at <= high:
            return min(max(at, 0.0), extent - 1.0)
        if padding == "reflection" and not low <= at <= high:
            away = (at - low) % (2 * (high - low)) if high > low else 0.0
            return low + min(away, 2 * (high - low) - away)
        return at
    x = moved(x)
    first = math.floor(x)
    rest = x - first
    if mode == "nearest":
        weights = {0: 1.0}
    elif mode == "linear":
        weights = {0: 1 - rest, 1: rest}
    else:
        a = CUBIC
        weights = {s: (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1 if d <= 1 else a * d ** 3 - 5 * a * d ** 2 + 8 * a * d
                   - 4 * a for s, d in ((-1, 1 + rest), (0, rest), (1, 1 - rest), (2, 2 - rest))}
    return [(int(moved(first + s)), w) for s, w in weights.items()]


def _between(own: Places, place: str, extent: int) -> list[Tap]:
    """The two elements around a place; what is outside counts nothing."""
    place = own.finite(place, -3)
    floor = own.op("Floor", place)
    rest, near = own.op("Sub", place, floor), own.clipped(floor, -3, extent + 2)
    return [_tap(own, near, own.op("Sub", 1, rest), extent, None), _tap(own, own.op("Add", near, 1), rest, extent,
                                                                       None)]


def _deform_types(site: Site) -> tuple[TensorType, ...]:
    x, w, offset = site.type(0), site.type(1), site.type(2)
    group, offsets = site.attribute("group", 1), site.attribute("offset_group", 1)
    dtype = one_type(site, range(len(site.inputs)))
    known = all(t.is_static and 0 not in t.extents for t in (x, w, offset))
    if x.rank != 4 or w.rank != 4 or not known or min(group, offsets) < 1:
        raise site.refusal("images and weights of known extents are wanted", (0, 1, 2), witness=f"{x} and {w}",
                           hint="fix open sizes by sizes=, and give them four dimensions with elements")
    view = windows(site, w.extents[2:])
    window = math.prod(view.size)
    if x.shape[1] != w.shape[1] * group or int(w.shape[0]) % group or int(x.shape[1]) % offsets or (
            offset.shape != (x.shape[0], 2 * window * offsets, *view.places)):
        raise site.refusal("data, weights and offsets do not fit together", (0, 1, 2), witness=f"{x}, {w} and {offset}")
    site.check_table(window * math.prod(int(e) for e in view.places))
    _check_rest(site, (x.shape[0], Size(window * offsets), *view.places))
    return (TensorType(dtype, (x.shape[0], w.shape[0], *view.places)),)


def _check_rest(site: Site, mask: tuple[Size, ...]) -> None:
    """Refuse a bias or a mask of another shape."""
    if site.has(3) and site.type(3).shape != site.type(1).shape[:1]:
        raise site.refusal("a number per result channel is wanted", 3, witness=str(site.type(3)),
                           hint=f"give it {site.type(1).shape[0]} numbers")
    if site.has(4) and site.type(4).shape != mask:
        raise site.refusal("the mask does not fit the offsets", 4, witness=str(site.type(4)),
                           hint="give it the shape [batch, offset_group x places of the window, height, width]")


def _deform(site: Site, build: Builder, x: str, w: str, offset: str, bias: str = "", mask: str = "") -> str:
    """Elements at the places of each window, then a product with the weights."""
    own = Places(build, site.type().numpy)
    batch, channels, *extents = site.type().extents
    _, results, height, width = site.output.extents
    group, offsets = site.attribute("group", 1), site.attribute("offset_group", 1)
    view = windows(site, site.type(1).extents[2:])
    window, points = math.prod(view.size), height * width
    rows = batch * offsets
    split = build.op("Reshape", offset, build.constant([rows, window, 2, points]), allowzero=1)
    taps = []
    for axis, grid in enumerate(np.indices((*view.size, height, width))[:2]):
        places = np.indices((*view.size, height, width))[2 + axis]
        fixed = places * view.strides[axis] + grid * view.dilations[axis] - view.padding[0][axis]
        moved = build.op("Gather", split, build.constant(np.array(axis, np.int64)), axis=2)
        place = build.op("Add", moved, build.constant(fixed.reshape(1, window, points).astype(own.numpy)))
        flat = build.op("Reshape", place, build.constant([rows, window * points]), allowzero=1)
        taps.append(_between(own, flat, extents[axis]))
    data = build.op("Reshape", x, build.constant([rows, channels // offsets, math.prod(extents)]), allowzero=1)
    sampled = _sampled(own, data, taps, extents, (rows, channels // offsets, window * points), True)
    if mask:
        sampled = build.op("Mul", sampled, build.op("Reshape", mask, build.constant([rows, 1, window * points]),
                                                    allowzero=1))
    inner = channels // group * window
    columns = build.op("Reshape", sampled, build.constant([batch, group, inner, points]), allowzero=1)
    weights = build.op("Reshape", w, build.constant([group, results // group, inner]), allowzero=1)
    made = build.op("Reshape", build.op("MatMul", weights, columns), build.constant(list(site.output.extents)),
                    allowzero=1)
    return made if not bias else build.op("Add", made, build.op("Reshape", bias, build.constant([results, 1, 1])))


def _np_deform(site: Site, x: np.ndarray, w: np.ndarray, offset: np.ndarray, bias: np.ndarray | None = None,
               mask: np.ndarray | None = None) -> np.ndarray:
    """Element by element."""
    group, offsets = site.attribute("group", 1), site.attribute("offset_group", 1)
    view = windows(site, w.shape[2:])
    space = tuple(int(e) for e in view.places)
    shifts = offset.reshape(len(x), offsets, *view.size, 2, *space).astype(np.float64)
    factors = np.ones((len(x), offsets, *view.size, *space)) if mask is None else mask.reshape(
        len(x), offsets, *view.size, *space)
    result = np.zeros((len(x), len(w), *space)) + (0 if bias is None else bias.reshape(-1, 1, 1))
    share, per = x.shape[1] // offsets, len(w) // group
    for n, k, i, j in np.ndindex(result.shape):
        for c, p, q in np.ndindex(w.shape[1:]):
            channel = k // per * w.shape[1] + c
            own = (n, channel // share, p, q)
            dy, dx = shifts[(*own, slice(None), i, j)]
            place = (i * view.strides[0] + p * view.dilations[0] - view.padding[0][0] + dy,
                     j * view.strides[1] + q * view.dilations[1] - view.padding[0][1] + dx)
            result[n, k, i, j] += _np_bilinear(x[n, channel], *place) * factors[(*own, i, j)] * w[k, c, p, q]
    return result.astype(x.dtype)


def _np_bilinear(image: np.ndarray, y: float, x: float) -> float:
    total = 0.0
    if not (math.isfinite(y) and math.isfinite(x)):
        return total
    for row, column in itertools.product((math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)):
        if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
            total += float(image[row, column]) * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def _roi_types(site: Site) -> tuple[TensorType, ...]:
    own, regions, batch = site.type(0), site.type(1), site.type(2)
    height, width = site.attribute("output_height", 1), site.attribute("output_width", 1)
    if own.rank != 4 or regions.rank != 2 or regions.shape[1] != 4 or batch.shape != regions.shape[:1] or (
            not own.is_static or not regions.is_static or own.elements == 0) or min(height, width) < 1:
        raise site.refusal("images of known extents, four numbers and an image per region are wanted", (0, 1, 2),
                           witness=f"{own}, {regions} and {batch}",
                           hint="give images [batch, channels, height, width], regions [n, 4] and n numbers of "
                                "images, and fix open sizes by sizes=")
    if site.attribute("sampling_ratio", 0) < 1:
        raise site.refusal("how many samples a bin has depends on data", "sampling_ratio", witness="sampling_ratio=0",
                           hint="give a number of at least 1")
    site.check_table(max(height, width) * site.attribute("sampling_ratio", 0))
    return (own.with_shape((regions.shape[0], own.shape[1], height, width)),)


def _roi_axis(site: Site, own: Places, regions: str, axis: int) -> list[Tap]:
    """The two elements around every sample of a region along one axis, `[regions, bins * samples]`."""
    build, extent = own.build, site.type().extents[2 + axis]
    half = site.attribute("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    bins = (site.attribute("output_height", 1), site.attribute("output_width", 1))[axis]
    samples = site.attribute("sampling_ratio", 0)

    def edge(column: int) -> str:
        scaled = own.op("Mul", build.op("Gather", regions, build.constant([column]), axis=1),
                        float(site.attribute("spatial_scale", 1.0)))
        return own.op("Sub", scaled, 0.5) if half else scaled
    start = edge(1 - axis)
    length = own.op("Sub", edge(3 - axis), start)
    length = length if half else own.op("Max", length, 1)
    shares = ((np.arange(bins * samples) + 0.5) / (bins * samples)).astype(own.numpy)
    place = own.op("Add", start, own.op("Mul", length, build.constant(shares[None])))
    place = own.finite(place, -3)
    inside = own.op("And", own.op("GreaterOrEqual", place, -1), own.op("LessOrEqual", place, extent))
    inner = own.clipped(place, 0, extent - 1)
    floor = own.op("Floor", inner)
    rest = own.op("Sub", inner, floor)
    return [Tap(own.index(own.clipped(own.op("Add", floor, step), 0, extent - 1)), weight, inside)
            for step, weight in ((0, own.op("Sub", 1, rest)), (1, rest))]


def _roi(site: Site, build: Builder, x: str, regions: str, batch: str) -> str:
    own = Places(build, site.type().numpy)
    _, channels, height, width = site.type().extents
    count, _, rows, columns = site.output.extents
    samples = site.attribute("sampling_ratio", 0)
    flat = build.op("Reshape", build.op("Gather", x, batch), build.constant([count, channels, height * width]),
                    allowzero=1)
    vertical, horizontal = (_roi_axis(site, own, regions, axis) for axis in (0, 1))
    shape = (count, rows * samples, columns * samples)

    def spread(tap: Tap, axis: int) -> Tap:
        """Over the samples of the other axis, as one dimension."""
        def over(name: str) -> str:
            wide = build.op("Expand", build.op("Unsqueeze", name, build.constant([2 - axis])),
                            build.constant(list(shape)))
            return build.op("Reshape", wide, build.constant([count, shape[1] * shape[2]]), allowzero=1)
        return Tap(over(tap.index), over(tap.weight), over(tap.inside))
    taps = [[spread(t, 0) for t in vertical], [spread(t, 1) for t in horizontal]]
    points = (count, channels, shape[1] * shape[2])
    if site.attribute("mode", "avg") == "avg":
        made, reduce = _sampled(own, flat, taps, (height, width), points, True), "ReduceMean"
    else:
        corners = [own.op("Mul", *_corner(own, flat, pair, (height, width), points, True))
                   for pair in itertools.product(*taps)]
        made, reduce = build.op("Max", *corners), "ReduceMax"
    split = build.op("Reshape", made, build.constant([count, channels, rows, samples, columns, samples]), allowzero=1)
    return build.op(reduce, split, build.constant([3, 5]), keepdims=0)


def _np_roi(site: Site, x: np.ndarray, regions: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """Sample by sample."""
    result = np.zeros(site.outputs[0].extents)
    samples, scale = site.attribute("sampling_ratio", 0), site.attribute("spatial_scale", 1.0)
    half = site.attribute("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    for region, channel, row, column in np.ndindex(result.shape):
        left, top, right, bottom = regions[region].astype(np.float64) * scale - (0.5 if half else 0.0)
        size = (bottom - top, right - left) if half else (max(bottom - top, 1.0), max(right - left, 1.0))
        found = []
        for i, j in np.ndindex(samples, samples):
            y = top + (row + (i + 0.5) / samples) * size[0] / result.shape[2]
            at = left + (column + (j + 0.5) / samples) * size[1] / result.shape[3]
            found.append(_np_corners(x[batch[region], channel], y, at))
        sums = [sum(corners) for corners in found]
        best = [max(corners) for corners in found]
        result[region, channel, row, column] = np.mean(sums) if site.attribute("mode", "avg") == "avg" else max(best)
    return result.astype(x.dtype)


def _np_corners(image: np.ndarray, y: float, x: float) -> list[float]:
    """The four elements around a place times their weights; of a place outside nothing."""
    if not (-1 <= y <= image.shape[0] and -1 <= x <= image.shape[1]):
        return [0.0] * 4
    rows, columns = (_np_pair(v, e) for v, e in zip((y, x), image.shape, strict=True))
    return [float(image[r, c]) * a * b for r, a in rows for c, b in columns]


def _np_pair(place: float, extent: int) -> list[tuple[int, float]]:
    place = min(max(place, 0.0), extent - 1.0)
    low = int(place)
    return [(low, 1 - (place - low)), (min(low + 1, extent - 1), place - low)]


OPERATORS = (
    Operator(name="GridSample", kind=Kind.INJECTIVE, types=_grid_types, reference=_np_grid, composition=_grid,
             words={"mode": ("linear", "bilinear", "nearest", "cubic", "bicubic"),
                    "padding_mode": ("zeros", "border", "reflection")}),
    Operator(name="DeformConv", kind=Kind.OUTPUT_FUSABLE, types=_deform_types, reference=_np_deform,
             composition=_deform),
    Operator(name="RoiAlign", kind=Kind.REDUCTION, types=_roi_types, reference=_np_roi, composition=_roi,
             words={"mode": ("avg", "max"),
                    "coordinate_transformation_mode": ("half_pixel", "output_half_pixel")}))
