"""Convolutions and pooling in any number of spatial dimensions, with ONNX's padding at both ends.

Layouts: data `[batch, channel, x...]`, weights `[out channel, in channel per group, r...]`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT16, FLOAT32, INT64, DType
from polysched.scop.expression import Expression, Tensor, argmax, axis, compute, maximum, where
from polysched.scop.expression import max as largest
from polysched.scop.expression import sum as sum_of
from polysched.scop.expression.tensors import Constant, Convert


@dataclass(frozen=True)
class Windows:
    """Windows over the spatial dimensions of an operand.

    Parameters
    ----------
    size, strides, dilations : per spatial dimension.
    before, behind : elements of padding per dimension; they follow from an open extent where windows have strides.
    places : the number of windows per dimension.
    """

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[Size, ...]
    behind: tuple[Size, ...]
    places: tuple[Size, ...]

    @property
    def is_padded(self) -> bool:
        """Whether there is any padding."""
        return any(p != 0 for p in (*self.before, *self.behind))

    @property
    def padding(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The elements of padding in front and behind.

        Raises
        ------
        UnsupportedGraphError : they follow from an open extent.
        """
        return tuple(map(int, self.before)), tuple(map(int, self.behind))


def windows(site: Site, size: Sequence[int]) -> Windows:
    """The windows that a node's attributes describe.

    Raises
    ------
    UnsupportedGraphError : an attribute has another number of dimensions, or the operand none.
    """
    spatial, rank = site.type().shape[2:], len(size)
    strides = per_dimension(site, "strides", rank)
    dilations = per_dimension(site, "dilations", rank)
    if any(s < 1 for s in size):
        raise site.refusal("a window has a place at least along every dimension",
                           "kernel_shape" if site.attribute("kernel_shape") else 1,
                           witness=f"kernel_shape={list(size)}",
                           hint="give kernel_shape numbers of at least 1, or other weights")
    if len(spatial) != rank or rank == 0:
        raise site.refusal("data with spatial dimensions are wanted", 0, witness=str(site.type()),
                           hint=f"give it {max(rank, 1) + 2} dimensions: batch, channels and those of space")
    reach = tuple(d * (s - 1) + 1 for d, s in zip(dilations, size, strict=True))
    before, behind = _padding(site, spatial, reach, strides)
    places = []
    for extent, b, a, r, s in zip(spatial, before, behind, reach, strides, strict=True):
        free = extent + b + a - r
        if free.is_constant and free.constant < 0:
            raise site.refusal("the window is larger than the padded data", 0, witness=str(site.type()),
                               hint="pad more, or take a shorter window, dilation or larger data")
        places.append(_rounded_up(site, extent + b, free, s) if _rounds_up(site) else free // s + 1)
    return Windows(tuple(size), strides, dilations, before, behind, tuple(places))


def _rounds_up(site: Site) -> bool:
    """Whether a last window may reach over the padded data; where these follow from the windows, none does."""
    return bool(site.attribute("ceil_mode", 0)) and not str(site.attribute("auto_pad", "")).startswith("SAME")


def _rounded_up(site: Site, start: Size, free: Size, stride: int) -> Size:
    """How many windows there are where the last one may reach over the padded data.

    None may start in the padding behind (ONNX, AveragePool, since version 11).

    Parameters
    ----------
    start : where the padding behind begins.
    free : elements of the padded data behind the first window.

    Raises
    ------
    UnsupportedGraphError : the extent is open, and padding behind is as long as the window.
    """
    count, slack = free.divided_up(stride) + 1, free + stride - start   # the padding behind, less than a window further
    if free.is_constant:
        return count - 1 if int((count - 1) * stride - start) >= 0 else count
    if not slack.is_constant or slack.constant >= stride:
        raise site.refusal("with ceil_mode, how many windows start in the padding behind follows from an open size",
                           "ceil_mode",
                           witness=str(site.type()), hint="fix the size by sizes=, or pad by less than the window")
    return count if slack.constant <= 0 else start.divided_up(stride)


def room_in(first: int, last: int | None = None) -> Callable[[Site], tuple[Size, ...]]:
    """How many windows there are behind the first one, in the spatial dimensions of a result.

    Parameters
    ----------
    first, last : the spatial dimensions among all, as a slice has them.
    """
    return lambda site: tuple(e - 1 for e in site.output.shape[first:last])


def per_dimension(site: Site, name: str, rank: int) -> tuple[int, ...]:
    found = tuple(site.attribute(name, (1,) * rank))
    if len(found) != rank or any(v < 1 for v in found):
        raise site.refusal(f"the attribute {name} has a number of at least 1 per spatial dimension", name,
                           witness=str(found), hint=f"give {rank} numbers of at least 1")
    return found


def _padding(site: Site, spatial: Sequence[Size], reach: Sequence[int],
             strides: Sequence[int]) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    rank, mode = len(spatial), site.attribute("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        pads = tuple(site.attribute("pads", (0,) * (2 * rank)))
        if len(pads) != 2 * rank or any(p < 0 for p in pads):
            raise site.refusal("the attribute pads has two numbers per spatial dimension", "pads", witness=str(pads),
                               hint=f"give {2 * rank} numbers of at least 0: in front of every dimension, then "
                                    f"behind every one")
        return tuple(map(Size.of, pads[:rank])), tuple(map(Size.of, pads[rank:]))
    if mode == "VALID":
        return (Size(),) * rank, (Size(),) * rank
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise site.refusal(f"auto_pad={mode}", "auto_pad", hint="NOTSET with pads, SAME_UPPER, SAME_LOWER or VALID")
    total = [_missing(site, e, r, s) for e, r, s in zip(spatial, reach, strides, strict=True)]
    less = tuple(t // 2 for t in total)
    more = tuple(t - t // 2 for t in total)
    return (less, more) if mode == "SAME_UPPER" else (more, less)


def _missing(site: Site, extent: Size, reach: int, stride: int) -> Size:
    """What data lack so that windows of a stride cover all of them.

    Raises
    ------
    UnsupportedGraphError : the extent is open, and for some extents nothing is missing.
    """
    found = (extent.divided_up(stride) - 1) * stride + reach - extent   # from reach - stride to reach - 1
    if found.is_constant:
        return Size(max(found.constant, 0))
    if reach == 1:
        return Size()
    if reach < stride:
        raise site.refusal("the padding of windows shorter than their stride follows from an open size", "auto_pad",
                           witness=str(extent), hint="fix the size by sizes=")
    return found


def _inside(own: Sequence[Expression], extents: Sequence[Size], unsafe: Sequence[bool]) -> Expression | None:
    """Whether places are inside the data; None where that is always so."""
    result: Expression | None = None
    for place, extent, check in zip(own, extents, unsafe, strict=True):
        if check:
            both = (place >= 0) & (place < extent_of(extent))
            result = both if result is None else result & both
    return result


def _places(w: Windows, i: Sequence[Expression], r: Sequence[Expression]) -> list[Expression]:
    """The places in the data of the elements of a window."""
    def scaled(index: Expression, factor: int) -> Expression:
        return index if factor == 1 else index * factor
    return [scaled(p, s) + scaled(q, d) if b == 0 else scaled(p, s) + scaled(q, d) - extent_of(b)
            for p, q, s, d, b in zip(i, r, w.strides, w.dilations, w.before, strict=True)]


def _reaches_out(w: Windows, extents: Sequence[Size]) -> list[bool]:
    """Per dimension whether some element of a window is outside the data."""
    last = [(n - 1) * s + d * (k - 1) - b for n, s, d, k, b in zip(
        w.places, w.strides, w.dilations, w.size, w.before, strict=True)]
    fits = [n == (e + b + a - d * (k - 1) - 1) // s + 1 and a == 0 for n, s, d, k, b, a, e in zip(
        w.places, w.strides, w.dilations, w.size, w.before, w.behind, extents, strict=True)]
    return [b != 0 or not (f or ((v - e).is_constant and (v - e).constant < 0))
            for b, f, v, e in zip(w.before, fits, last, extents, strict=True)]


def windowed(site: Site, x: Tensor, w: Windows, lead: tuple[Expression, ...], i: Sequence[Expression],
             r: Sequence[Expression], outside: Expression) -> Expression:
    """One element of a window, `outside` where that is padding."""
    return padded_read(site, w, i, r, lambda places: x[(*lead, *places)], outside)


def padded_read(site: Site, w: Windows, i: Sequence[Expression], r: Sequence[Expression],
                read: Callable[[Sequence[Expression]], Expression], outside: Expression | None = None) -> Expression:
    """One element of a window by a function of its spatial places; 0, or `outside`, where that is padding."""
    own, extents = _places(w, i, r), site.type().shape[2:]
    inside = _inside(own, extents, _reaches_out(w, extents))
    if inside is None:
        return read(own)
    return where(inside, read(own), zero(site.type().dtype) if outside is None else outside)


def zero(dtype: DType) -> Expression:
    """0 of an element type."""
    return Convert(Constant(0), dtype)


def _conv_types(site: Site) -> tuple[TensorType, ...]:
    dtype = one_type(site, range(len(site.inputs)))
    if site.has(2) and site.type(2).shape != site.type(1).shape[:1]:
        raise site.refusal("a bias per output channel is wanted", 2, witness=str(site.type(2)),
                           hint=f"give it {site.type(1).shape[0] if site.type(1).rank else 1} numbers, one per "
                                f"output channel")
    return (TensorType(dtype, conv_shape(site, site.type(0), site.type(1))),)


def conv_shape(site: Site, x: TensorType, w: TensorType) -> tuple[Size, ...]:
    """The shape of a convolution of data by weights.

    Raises
    ------
    UnsupportedGraphError : they do not fit together.
    """
    groups = site.attribute("group", 1)
    if x.rank < 3 or w.rank != x.rank or groups < 1 or w.shape[1] * groups != x.shape[1]:
        raise site.refusal("data and weights do not fit together", (0, 1), witness=f"{x} and {w} in {groups} groups",
                           hint="data have batch, channels and space; weights have output channels, the data's "
                                "channels over group, and space")
    if int(w.shape[0]) % groups:
        raise site.refusal("the output channels do not fit", "group", witness=f"{w} in {groups} groups",
                           hint="give a divisor of the number of output channels")
    size = tuple(int(e) for e in w.shape[2:])
    if tuple(site.attribute("kernel_shape", size)) != size:
        raise site.refusal("kernel_shape is not that of the weights", "kernel_shape", witness=str(w),
                           hint=f"leave it out, or give {list(size)}")
    return (x.shape[0], w.shape[0], *windows(site, size).places)


def _conv(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor | tuple[Tensor, ...]:
    own, weights, result, groups = site.type(), site.type(1), site.output, site.attribute("group", 1)
    view = windows(site, [int(e) for e in weights.shape[2:]])
    c = axis("c", extent_of(weights.shape[1]))
    r = tuple(axis(f"r{d}", s) for d, s in enumerate(view.size))
    per_group = int(weights.shape[0]) // groups
    short = own.dtype == FLOAT16

    def element(n: Expression, k: Expression, *i: Expression) -> Expression:
        channel = c if groups == 1 else (k // per_group) * extent_of(weights.shape[1]) + c
        value = windowed(site, x, view, (n, channel), i, r, zero(own.dtype))
        factor = w[(k, c, *r)]
        return sum_of(value.astype(FLOAT32) * factor.astype(FLOAT32) if short else value * factor, over=(c, *r))
    shape = [extent_of(e) for e in result.shape]
    if bias is None and not short:
        return compute(shape, element, name="y")
    total = compute(shape, element, name="total")

    def finished(*i: Expression) -> Expression:
        value = total[i] if bias is None else total[i] + (bias[i[1]].astype(FLOAT32) if short else bias[i[1]])
        return value.astype(FLOAT16) if short else value
    return compute(shape, finished, name="y")


def in_windows(x: np.ndarray, w: Windows, fill: Any) -> np.ndarray:
    """The windows of an array in NumPy: `[batch, channel, places..., window...]`."""
    rank, before = len(w.size), w.padding[0]
    behind = [max(0, (int(n) - 1) * s + d * (k - 1) + 1 - e - b) for n, s, d, k, e, b in zip(
        w.places, w.strides, w.dilations, w.size, x.shape[2:], before, strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *zip(before, behind, strict=True)], constant_values=fill)
    result = np.empty((*x.shape[:2], *(int(n) for n in w.places), *w.size), x.dtype)
    for place in itertools.product(*(range(k) for k in w.size)):
        cuts: list[Any] = [slice(p * d, p * d + (int(n) - 1) * s + 1, s) for p, d, n, s in zip(
            place, w.dilations, w.places, w.strides, strict=True)]
        at: Any = (..., *place)
        result[at] = padded[(slice(None), slice(None), *cuts)]
    assert result.ndim == 2 + 2 * rank
    return result


def np_conv(site: Site, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    """A convolution in NumPy, in float64 or in the type of whole numbers."""
    groups, rank = site.attribute("group", 1), x.ndim - 2
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    cut = in_windows(x.astype(wide), windows(site, w.shape[2:]), 0)
    parts = []
    for g in range(groups):
        data = cut[:, g * w.shape[1]:(g + 1) * w.shape[1]]
        own = w[g * w.shape[0] // groups:(g + 1) * w.shape[0] // groups].astype(wide)
        axes = [1, *range(2 + rank, 2 + 2 * rank)]
        parts.append(np.moveaxis(np.tensordot(data, own, (axes, [1, *range(2, 2 + rank)])), -1, 1))
    result = np.concatenate(parts, axis=1)
    if bias is not None:
        result = result + bias.astype(wide).reshape(-1, *(1,) * rank)
    return np.asarray(result).astype(x.dtype)


def pool_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if own.rank < 3:
        raise site.refusal("data with spatial dimensions are wanted", 0, witness=str(own),
                           hint="give it batch, channels and at least one dimension of space")
    if site.node.op == "LpPool" and site.attribute("p", 2) < 1:
        raise site.refusal("a norm of at least 1 is wanted", "p", witness=str(site.attribute("p")),
                           hint="give a whole number of at least 1")
    if not own.dtype.is_float and site.node.op != "MaxPool":
        raise site.refusal(f"a mean of {own.dtype}", 0, hint=Remedy.CONVERT)
    result = own.with_shape((*own.shape[:2], *windows(site, site.required("kernel_shape")).places))
    return (result, result.with_dtype(INT64)) if site.node.op == "MaxPool" else (result,)


def _least(dtype: DType) -> Expression:
    return Convert(Constant(float("-inf") if dtype.is_float else dtype.value_range()[0]), dtype)


def _max_pool(site: Site, x: Tensor) -> Tensor | tuple[Tensor, ...]:
    own, view = site.type(), windows(site, site.attribute("kernel_shape"))
    r = tuple(axis(f"r{d}", s) for d, s in enumerate(view.size))

    def element(n: Expression, c: Expression, *i: Expression) -> Expression:
        return largest(windowed(site, x, view, (n, c), i, r, _least(own.dtype)), over=r, propagate_nan=True)
    best = compute([extent_of(e) for e in site.output.shape], element, name="y")
    wants_places = len(site.node.outputs) > 1 and bool(site.node.outputs[1])
    return (best, _largest_places(site, x, view)) if wants_places else best


def _largest_places(site: Site, x: Tensor, view: Windows) -> Tensor:
    """Where the first of the largest elements of a window stands in the whole operand."""
    own, shape = site.type(), [extent_of(e) for e in site.output.shape]
    rank = len(view.size)
    behind = [math.prod(view.size[d + 1:]) for d in range(rank)]
    flat = axis("r", math.prod(view.size))

    def split(place: Expression) -> list[Expression]:
        return [place // b - (place // (b * k)) * k for b, k in zip(behind, view.size, strict=True)]

    def number(n: Expression, c: Expression, *i: Expression) -> Expression:
        return argmax(windowed(site, x, view, (n, c), i, split(flat), _least(own.dtype)), over=flat,
                      propagate_nan=True)
    found = compute(shape, number, name="found")
    order = range(rank) if not site.attribute("storage_order", 0) else range(rank - 1, -1, -1)

    def place(n: Expression, c: Expression, *i: Expression) -> Expression:
        at = [p * s + q * d - extent_of(b) for p, q, s, d, b in zip(
            i, split(found[(n, c, *i)]), view.strides, view.dilations, view.before, strict=True)]
        total: Expression = Convert(Constant(0), INT64)
        for d in order:
            step = view.dilations[d]
            first_inside = maximum(at[d], 0) if step == 1 else where(at[d] < 0, at[d] - at[d] // step * step, at[d])
            total = total * extent_of(own.shape[2 + d]) + first_inside
        first: Expression = Convert(n * extent_of(own.shape[1]) + c, INT64)
        for extent in own.shape[2:]:
            first = first * extent_of(extent)
        return total + first
    return compute(shape, place, name="places", dtype=INT64)


def np_max_pool(site: Site, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """The largest elements of windows, and where they stand in the whole operand."""
    view = windows(site, site.attribute("kernel_shape"))
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    cut = in_windows(x, view, least)
    rank = x.ndim - 2
    flat = cut.reshape(*cut.shape[:2 + rank], math.prod(view.size))
    best = np.argmax(flat, axis=-1)
    at = np.unravel_index(best, view.size)
    places = np.indices(best.shape)[2:]
    own = []
    for p, a, s, d, b, e in zip(places, at, view.strides, view.dilations, view.padding[0], x.shape[2:], strict=True):
        place = p * s + a * d - b
        own.append(np.minimum(np.where(place < 0, place % d, place), e - 1))   # of equal ones, the first in the data
    index = np.ravel_multi_index(tuple(own), x.shape[2:], order="F" if site.attribute("storage_order", 0) else "C")
    first = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[0], x.shape[1], *(1,) * rank)
    offset = first * int(np.prod(x.shape[2:]))
    return np.max(flat, axis=-1), (index + offset).astype(np.int64)


def counted(site: Site, view: Windows) -> np.ndarray:
    """How many elements each mean takes in, `[1, 1, places...]`."""
    result = np.ones((1, 1, *(int(n) for n in view.places)), np.float64)
    padded = bool(site.attribute("count_include_pad", 0))
    for d, (n, s, k, q, b, a, e) in enumerate(zip(view.places, view.strides, view.size, view.dilations, *view.padding,
                                                  site.type().shape[2:], strict=True)):
        low, high = (-b, int(e) + a) if padded else (0, int(e))
        counts = [sum(low <= p * s - b + r * q < high for r in range(k)) for p in range(int(n))]
        result = result * np.array(counts).reshape([-1 if i == d + 2 else 1 for i in range(result.ndim)])
    return result


def _average_pool(site: Site, build: Builder, x: str) -> str:
    """The sum of every window by the number of elements in it."""
    view, own = windows(site, site.attribute("kernel_shape")), site.type()
    total = build.op("SumPool", x, **dict(site.node.attributes))
    if _are_whole(site, view):
        return build.op("Div", total, build.constant(np.array(math.prod(view.size), own.numpy)))
    if not own.is_static:
        return build.op("Div", total, _counted_when_run(site, build, x))
    return build.op("Div", total, build.constant(counted(site, view).astype(own.numpy)))


def _are_whole(site: Site, view: Windows) -> bool:
    """Whether every mean takes in all elements of its window."""
    padded = site.attribute("count_include_pad", 0) and not _rounds_up(site)
    return bool(padded) or not any(_reaches_out(view, site.type().shape[2:]))


def _counted_when_run(site: Site, build: Builder, x: str) -> str:
    """How many elements each mean takes in, where extents are open: sums of windows over ones, of padding, too."""
    extents = build.op("Shape", x, start=2)
    attributes = {k: v for k, v in site.node.attributes if k != "count_include_pad"}
    if site.attribute("count_include_pad", 0):
        view = windows(site, site.attribute("kernel_shape"))
        extra = [b + a for b, a in zip(*view.padding, strict=True)]
        whole = [(e + p, d * (k - 1) + 1) for e, p, d, k in zip(
            site.type().shape[2:], extra, view.dilations, view.size, strict=True)]
        counts = [_rounded_up(site, e, e - r, s) for (e, r), s in zip(whole, view.strides, strict=True)]
        if tuple(counts) != view.places:   # some would start in the padding behind
            raise site.refusal("a mean over padding whose number follows from an open size", "count_include_pad",
                               hint="fix it by sizes=")
        extents = build.op("Add", extents, build.constant(extra))
        attributes = {k: v for k, v in attributes.items() if k not in ("pads", "auto_pad")}
    shape = build.op("Concat", build.constant([1, 1]), extents, axis=0)
    return build.op("SumPool", build.op("Expand", build.constant(np.ones((), site.type().numpy)), shape), **attributes)


def _sum_pool(site: Site, x: Tensor) -> Tensor:
    own, view = site.type(), windows(site, site.attribute("kernel_shape"))
    r = tuple(axis(f"r{d}", s) for d, s in enumerate(view.size))

    def element(n: Expression, c: Expression, *i: Expression) -> Expression:
        return sum_of(windowed(site, x, view, (n, c), i, r, zero(own.dtype)), over=r)
    return compute([extent_of(e) for e in site.output.shape], element, name="y")


def _np_sum_pool(site: Site, x: np.ndarray) -> np.ndarray:
    view = windows(site, site.attribute("kernel_shape"))
    spatial = tuple(range(x.ndim, 2 * x.ndim - 2))
    return np.asarray(in_windows(x.astype(np.float64), view, 0).sum(axis=spatial)).astype(x.dtype)


def _np_average_pool(site: Site, x: np.ndarray) -> np.ndarray:
    view = windows(site, site.attribute("kernel_shape"))
    spatial = tuple(range(x.ndim, 2 * x.ndim - 2))
    return np.asarray(in_windows(x.astype(np.float64), view, 0).sum(axis=spatial) / counted(site, view)).astype(x.dtype)


OPERATORS = (
    Operator(name="Conv", kind=Kind.OUTPUT_FUSABLE, types=_conv_types, reference=np_conv, expression=_conv,
             room=room_in(2)),
    Operator(name="MaxPool", kind=Kind.OUTPUT_FUSABLE, types=pool_types, reference=np_max_pool,
             expression=_max_pool, room=room_in(2)),
    Operator(name="SumPool", kind=Kind.OUTPUT_FUSABLE, types=pool_types, reference=_np_sum_pool,
             expression=_sum_pool, room=room_in(2)),
    Operator(name="AveragePool", kind=Kind.OUTPUT_FUSABLE, types=pool_types, reference=_np_average_pool,
             composition=_average_pool, sums=True))
