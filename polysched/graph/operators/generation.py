"""Operators whose results follow from shapes, or from values that are known while compiling."""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.values.element_types import ELEMENT_TYPES, array_type
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT64, INT64, DType
from polysched.scop.expression import Tensor, compute


def _span(site: Site, rank: int) -> tuple[int, int]:
    """The dimensions whose extents are wanted."""
    start, end = site.attribute("start", 0), site.attribute("end", rank)
    low = min(max(start + rank if start < 0 else start, 0), rank)
    high = min(max(end + rank if end < 0 else end, 0), rank)
    return low, max(high, low)


def _shape_types(site: Site) -> tuple[TensorType, ...]:
    low, high = _span(site, site.type().rank)
    return (TensorType.of(INT64, (high - low,)),)


def _np_shape(site: Site, x: np.ndarray) -> np.ndarray:
    low, high = _span(site, x.ndim)
    return np.array(x.shape[low:high], np.int64)


def sizes_of(site: Site) -> np.ndarray | None:
    """The value of `Shape` or `Size` as sizes, from the type of the operand; None for other operators."""
    own = site.type()
    if site.node.op == "Size":
        sizes = np.array(own.elements, dtype=object)
    elif site.node.op == "Shape":
        low, high = _span(site, own.rank)
        sizes = np.empty(high - low, dtype=object)
        sizes[:] = own.shape[low:high]
    else:
        return None
    return sizes.astype(np.int64) if all(e.is_constant for e in sizes.ravel()) else sizes


def _size_types(site: Site) -> tuple[TensorType, ...]:
    site.type()
    return (TensorType.of(INT64, ()),)


def _element_type(site: Site, default: str) -> DType:
    """The element type that is asked for."""
    name = site.attribute("dtype", default)
    if name not in ELEMENT_TYPES:
        raise site.refusal(f"elements of type {name} are not had", "dtype",
                           hint=f"give one of {', '.join(sorted(ELEMENT_TYPES))}")
    return ELEMENT_TYPES[name]


def _filled_types(site: Site) -> tuple[TensorType, ...]:
    return (TensorType.of(_element_type(site, "float32"), site.sizes(0)),)


def _repeated(site: Site) -> np.ndarray:
    """The number that all elements are."""
    return np.array(site.attribute("value", 0), array_type(ELEMENT_TYPES[site.attribute("dtype", "float32")]))


def _np_filled(site: Site, shape: np.ndarray) -> np.ndarray:
    return np.full(tuple(int(e) for e in shape), _repeated(site))


def _filled(site: Site, build: Builder, shape: str) -> str:
    """The number, spread over the shape: no array of it is needed where it is used."""
    return build.op("Expand", build.constant(_repeated(site)), shape)


def _range_types(site: Site) -> tuple[TensorType, ...]:
    if one_type(site, range(3)) == BOOL:
        raise site.refusal("a range of truth values", (0, 1, 2), hint=Remedy.CONVERT)
    for place in range(3):
        if site.value(place).size != 1:
            raise site.refusal("one number is wanted", place, witness=str(site.type(place)), hint="give it one element")
    start, limit, step = (site.value(p).ravel()[0] for p in range(3))
    if step == 0:
        raise site.refusal("a range in steps of 0", 2, hint="give a step that is not 0")
    if any(isinstance(v, Size) for v in (start, limit, step)):
        return (TensorType.of(site.type().dtype, (_open_count(site, start, limit, step),)),)
    if not all(np.isfinite(v) for v in (start, limit, step)):
        raise site.refusal("a range of numbers that are not finite", (0, 1, 2), witness=f"{start}, {limit}, {step}",
                           hint="give finite numbers")
    return (TensorType.of(site.type().dtype, (_count(*_wide_numbers(site, start, limit, step)),)),)


def _open_count(site: Site, start: Any, limit: Any, step: Any) -> Size:
    """How many numbers a range has whose ends follow from open sizes."""
    beyond = Size.of(limit) - Size.of(start)
    count: Size | None = None
    if not isinstance(step, Size) and step > 0:
        count = (beyond + (step - 1)).truncated(step)
    if count is None:
        raise site.refusal(f"a range in steps of {step} whose end follows from an open size", 2,
                           witness=f"from {start} to {limit}", hint="fix the size by sizes=, or give steps of 1")
    return count


def _by_places(site: Site, build: Builder, start: str, limit: str, step: str) -> str:
    """The places along as many zeros as there are numbers, times the step; what is no whole number, in float64."""
    own, extent = site.type(), site.output.shape[0]
    count = build.constant([int(extent)]) if extent.is_constant else _open_end(site, build, start, limit, step)
    places = build.op("Subscripts", build.op("Expand", build.constant(np.zeros(1, own.numpy)), count), axis=0)
    wide = (own.dtype if own.dtype.is_integer else FLOAT64).name
    place, each, first = (build.op("Cast", n, to=wide) for n in (places, step, start))
    return build.op("Cast", build.op("Add", build.op("Mul", place, each), first), to=own.dtype.name)


def _open_end(site: Site, build: Builder, start: str, limit: str, step: str) -> str:
    """How many numbers a range has whose ends follow from open sizes, in steps above 0."""
    each, beyond = int(site.value(2).ravel()[0]), build.op("Sub", limit, start)
    if each != 1:
        beyond = build.op("Div", build.op("Add", beyond, build.constant(np.array(each - 1, site.type().numpy))), step)
    return build.op("Cast", build.op("Reshape", beyond, build.constant([1])), to="int64")


def _room_of_range(site: Site) -> tuple[Size, ...]:
    """That a range with open ends does not end ahead of its start."""
    start, limit, _ = (site.value(p).ravel()[0] for p in range(3))
    return (Size.of(limit) - Size.of(start),) if isinstance(start, Size) or isinstance(limit, Size) else ()


def _subscripts_types(site: Site) -> tuple[TensorType, ...]:
    site.axis(site.required("axis"))
    return (site.type().with_dtype(INT64),)


def _subscripts(site: Site, x: Tensor) -> Tensor:
    place = site.axis(site.required("axis"))
    return compute([extent_of(e) for e in site.type().shape], lambda *i: i[place].astype(INT64), name="y", dtype=INT64)


def _np_subscripts(site: Site, x: np.ndarray) -> np.ndarray:
    place = site.axis(site.required("axis"))
    places: np.ndarray = np.indices(x.shape, np.int64)[place]
    return places


def _wide_numbers(site: Site, *numbers: Any) -> list[Any]:
    """The start, the limit and the step of a range, as they are computed with: half floats in the type that is said."""
    own = np.dtype(type(numbers[0]))
    if own.kind in "iu":
        return [int(n) for n in numbers]
    if own.itemsize > 2:
        return list(numbers)
    wide = {1: np.float32, 11: np.float64}.get(site.attribute("stash_type", 1))
    if wide is None:
        raise site.refusal("a range of half floats is computed in float32 or float64", "stash_type",
                           witness=f"stash_type={site.attribute('stash_type')}",
                           hint="give 1 (float32) or 11 (float64)")
    return [wide(n) for n in numbers]


def _count(start: Any, limit: Any, step: Any) -> int:
    """How many numbers a range has; more than a dimension may where the quotient overflows."""
    if isinstance(start, int):
        return max(int(-((start - limit) // step)), 0)
    with np.errstate(over="ignore"):
        quotient = (limit - start) / step
    return max(int(np.ceil(quotient)), 0) if np.isfinite(quotient) else (LIMITS.most_extent + 1) * int(quotient > 0)


def _np_range(site: Site, start: np.ndarray, limit: np.ndarray, step: np.ndarray) -> np.ndarray:
    first, last, each = _wide_numbers(site, *(v.ravel()[0] for v in (start, limit, step)))
    values: np.ndarray = (first + np.arange(_count(first, last, each)) * each).astype(start.dtype)
    return values


def _eye_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if own.rank != 2:
        raise site.refusal("a matrix is wanted", 0, witness=str(own), hint="Reshape it to two dimensions")
    return (own.with_dtype(_element_type(site, own.dtype.name)),)


def _np_eye(site: Site, x: np.ndarray) -> np.ndarray:
    dtype = site.attribute("dtype", None)
    rows, columns = x.shape
    return np.eye(rows, columns, k=site.attribute("k", 0),
                  dtype=x.dtype if dtype is None else array_type(ELEMENT_TYPES[dtype]))


def by_shape(site: Site) -> np.ndarray | None:
    """The value of an operator that looks at no element of its operand."""
    if site.node.op == "EyeLike" and site.type().is_static:
        return _np_eye(site, np.broadcast_to(np.zeros((), site.type().numpy), site.type().extents))
    return sizes_of(site) if site.node.op in ("Shape", "Size") else None


OPERATORS = (
    Operator(name="Shape", kind=Kind.OPAQUE, types=_shape_types, reference=_np_shape, narrow=True),
    Operator(name="Size", kind=Kind.OPAQUE, types=_size_types, narrow=True,
             reference=lambda site, x: np.array(x.size, np.int64)),
    Operator(name="ConstantOfShape", kind=Kind.OPAQUE, types=_filled_types, reference=_np_filled, steering=(0,),
             composition=_filled),
    Operator(name="Range", kind=Kind.OPAQUE, types=_range_types, reference=_np_range, steering=(0, 1, 2),
             composition=_by_places, room=_room_of_range),
    Operator(name="Subscripts", kind=Kind.INJECTIVE, types=_subscripts_types, reference=_np_subscripts,
             expression=_subscripts),
    Operator(name="EyeLike", kind=Kind.OPAQUE, types=_eye_types, reference=_np_eye))
