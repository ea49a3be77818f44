"""Elements put where numbers say: Col2Im, MaxUnpool, Compress, TensorScatter, ReverseSequence; and determinants.

Source: the ONNX operators of these names, in the newest version of each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, INT64


def _patches(site: Site) -> tuple[list[int], list[int], np.ndarray]:
    """The extents of the image and of the block, and where each element of each block stands, `[block, places]`.

    A place outside of the image is the number of its elements.
    """
    image, block = (list(site.numbers(p)) for p in (1, 2))
    rank = len(image)
    strides, dilations = (tuple(site.attribute(n, (1,) * rank)) for n in ("strides", "dilations"))
    pads = tuple(site.attribute("pads", (0,) * (2 * rank)))
    if not rank or len(block) != rank or len(strides) != rank or len(dilations) != rank or len(pads) != 2 * rank or (
            min((*image, *block, *strides, *dilations)) < 1 or min(pads) < 0):
        raise site.refusal("an image, a block, strides, dilations and pads of one rank are wanted", (1, 2),
                           witness=f"{image}, {block}, {strides}, {dilations}, {pads}",
                           hint="give as many extents, of at least 1, as strides, dilations, and half of pads have")
    counts = [(e + b + a - d * (k - 1) - 1) // s + 1
              for e, k, s, d, b, a in zip(image, block, strides, dilations, pads[:rank], pads[rank:], strict=True)]
    if min(counts) < 1:
        raise site.refusal("a block is larger than the padded image", 2, witness=f"{block} in {image}",
                           hint="pad more, or take a smaller block")
    if math.prod(counts) != site.type().shape[-1]:
        raise site.refusal("the data have another number of places", 0, witness=f"{site.type()}, {image} by {block}",
                           hint=f"give it {math.prod(counts)} places, the last extent")
    site.check_table(math.prod(counts) * math.prod(block))
    columns = [np.arange(k)[:, None] * d + np.arange(count) * s - b
               for k, count, s, d, b in zip(block, counts, strides, dilations, pads[:rank], strict=True)]
    return image, block, _numbered(columns, image)


def _numbered(columns: Sequence[np.ndarray], image: Sequence[int]) -> np.ndarray:
    """The numbers of elements of an image, by those of their places along each axis, `[block, places]`."""
    rank = len(columns)
    number: Any = np.zeros((1,) * (2 * rank), np.int64)
    inside: Any = np.ones((1,) * (2 * rank), bool)
    for axis, (column, extent) in enumerate(zip(columns, image, strict=True)):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = column.shape
        own = column.reshape(shape)
        number, inside = number * extent + own, inside & (own >= 0) & (own < extent)
    blocks = math.prod(c.shape[0] for c in columns)
    return np.asarray(np.where(inside, number, math.prod(image))).reshape(blocks, -1)


def _col_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if own.rank != 3 or not own.is_static or own.dtype == BOOL:
        raise site.refusal("a batch, channels and places of known extents are wanted", 0, witness=str(own),
                           hint="fix open sizes by sizes=, and give it three dimensions of numbers")
    image, block, _ = _patches(site)
    if int(own.shape[1]) % math.prod(block):
        raise site.refusal("the channels are no multiple of the block", 0, witness=f"{own} by {block}",
                           hint=f"give it a multiple of {math.prod(block)} channels")
    return (own.with_shape((own.shape[0], own.shape[1] // math.prod(block), *image)),)


def _col(site: Site, build: Builder, x: str, *_: str) -> str:
    """Every element added to its place; those outside to one behind the image, which is cut off."""
    image, _block, places = _patches(site)
    batch, channels = site.output.extents[:2]
    total = math.prod(image)
    flat = build.op("Reshape", x, build.constant([batch, channels, places.size]), allowzero=1)
    empty = build.op("Expand", build.constant(np.zeros((), site.type().numpy)),
                     build.constant([batch, channels, total + 1]))
    index = build.op("Expand", build.constant(places.reshape(-1)), build.constant([batch, channels, places.size]))
    summed = build.op("ScatterElements", empty, index, flat, axis=2, reduction="add")
    cut = build.op("Slice", summed, *(build.constant([v]) for v in (0, total, 2)))
    return build.op("Reshape", cut, build.constant([batch, channels, *image]), allowzero=1)


def _np_col(site: Site, x: np.ndarray, image: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Block by block."""
    rank, extents = len(image), [int(e) for e in image]
    strides, dilations = (site.attribute(n, (1,) * rank) for n in ("strides", "dilations"))
    before = site.attribute("pads", (0,) * (2 * rank))
    result = np.zeros(site.outputs[0].extents, np.float64 if x.dtype.kind == "f" else x.dtype)
    columns = x.reshape(*result.shape[:2], *(int(k) for k in block), -1)
    counts = [(e + before[d] + before[rank + d] - dilations[d] * (int(block[d]) - 1) - 1) // strides[d] + 1
              for d, e in enumerate(extents)]
    for number, place in enumerate(np.ndindex(*counts)):
        for inner in np.ndindex(*(int(k) for k in block)):
            at = tuple(p * s + q * d - b for p, s, q, d, b in zip(place, strides, inner, dilations, before,
                                                                  strict=False))
            if all(0 <= a < e for a, e in zip(at, extents, strict=True)):
                result[(slice(None), slice(None), *at)] += columns[(slice(None), slice(None), *inner, number)]
    return result.astype(x.dtype)


def _inferred(site: Site) -> tuple[int, ...]:
    """The shape that was pooled, as the windows have it."""
    own, size = site.type(), tuple(site.required("kernel_shape"))
    rank = len(size)
    strides, pads = site.attribute("strides", (1,) * rank), site.attribute("pads", (0,) * (2 * rank))
    if own.rank != rank + 2 or len(strides) != rank or len(pads) != 2 * rank:
        raise site.refusal("a window per dimension of space is wanted", "kernel_shape", witness=f"{own} by {size}",
                           hint="give one number per dimension of space in kernel_shape and strides, two in pads")
    space = [(int(e) - 1) * s - pads[d] - pads[rank + d] + k
             for d, (e, s, k) in enumerate(zip(own.shape[2:], strides, size, strict=True))]
    return (*(int(e) for e in own.shape[:2]), *space)


def _unpool_types(site: Site) -> tuple[TensorType, ...]:
    own, shape = site.type(), _inferred(site)
    if site.type(1) != own.with_dtype(INT64) or min(shape) < 0:
        raise site.refusal("a place per element is wanted", 1, witness=f"{own} and {site.type(1)}",
                           hint="give it int64 places in the shape of the data")
    if site.has(2) and (len(wanted := site.numbers(2)) != len(shape) or any(
            w < e for w, e in zip(wanted, shape, strict=True))):
        raise site.refusal("the shape that is asked for is smaller than that of the windows", 2, witness=(
            f"{wanted}, {shape}"), hint=f"give at least {list(shape)}")
    return (own.with_shape(site.numbers(2) if site.has(2) else shape),)


def _unpool(site: Site, build: Builder, x: str, index: str, *_: str) -> str:
    shape, made = _inferred(site), site.output.extents
    flat = build.constant([-1])
    zero = build.constant(np.zeros((), site.type().numpy))
    empty = build.op("Expand", zero, build.constant([math.prod(shape)]))
    filled = build.op("ScatterElements", empty, build.op("Reshape", index, flat), build.op("Reshape", x, flat), axis=0)
    shaped = build.op("Reshape", filled, build.constant(list(shape)), allowzero=1)
    behind = tuple(m - e for m, e in zip(made, shape, strict=True))
    return build.op("PadConstant", shaped, zero, before=(0,) * len(shape), behind=behind) if any(behind) else shaped


def _np_unpool(site: Site, x: np.ndarray, index: np.ndarray, *_: Any) -> np.ndarray:
    shape = _inferred(site)
    result, whole = np.zeros(site.outputs[0].extents, x.dtype), np.zeros(math.prod(shape), x.dtype)
    whole[index.reshape(-1)] = x.reshape(-1)
    result[tuple(slice(e) for e in shape)] = whole.reshape(shape)
    return result


def _kept(site: Site) -> list[int]:
    """The places that a condition keeps."""
    condition = site.value(1)
    if condition.dtype != np.bool_ or condition.ndim != 1:
        raise site.refusal("the condition is a vector of truth values", 1, witness=str(site.type(1)),
                           hint="give it one dimension of bool")
    return [int(k) for k in np.flatnonzero(condition)]


def _compress_types(site: Site) -> tuple[TensorType, ...]:
    own, kept = site.type(), _kept(site)
    extent = own.elements if site.attribute("axis") is None else own.shape[site.axis(site.attribute("axis"))]
    if len(site.value(1)) > int(extent):
        raise site.refusal("the condition is longer than the data", 1, witness=f"{site.type(1)} for {own}",
                           hint="give at most as many truth values as the axis has elements")
    if site.attribute("axis") is None:
        return (own.with_shape((len(kept),)),)
    axis = site.axis(site.attribute("axis"))
    return (own.with_shape((*own.shape[:axis], len(kept), *own.shape[axis + 1:])),)


def _compress(site: Site, build: Builder, x: str, *_: str) -> str:
    places = build.constant(_kept(site))
    if site.attribute("axis") is None:
        return build.op("Gather", build.op("Reshape", x, build.constant([-1])), places)
    return build.op("Gather", x, places, axis=site.axis(site.attribute("axis")))


def _cache_types(site: Site) -> tuple[TensorType, ...]:
    own, update = site.type(0), site.type(1)
    one_type(site, (0, 1))
    axis = site.axis(site.attribute("axis", -2))
    others = [a == b for d, (a, b) in enumerate(zip(own.shape, update.shape, strict=False)) if d != axis]
    if axis == 0 or update.rank != own.rank or not all(others) or not (own.is_static and update.is_static) or (
            int(update.shape[axis]) > int(own.shape[axis])):
        raise site.refusal("the update does not fit the data, of known extents", (0, 1),
                           witness=f"{own} and {update}",
                           hint="fix open sizes by sizes=, and write along another axis than the batch, at most as "
                                "long as the data")
    site.check_table(int(update.shape[axis]))
    if site.has(2) and site.type(2) != TensorType.of(INT64, own.shape[:1]):
        raise site.refusal("a place per batch is wanted", 2, witness=str(site.type(2)),
                           hint="give int64, one place per batch")
    return (own,)


def _cache(site: Site, build: Builder, x: str, update: str, start: str = "") -> str:
    """Rows put at places that count from a start, or around the end."""
    own, new = site.type(), site.type(1)
    axis = site.axis(site.attribute("axis", -2))
    batch, extent, rank = int(own.shape[0]), int(own.shape[axis]), own.rank
    rows = build.constant(np.arange(int(new.shape[axis])).reshape([-1 if d == axis else 1 for d in range(rank)]))
    first = build.op("Reshape", start or build.constant(np.zeros(batch, np.int64)),
                     build.constant([batch, *(1,) * (rank - 1)]), allowzero=1)
    place = build.op("Add", first, rows)
    if site.attribute("mode", "linear") == "circular":
        place = build.op("Mod", place, build.constant(np.array(max(extent, 1), np.int64)))
    index = build.op("Expand", place, build.constant([int(e) for e in new.shape]))
    return build.op("ScatterElements", x, index, update, axis=axis)


def _np_cache(site: Site, x: np.ndarray, update: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    axis, result = site.attribute("axis", -2) % x.ndim, x.copy()
    for batch in range(len(x)):
        first = 0 if start is None else int(start[batch])
        for row in range(update.shape[axis]):
            place = (first + row) % x.shape[axis] if site.attribute("mode", "linear") == "circular" else first + row
            taken = np.take(update[batch], row, axis=axis - 1)
            np.moveaxis(result[batch], axis - 1, 0)[place] = taken
    return result


def _reverse_axes(site: Site) -> tuple[int, int]:
    """The axes of the batch and of time: the first two, in either order."""
    batch, time = site.attribute("batch_axis", 1), site.attribute("time_axis", 0)
    if {batch, time} != {0, 1} or site.type().rank < 2:
        raise site.refusal("time and batch are the first two dimensions", ("time_axis", "batch_axis"),
                           witness=f"{time} and {batch}", hint="give 0 and 1, or 1 and 0")
    return batch, time


def _reverse_types(site: Site) -> tuple[TensorType, ...]:
    own, (batch, _) = site.type(), _reverse_axes(site)
    if site.type(1) != TensorType.of(INT64, (own.shape[batch],)) or not own.is_static:
        raise site.refusal("a length per batch of known extents is wanted", 1, witness=f"{own} and {site.type(1)}",
                           hint="give int64, one length per batch, and fix open sizes by sizes=")
    site.check_table(int(own.shape[site.attribute("time_axis", 0)]))
    return (own,)


def _reverse(site: Site, build: Builder, x: str, lengths: str) -> str:
    """The element at `length - 1 - t` for one at `t` before the length."""
    own, (batch, time) = site.type(), _reverse_axes(site)
    shape = [1] * own.rank
    shape[batch] = int(own.shape[batch])
    length = build.op("Reshape", lengths, build.constant(shape), allowzero=1)
    at = build.constant(np.arange(int(own.shape[time])).reshape([-1 if d == time else 1 for d in range(own.rank)]))
    last = build.op("Sub", length, build.constant(np.array(1, np.int64)))
    index = build.op("Where", build.op("Less", at, length), build.op("Sub", last, at), at)
    return build.op("GatherElements", x, build.op("Expand", index, build.constant([int(e) for e in own.shape])),
                    axis=time)


def _np_reverse(site: Site, x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    batch, time = _reverse_axes(site)
    moved = np.moveaxis(x, (batch, time), (0, 1)).copy()
    for row, length in zip(moved, np.maximum(lengths, 0), strict=True):
        row[:length] = row[:length][::-1].copy()
    return np.moveaxis(moved, (0, 1), (batch, time))


def _det_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if own.rank < 2 or own.shape[-1] != own.shape[-2] or not own.dtype.is_float:
        raise site.refusal("square matrices are wanted", 0, witness=str(own),
                           hint="give floats whose last two extents are equal")
    most = LIMITS.most_determinant_rows
    if not 1 <= int(own.shape[-1]) <= most:
        raise site.refusal(f"determinants of matrices of more than {most} rows", 0, witness=str(own),
                           hint="compute it by LU outside of the model, or in blocks")
    return (own.with_shape(own.shape[:-2]),)


def _det(site: Site, build: Builder, x: str) -> str:
    """The signed sum over all permutations, in float64, since it cancels."""
    rows = int(site.type().shape[-1])
    wide = build.op("Cast", x, to="float64")

    def element(row: int, column: int) -> str:
        own = build.op("Gather", wide, build.constant(np.array(row, np.int64)), axis=-2)
        return build.op("Gather", own, build.constant(np.array(column, np.int64)), axis=-1)
    total = ""
    for order in itertools.permutations(range(rows)):
        product = element(0, order[0])
        for row in range(1, rows):
            product = build.op("Mul", product, element(row, order[row]))
        odd = sum(a > b for a, b in itertools.combinations(order, 2)) % 2
        total = build.op("Sub" if odd else "Add", total, product) if total else product
    return build.op("Cast", total, to=site.type().dtype.name)


OPERATORS = (
    Operator(name="Col2Im", kind=Kind.OPAQUE, types=_col_types, reference=_np_col, composition=_col, steering=(1, 2)),
    Operator(name="MaxUnpool", kind=Kind.OPAQUE, types=_unpool_types, reference=_np_unpool, composition=_unpool,
             steering=(2,)),
    Operator(name="Compress", kind=Kind.INJECTIVE, types=_compress_types, composition=_compress, steering=(1,),
             reference=lambda site, x, c: np.compress(c, x, axis=site.attribute("axis"))),
    Operator(name="TensorScatter", kind=Kind.OPAQUE, types=_cache_types, reference=_np_cache, composition=_cache,
             words={"mode": ("linear", "circular")}),
    Operator(name="ReverseSequence", kind=Kind.INJECTIVE, types=_reverse_types, reference=_np_reverse,
             composition=_reverse),
    Operator(name="Det", kind=Kind.REDUCTION, types=_det_types, composition=_det,
             reference=lambda site, x: np.asarray(np.linalg.det(x.astype(np.float64))).astype(x.dtype)))
