"""Gathers and scatters: elements at subscripts that are data; one-hot rows, triangles, running reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.moves import COMBINED, Move, Place, gathered, whole
from polysched.graph.operators.operator import Kind, Operator, Site, one_type
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, INT32, INT64

Moves = tuple[tuple[Move, ...], ...]


def _indices(site: Site, place: int) -> TensorType:
    """The type of an operand of indices."""
    own = site.type(place)
    if own.dtype not in (INT32, INT64):
        raise site.refusal(f"indices of {own.dtype}", place, hint="put a Cast to int64 ahead of it")
    return own


def _check_known(site: Site, place: int, extents: Sequence[Size]) -> None:
    """Refuse indices that are known and lie outside; others are tested when the model runs.

    Parameters
    ----------
    extents : of the dimensions that the last dimension of the indices counts; of one for all indices.
    """
    known = site.known[place]
    if known is None or known.dtype == object or not known.size:
        return
    columns = [known] if len(extents) == 1 else [known[..., d] for d in range(len(extents))]
    for column, extent in zip(columns, extents, strict=True):
        if extent.is_constant and not -extent.constant <= column.min() <= column.max() < extent.constant:
            raise site.refusal("an index is outside the dimension that it counts", place, witness=(
                f"{column.min()} to {column.max()} of {extent} elements"),
                               hint=f"give indices from {-extent.constant} to {extent.constant - 1}")


def _gather_types(site: Site) -> tuple[TensorType, ...]:
    own, index = site.type(), _indices(site, 1)
    axis = site.axis(site.attribute("axis", 0))
    _check_known(site, 1, own.shape[axis:axis + 1])
    return (own.with_shape((*own.shape[:axis], *index.shape, *own.shape[axis + 1:])),)


def _gather_moves(site: Site) -> Moves:
    own, index, axis = site.type(), site.type(1), site.axis(site.attribute("axis", 0))
    known = site.known[1]
    if known is not None and known.dtype != object and known.size == 1 and own.shape[axis].is_constant:
        place = Place.of(int(known.ravel()[0]) % max(int(own.shape[axis]), 1))
    else:
        place = Place.read(1, whole(index.rank, axis))
    source = [*whole(axis), place, *whole(own.rank - axis - 1, axis + index.rank)]
    return ((gathered(0, site.output.shape, source),),)


def _np_gather(site: Site, x: np.ndarray, index: np.ndarray) -> Any:
    return np.take(x, index.astype(np.int64), axis=site.attribute("axis", 0))


def _elements_types(site: Site) -> tuple[TensorType, ...]:
    own, index = site.type(), _indices(site, 1)
    axis = site.axis(site.attribute("axis", 0))
    if own.rank != index.rank or any(
            a.is_constant and b.is_constant and int(a) > int(b)
            for d, (a, b) in enumerate(zip(index.shape, own.shape, strict=True)) if d != axis):
        raise site.refusal("the indices do not fit the data", (0, 1), witness=f"{own} and {index}",
                           hint="both have the same number of dimensions, and indices are no longer than the data "
                                "beside the axis")
    _check_known(site, 1, own.shape[axis:axis + 1])
    return (own.with_shape(index.shape),)


def _elements_moves(site: Site) -> Moves:
    axis, rank = site.axis(site.attribute("axis", 0)), site.type().rank
    source = [Place.read(1, whole(rank)) if d == axis else p for d, p in enumerate(whole(rank))]
    return ((gathered(0, site.output.shape, source),),)


def _room_of_elements(site: Site) -> tuple[Size, ...]:
    """How far the data reach beyond the indices, in the other dimensions."""
    own, index = site.type(), site.type(1)
    axis = site.axis(site.attribute("axis", 0))
    return tuple(b - a for d, (a, b) in enumerate(zip(index.shape, own.shape, strict=True)) if d != axis)


def _np_elements(site: Site, x: np.ndarray, index: np.ndarray) -> Any:
    axis = site.attribute("axis", 0) % x.ndim
    places: list[Any] = list(np.indices(index.shape))
    places[axis] = np.where(index < 0, index + x.shape[axis], index).astype(np.int64)
    return x[tuple(places)]


def _gather_nd_types(site: Site) -> tuple[TensorType, ...]:
    own, index, batch = site.type(), _indices(site, 1), site.attribute("batch_dims", 0)
    depth = int(index.shape[-1]) if index.rank else 0
    if index.rank == 0 or batch + depth > own.rank or batch >= index.rank or depth < 1:
        raise site.refusal("the indices do not fit the data", (0, 1),
                           witness=f"{own} and {index}, {batch} dimensions of batch",
                           hint="the last extent of the indices is the number of dimensions that they count, at "
                                "most those behind the batch")
    if own.shape[:batch] != index.shape[:batch]:
        raise site.refusal("the dimensions of the batch differ", (0, 1), witness=f"{own} and {index}",
                           hint="the first batch_dims extents of both are equal")
    _check_known(site, 1, own.shape[batch:batch + depth])
    return (own.with_shape((*index.shape[:-1], *own.shape[batch + depth:])),)


def _nd_places(site: Site, own: TensorType, batch: int) -> list[Place]:
    """The subscripts of the data by a tuple of indices: loops are those of the indices, then the rest."""
    index = site.type(1)
    depth = int(index.shape[-1])
    tuples = [Place.read(1, (*whole(index.rank - 1), Place.of(d))) for d in range(depth)]
    return [*whole(batch), *tuples, *whole(own.rank - batch - depth, index.rank - 1)]


def _gather_nd_moves(site: Site) -> Moves:
    return ((gathered(0, site.output.shape, _nd_places(site, site.type(), site.attribute("batch_dims", 0))),),)


def _np_gather_nd(site: Site, x: np.ndarray, index: np.ndarray) -> np.ndarray:
    batch, depth = site.attribute("batch_dims", 0), index.shape[-1]
    outer = np.indices(index.shape[:-1])[:batch]
    inner = [np.where(index[..., d] < 0, index[..., d] + x.shape[batch + d], index[..., d]) for d in range(depth)]
    return np.asarray(x[(*outer, *inner)])


def _combination(site: Site) -> str:
    name = site.attribute("reduction", "none")
    if name != "none" and name not in COMBINED:
        raise site.refusal(f"a scatter with the reduction {name}", "reduction",
                           hint=f"give none, {', '.join(COMBINED)}")
    return "" if name == "none" else str(name)


def _scatter_types(site: Site) -> tuple[TensorType, ...]:
    own, index, updates = site.type(), _indices(site, 1), site.type(2)
    one_type(site, (0, 2))
    axis = site.axis(site.attribute("axis", 0))
    if _combination(site) and own.dtype == BOOL:
        raise site.refusal("truth values are not reduced", 0, hint=Remedy.CONVERT)
    _check_known(site, 1, own.shape[axis:axis + 1])
    if index.shape != updates.shape or index.rank != own.rank:
        raise site.refusal("indices and updates do not fit the data", (1, 2), witness=f"{own}, {index} and {updates}",
                           hint="indices and updates have one shape, of as many dimensions as the data")
    return (own,)


def _scatter_moves(site: Site) -> Moves:
    axis, rank = site.axis(site.attribute("axis", 0)), site.type().rank
    target = tuple(Place.read(1, whole(rank)) if d == axis else p for d, p in enumerate(whole(rank)))
    return ((gathered(0, site.output.shape, whole(rank)),
             Move(2, site.type(1).shape, whole(rank), target, _combination(site))),)


def _np_scatter(site: Site, x: np.ndarray, index: np.ndarray, updates: np.ndarray) -> Any:
    result, axis = x.copy(), site.attribute("axis", 0) % x.ndim
    places: list[Any] = list(np.indices(index.shape))
    places[axis] = np.where(index < 0, index + x.shape[axis], index).astype(np.int64)
    name = _combination(site)
    if name:
        COMBINED[name].at(result, tuple(places), updates)
    else:
        result[tuple(places)] = updates
    return result


def _scatter_nd_types(site: Site) -> tuple[TensorType, ...]:
    own, index, updates = site.type(), _indices(site, 1), site.type(2)
    one_type(site, (0, 2))
    if _combination(site) and own.dtype == BOOL:
        raise site.refusal("truth values are not reduced", 0, hint=Remedy.CONVERT)
    depth = int(index.shape[-1]) if index.rank else 0
    if not 1 <= depth <= own.rank or updates.shape != (*index.shape[:-1], *own.shape[depth:]):
        raise site.refusal("indices and updates do not fit the data", (1, 2), witness=f"{own}, {index} and {updates}",
                           hint="updates have the indices' shape without its last extent, and the data's behind the "
                                "dimensions that these count")
    _check_known(site, 1, own.shape[:depth])
    return (own,)


def _scatter_nd_moves(site: Site) -> Moves:
    own, updates = site.type(), site.type(2)
    return ((gathered(0, own.shape, whole(own.rank)),
             Move(2, updates.shape, whole(updates.rank), tuple(_nd_places(site, own, 0)), _combination(site))),)


def _np_scatter_nd(site: Site, x: np.ndarray, index: np.ndarray, updates: np.ndarray) -> np.ndarray:
    result, name = x.copy(), _combination(site)
    for place in np.ndindex(index.shape[:-1]):
        target = tuple(int(i) for i in index[place])
        result[target] = COMBINED[name](result[target], updates[place]) if name else updates[place]
    return result


GATHERS = (
    Operator(name="Gather", kind=Kind.INJECTIVE, types=_gather_types, reference=_np_gather, moves=_gather_moves),
    Operator(name="GatherElements", kind=Kind.INJECTIVE, types=_elements_types, reference=_np_elements,
             moves=_elements_moves, room=_room_of_elements),
    Operator(name="GatherND", kind=Kind.INJECTIVE, types=_gather_nd_types, reference=_np_gather_nd,
             moves=_gather_nd_moves),
    Operator(name="ScatterElements", kind=Kind.OPAQUE, types=_scatter_types, reference=_np_scatter,
             moves=_scatter_moves),
    Operator(name="ScatterND", kind=Kind.OPAQUE, types=_scatter_nd_types, reference=_np_scatter_nd,
             moves=_scatter_nd_moves))


def _one_hot_types(site: Site) -> tuple[TensorType, ...]:
    own, depth = site.type(), site.number(1)
    axis = site.axis(site.attribute("axis", -1), own.rank + 1)
    if site.type(2) != site.type(2).with_shape((2,)):
        raise site.refusal("two values are wanted, off and on", 2, witness=str(site.type(2)),
                           hint="give it two elements")
    return (TensorType.of(site.type(2).dtype, (*own.shape[:axis], depth, *own.shape[axis:])),)


def _one_hot(site: Site, build: Builder, index: str, depth: str, values: str) -> str:
    rank, count = site.type().rank + 1, site.number(1)
    axis = site.axis(site.attribute("axis", -1), rank)
    dtype = np.int64 if site.type().dtype.is_integer else site.type().numpy
    own = build.op("Cast", index, to=np.dtype(dtype).name)
    zero = build.constant(np.array(0, dtype))
    wrapped = build.op("Where", build.op("Less", own, zero),
                       build.op("Add", own, build.constant(np.array(count, dtype))), own)
    places = np.arange(count, dtype=dtype).reshape([count if d == axis else 1 for d in range(rank)])
    hit = build.op("Equal", build.op("Unsqueeze", wrapped, build.constant([axis])), build.constant(places))
    off, on = (build.op("Gather", values, build.constant(np.array(v, np.int64))) for v in (0, 1))
    return build.op("Where", hit, on, off)


def _np_one_hot(site: Site, index: np.ndarray, depth: np.ndarray, values: np.ndarray) -> Any:
    count, axis = int(depth.ravel()[0]), site.attribute("axis", -1)
    own = np.where(index < 0, index + count, index)
    hit = own[..., None] == np.arange(count)
    return np.moveaxis(np.where(hit, values[1], values[0]), -1, axis).astype(values.dtype)


def _triangle_types(site: Site) -> tuple[TensorType, ...]:
    if site.type().rank < 2:
        raise site.refusal("matrices are wanted", 0, witness=str(site.type()), hint="give it at least two dimensions")
    if site.has(1):
        site.number(1)
    return (site.type(),)


def _kept(site: Site, rows: int, columns: int) -> np.ndarray:
    """Which elements of a matrix are kept."""
    k = site.number(1) if site.has(1) else 0
    distance = np.subtract.outer(-np.arange(rows), -np.arange(columns))
    return distance >= k if site.attribute("upper", 1) else distance <= k


def _triangle(site: Site, build: Builder, x: str, *_: str) -> str:
    own = site.type()
    if all(e.is_constant for e in own.shape[-2:]):
        mask = build.constant(_kept(site, *(int(e) for e in own.shape[-2:])))
    else:
        rows, columns = (build.op("Subscripts", x, axis=own.rank - d) for d in (2, 1))
        least = build.constant(np.array(site.number(1) if site.has(1) else 0, np.int64))
        mask = build.op("GreaterOrEqual" if site.attribute("upper", 1) else "LessOrEqual",
                        build.op("Sub", columns, rows), least)
    return build.op("Where", mask, x, build.constant(np.zeros((), site.type().numpy)))


def _np_triangle(site: Site, x: np.ndarray, *_: Any) -> Any:
    return np.where(_kept(site, *x.shape[-2:]), x, np.zeros((), x.dtype))


PATTERNS = (
    Operator(name="OneHot", kind=Kind.BROADCAST, types=_one_hot_types, reference=_np_one_hot, composition=_one_hot,
             steering=(1,)),
    Operator(name="Trilu", kind=Kind.ELEMENTWISE, types=_triangle_types, reference=_np_triangle,
             composition=_triangle, steering=(1,)))

OPERATORS = (*GATHERS, *PATTERNS)
