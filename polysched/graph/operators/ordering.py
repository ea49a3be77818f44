"""TopK: every element's rank among those along the axis, then a scatter to the places of the ranks.

NaN is larger than all numbers, as in PyTorch and ONNX Runtime.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, INT64
from polysched.scop.expression import Expression, Tensor, axis, compute, equal, not_equal, where
from polysched.scop.expression import sum as sum_of


def _rank_types(site: Site) -> tuple[TensorType, ...]:
    if site.type().dtype == BOOL:
        raise site.refusal("truth values have no order", 0, hint=Remedy.CONVERT)
    site.axis(site.attribute("axis", -1))
    return (site.type().with_dtype(INT64),)


def _rank(site: Site, x: Tensor) -> Tensor:
    """How many elements come before: larger ones (or smaller ones), and equal ones in front."""
    own, place = site.type(), site.axis(site.attribute("axis", -1))
    j = axis("j", extent_of(own.shape[place]))

    def element(*i: Expression) -> Expression:
        other = x[tuple(j if d == place else v for d, v in enumerate(i))]
        before = _less(site, x[i], other) if site.attribute("largest", 1) else _less(site, other, x[i])
        tied = where(j < i[place], where(_same(site, other, x[i]), 1, 0), 0)
        return sum_of(where(before, 1, tied).astype(INT64), over=j)
    return compute([extent_of(e) for e in own.shape], element, name="y", dtype=INT64)


def _less(site: Site, a: Expression, b: Expression) -> Expression:
    found = a < b
    return found | (equal(a, a) & not_equal(b, b)) if site.type().dtype.is_float else found


def _same(site: Site, a: Expression, b: Expression) -> Expression:
    found = equal(a, b)
    return found | (not_equal(a, a) & not_equal(b, b)) if site.type().dtype.is_float else found


def _np_order(site: Site, x: np.ndarray) -> np.ndarray:
    """The places of elements by their size, equal ones from the front."""
    place = site.attribute("axis", -1)
    if not site.attribute("largest", 1):
        return np.argsort(x, axis=place, kind="stable")
    from_behind = np.argsort(np.flip(x, place), axis=place, kind="stable")
    return np.asarray(x.shape[place] - 1 - np.flip(from_behind, place))


def _np_rank(site: Site, x: np.ndarray) -> Any:
    place = site.attribute("axis", -1)
    order = _np_order(site, x)
    return np.argsort(order, axis=place, kind="stable").astype(np.int64)


def _top_types(site: Site) -> tuple[TensorType, ...]:
    own, k = site.type(), _count(site)
    place = site.axis(site.attribute("axis", -1))
    left = own.shape[place] - k
    if own.dtype == BOOL or any(s.is_constant and s.constant < 0 for s in (k, left)):
        raise site.refusal(f"the first {k} of {own.shape[place]} elements of {own.dtype}", 1,
                           hint="give a number from 0 to the extent of the axis, and data that are no truth values")
    result = own.with_shape([k if d == place else e for d, e in enumerate(own.shape)])
    return result, result.with_dtype(INT64)


def _count(site: Site) -> Size:
    """How many elements are wanted."""
    if site.value(1).size != 1:
        site.number(1)   # which refuses it
    return Size.of(site.value(1).ravel()[0])


def _room_of_top(site: Site) -> tuple[Size, ...]:
    """That there are as many elements as are wanted."""
    k = _count(site)
    return k, site.type().shape[site.axis(site.attribute("axis", -1))] - k


def _top(site: Site, build: Builder, x: str, k: str) -> tuple[str, ...]:
    place = site.axis(site.attribute("axis", -1))
    rank = build.op("Rank", x, axis=place, largest=site.attribute("largest", 1))
    places = _all_places(site, build, x, place)
    ends = [build.constant([0]), build.op("Reshape", k, build.constant([1])), build.constant([place])]
    return tuple(build.op("Slice", build.op("ScatterElements", v, rank, v, axis=place), *ends) for v in (x, places))


def _all_places(site: Site, build: Builder, x: str, place: int) -> str:
    """Where along an axis each element stands."""
    own = site.type()
    if not own.is_static:
        return build.op("Subscripts", x, axis=place)
    places = np.arange(own.extents[place], dtype=np.int64)
    column = places.reshape([-1 if d == place else 1 for d in range(own.rank)])
    return build.constant(np.ascontiguousarray(np.broadcast_to(column, own.extents)))


def _np_top(site: Site, x: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, ...]:
    place = site.attribute("axis", -1)
    order = _np_order(site, x)
    first = np.take(order, np.arange(int(k.ravel()[0])), axis=place)
    return np.take_along_axis(x, first, axis=place), first.astype(np.int64)


OPERATORS = (
    Operator(name="Rank", kind=Kind.REDUCTION, types=_rank_types, reference=_np_rank, expression=_rank),
    Operator(name="TopK", kind=Kind.OPAQUE, types=_top_types, reference=_np_top, composition=_top, steering=(1,),
             room=_room_of_top))
