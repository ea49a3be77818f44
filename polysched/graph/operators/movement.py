"""Operators that move elements and compute nothing: views of other shapes, and copies to affine places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.moves import Move, Place, gathered
from polysched.graph.operators.operator import Kind, Operator, Site, broadcast, one_type
from polysched.graph.values.element_types import ELEMENT_TYPES, NarrowType, array_type
from polysched.graph.values.refusals import Part
from polysched.graph.values.sizes import Size, product
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL

Moves = tuple[tuple[Move, ...], ...]


def view(name: str, types: Any, reference: Any, steering: tuple[int, ...] = ()) -> Operator:
    """An operator whose result is its first operand in another shape."""
    return Operator(name=name, kind=Kind.INJECTIVE, types=types, reference=reference, view=True, steering=steering)


def _same_shape(site: Site, x: np.ndarray, *_: Any) -> np.ndarray:
    """The reference of a view whose result has a shape that is known."""
    return x.reshape(site.outputs[0].extents)


def _asked_shape(site: Site) -> list[Size]:
    """The shape as it is asked for, with the extents that are taken over."""
    own, wanted = site.type(), list(site.sizes(1))
    if site.attribute("allowzero", 0):
        return wanted
    if any(e == 0 and d >= own.rank for d, e in enumerate(wanted)):
        raise site.refusal("an extent is taken over from a dimension that is not there", 1,
                           hint=f"write 0 for the first {own.rank} dimensions alone, or set allowzero")
    return [own.shape[d] if e == 0 else e for d, e in enumerate(wanted)]


def _reshape_types(site: Site) -> tuple[TensorType, ...]:
    own, wanted = site.type(), _asked_shape(site)
    free = [d for d, e in enumerate(wanted) if e == -1]
    if len(free) > 1 or any(e.is_constant and e.constant < -1 for e in wanted):
        raise site.refusal("a shape has at most one extent that is left open", 1, witness=str(wanted),
                           hint="write -1 once, and extents of at least 0")
    if free:
        wanted[free[0]] = _rest(site, own.shape, [e for d, e in enumerate(wanted) if d != free[0]])
    if not _same_elements(own.shape, wanted):
        raise site.refusal("the shape has another number of elements", 1, witness=f"{own} as {wanted}",
                           hint="give extents whose product is the number of elements, or -1 for one of them")
    return (own.with_shape(wanted),)


def _rest(site: Site, shape: tuple[Size, ...], others: list[Size]) -> Size:
    """The extent that is left when the others are divided out."""
    left, right = _without_common(shape, others)
    below = product(tuple(right))
    if below == 0:
        raise site.refusal("the open extent of an empty shape is not known", 1, hint="write the extent in place of -1")
    whole = product(tuple(left))
    rest = whole // below if below.is_constant else whole.over(below)
    if rest is None or rest * below != whole:
        raise site.refusal("the shape has another number of elements", 1, witness=f"{shape} and {others}",
                           hint="give extents whose product is the number of elements, or -1 for one of them")
    return rest


def _without_common(left: Any, right: Any) -> tuple[list[Size], list[Size]]:
    """Two products without the factors with symbols that both have."""
    mine, other = list(left), list(right)
    for size in list(mine):
        if not size.is_constant and size in other:
            mine.remove(size)
            other.remove(size)
    return mine, other


def _same_elements(left: Any, right: Any) -> bool:
    mine, other = _without_common(left, right)
    return product(tuple(mine)) == product(tuple(other))


def _np_reshape(site: Site, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    wanted = [int(e) for e in shape]
    if not site.attribute("allowzero", 0):
        wanted = [x.shape[d] if e == 0 else e for d, e in enumerate(wanted)]
    return x.reshape(wanted)


def _flatten_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    axis = site.attribute("axis", 1)
    axis = axis + own.rank if axis < 0 else axis
    if not 0 <= axis <= own.rank:
        raise site.refusal(f"axis {axis} of {own.rank} dimensions", "axis",
                           hint=f"give a number from {-own.rank} to {own.rank}")
    return (own.with_shape((product(own.shape[:axis]), product(own.shape[axis:]))),)


def _np_flatten(site: Site, x: np.ndarray) -> np.ndarray:
    axis = site.attribute("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _squeeze_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if not site.has(1) and not own.is_static:
        raise site.refusal("which dimensions are squeezed follows from an open size", 0, witness=str(own),
                           hint="fix the size by sizes=, or name the axes")
    axes = site.axes(site.numbers(1), about=1) if site.has(1) else tuple(d for d, e in enumerate(own.shape) if e == 1)
    if any(own.shape[a] != 1 for a in axes):
        raise site.refusal("a dimension whose extent is not 1 is squeezed", 1 if site.has(1) else 0,
                           witness=f"{own}, axes {axes}", hint="name dimensions of extent 1, or use Reshape")
    return (own.with_shape([e for d, e in enumerate(own.shape) if d not in axes]),)


def _np_squeeze(site: Site, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    return np.squeeze(x, axis=None if axes is None else tuple(int(a) for a in axes.ravel()))


def _unsqueeze_types(site: Site) -> tuple[TensorType, ...]:
    own, added = site.type(), site.numbers(1)
    rank = own.rank + len(added)
    axes = site.axes(added, rank, about=1)
    rest = iter(own.shape)
    return (own.with_shape([1 if d in axes else next(rest) for d in range(rank)]),)


def _np_unsqueeze(site: Site, x: np.ndarray, axes: np.ndarray) -> np.ndarray:
    return np.expand_dims(x, tuple(int(a) for a in axes.ravel()))


def _identity_types(site: Site) -> tuple[TensorType, ...]:
    return (site.type(),)


def _bitcast_types(site: Site) -> tuple[TensorType, ...]:
    name, own = site.attribute("to"), site.type()
    to = ELEMENT_TYPES.get(name)
    if to is None or to.bytes != own.dtype.bytes or to == BOOL != own.dtype or any(
            isinstance(t, NarrowType) and t.width < t.bits for t in (own.dtype, to)):
        raise site.refusal(f"the bits of {own.dtype} as {name}", "to",
                           hint=f"give a type of {own.dtype.bytes} bytes, or convert values by Cast")
    return (own.with_dtype(to),)


def _aligned_types(site: Site) -> tuple[TensorType, ...]:
    own, other = site.type(0), site.type(1)
    behind = other.rank - site.axis(site.attribute("axis", 0), other.rank) - own.rank
    if behind < 0:
        raise site.refusal("the operand does not fit behind the axis", 1, witness=f"{own} and {other}")
    return (own.with_shape((*own.shape, *(1,) * behind)),)


VIEWS = (
    view("AlignedAt", _aligned_types, lambda site, x, like: x.reshape(
        x.shape + (1,) * (like.ndim - site.attribute("axis", 0) % like.ndim - x.ndim))),
    view("BitCast", _bitcast_types, lambda site, x: x.view(array_type(ELEMENT_TYPES[site.attribute("to")]))),
    view("Identity", _identity_types, lambda site, x: x),
    view("Reshape", _reshape_types, _np_reshape, steering=(1,)),
    view("Flatten", _flatten_types, _np_flatten),
    view("Squeeze", _squeeze_types, _np_squeeze, steering=(1,)),
    view("Unsqueeze", _unsqueeze_types, _np_unsqueeze, steering=(1,)))


def _permutation(site: Site) -> tuple[int, ...]:
    rank = site.type().rank
    order = site.axes(site.attribute("perm", tuple(reversed(range(rank)))), about="perm")
    if len(order) != rank:
        raise site.refusal("a permutation names every dimension once", "perm", witness=str(order),
                           hint=f"give a permutation of 0 to {rank - 1}")
    return order


def _transpose_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    return (own.with_shape([own.shape[d] for d in _permutation(site)]),)


def _transpose_moves(site: Site) -> Moves:
    order = _permutation(site)
    places = [Place.of(0, (order.index(d), 1)) for d in range(len(order))]
    return ((gathered(0, site.output.shape, places),),)


def _np_transpose(site: Site, x: np.ndarray) -> np.ndarray:
    return np.transpose(x, site.attribute("perm", None))


def _expand_types(site: Site) -> tuple[TensorType, ...]:
    own, wanted = site.type(), site.sizes(1)
    return (own.with_shape(broadcast(site, [own, own.with_shape(wanted)])),)


def _expand_moves(site: Site) -> Moves:
    own, result = site.type(), site.output
    lead = result.rank - own.rank
    places = [Place.of(0) if e == 1 else Place.of(0, (lead + d, 1)) for d, e in enumerate(own.shape)]
    return ((gathered(0, result.shape, places),),)


def _np_expand(site: Site, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    wanted = tuple(int(e) for e in shape)
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, wanted)).copy()


def _concat_types(site: Site) -> tuple[TensorType, ...]:
    own, axis = site.type(), site.axis(site.required("axis"))
    dtype, total = one_type(site, range(len(site.inputs))), Size()
    for place in range(len(site.inputs)):
        other = site.type(place)
        if other.rank != own.rank or any(a != b for d, (a, b) in enumerate(zip(other.shape, own.shape, strict=True))
                                         if d != axis):
            raise site.refusal("the operands differ beside the axis", (0, place),
                               witness=f"{own} and {other}, axis {axis}",
                               hint="Reshape, Pad or Slice them: all extents but that of the axis are equal")
        total = total + other.shape[axis]
    return (TensorType(dtype, tuple(total if d == axis else e for d, e in enumerate(own.shape))),)


def _concat_moves(site: Site) -> Moves:
    axis, start, moves = site.axis(site.attribute("axis")), Size(), []
    for place in range(len(site.inputs)):
        own = site.type(place)
        whole = [Place.of(0, (d, 1)) for d in range(own.rank)]
        target = [Place.of(start, (d, 1)) if d == axis else p for d, p in enumerate(whole)]
        moves.append(Move(place, own.shape, tuple(whole), tuple(target)))
        start = start + own.shape[axis]
    return (tuple(moves),)


def _parts(site: Site) -> list[Size]:
    """The extents of the parts of a split."""
    axis = site.axis(site.attribute("axis", 0))
    extent, count = site.type().shape[axis], len(site.node.outputs)
    if site.has(1):
        parts = list(site.sizes(1))
        if len(parts) != count or sum(parts, Size()) != extent or any(p.is_constant and p.constant < 0 for p in parts):
            raise site.refusal("the parts do not make up the extent", 1, witness=f"{parts} of {extent}",
                               hint=f"give {count} numbers of at least 0 whose sum is {extent}")
        return parts
    if site.attribute("num_outputs", count) != count:
        raise site.refusal("as many results as num_outputs are wanted", "num_outputs",
                           witness=f"{count} results, num_outputs={site.attribute('num_outputs')}",
                           hint=f"leave it out, or give {count}")
    if not count:
        raise site.refusal("no part is wanted", Part.RESULTS, hint="bind at least one result")
    each = extent.divided_up(count)
    last = extent - each * (count - 1)
    if last.is_constant and last.constant < 0:
        raise site.refusal(f"{count} parts of {extent}", Part.RESULTS,
                           hint="split a longer dimension, or into fewer parts")
    return [each] * (count - 1) + [last]


def _split_types(site: Site) -> tuple[TensorType, ...]:
    own, axis = site.type(), site.axis(site.attribute("axis", 0))
    return tuple(own.with_shape([p if d == axis else e for d, e in enumerate(own.shape)]) for p in _parts(site))


def _split_moves(site: Site) -> Moves:
    axis, start, results = site.axis(site.attribute("axis", 0)), Size(), []
    for result in site.outputs:
        places = [Place.of(start if d == axis else 0, (d, 1)) for d in range(result.rank)]
        results.append((gathered(0, result.shape, places),))
        start = start + result.shape[axis]
    return tuple(results)


def _np_split(site: Site, x: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    axis, count = site.attribute("axis", 0), len(site.node.outputs)
    each = -(-x.shape[axis] // count)
    lengths = [each] * (count - 1) if parts is None else [int(p) for p in parts][:-1]
    return tuple(np.split(x, np.cumsum(lengths, dtype=int), axis=axis))


def slice_ranges(site: Site) -> dict[int, tuple[Size, Size, int]]:
    """First place, extent and step per axis that is sliced."""
    own = site.type()
    return {axis: _range(own.shape[axis], *bounds) for axis, bounds in _bounds(site).items()}


def _bounds(site: Site) -> dict[int, tuple[Size, Size, int]]:
    """Start, end and step per axis that is sliced."""
    starts, ends = site.sizes(1), site.sizes(2)
    axes = site.axes(site.numbers(3), about=3) if site.has(3) else tuple(range(len(starts)))
    steps = site.numbers(4) if site.has(4) else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise site.refusal("starts, ends, axes and steps do not fit together", (1, 2),
                           hint="give as many starts as ends, axes and steps, and no step of 0")
    return {axis: (start, end, step) for axis, start, end, step in zip(axes, starts, ends, steps, strict=True)}


def _range(extent: Size, start: Size, end: Size, step: int) -> tuple[Size, Size, int]:
    if extent.is_constant and start.is_constant and end.is_constant:
        own = range(*_python_slice(int(start), int(end), step, int(extent)).indices(int(extent)))
        return Size(own.start), Size(len(own)), step
    first, last = _ends(extent, start, end, step)
    return first, (last - first if step > 0 else first - last).divided_up(abs(step)), step


def _python_slice(start: int, end: int, step: int, extent: int) -> slice:
    """The slice as Python has it.

    In negative steps ONNX takes a start that is too far in front for the first place, and such an end for the one
    before; Python takes nothing from the one, and counts the other from the end.
    """
    if step > 0:
        return slice(start, end, step)
    return slice(max(start, -extent), None if end < -extent else end, step)


def _ends(extent: Size, start: Size, end: Size, step: int) -> tuple[Size, Size]:
    """The first place of a slice of a symbolic extent, and the one that is not reached."""
    first, last = _clamped(start, extent), _clamped(end, extent)
    if step > 0:
        return first, last
    first = extent - 1 if first == extent else first
    return first, Size(-1) if _means_the_front(end) else last


def _clamped(place: Size, extent: Size) -> Size:
    """A start or an end of a slice of a symbolic extent: from the front, from the end, or the end itself.

    Where that depends on the size, the place is taken to be inside; `_room_of_slice` has it tested when the model runs.
    """
    beyond = place - extent
    if _means_the_end(place) or (beyond.is_constant and beyond.constant > 0):
        return extent
    if _means_the_front(place):
        return Size()
    if place.constant <= 0 and place != 0 and all(factor < 0 for _, factor in place.terms):
        return extent + place
    return place


def _means_the_front(place: Size) -> bool:
    """Whether a number is further in front than an open extent is taken to be long."""
    return place.is_constant and -place.constant >= LIMITS.largest_open_extent


def _means_the_end(place: Size) -> bool:
    """Whether a number is larger than an open extent is taken to be."""
    return place.is_constant and place.constant >= LIMITS.largest_open_extent


def _room_of_slice(site: Site) -> tuple[Size, ...]:
    """That the slices of symbolic extents begin and end inside, as they were taken to."""
    own, found = site.type(), []
    for axis, (start, end, step) in _bounds(site).items():
        extent = own.shape[axis]
        if not (extent.is_constant and start.is_constant and end.is_constant):
            first, last = _ends(extent, start, end, step)
            found += ([first, extent - last, last - first] if step > 0 else
                      [first, extent - 1 - first, last + 1, first - last])
    beyond = [min(abs(p.constant), LIMITS.most_extent) for p in (*site.sizes(1), *site.sizes(2))
              if _means_the_end(p) or _means_the_front(p)]
    return (*found, *(p - e for p in beyond for e in own.shape if not e.is_constant))


def _slice_types(site: Site) -> tuple[TensorType, ...]:
    own, ranges = site.type(), slice_ranges(site)
    return (own.with_shape([ranges[d][1] if d in ranges else e for d, e in enumerate(own.shape)]),)


def _slice_moves(site: Site) -> Moves:
    ranges = slice_ranges(site)
    places = [Place.of(ranges[d][0], (d, ranges[d][2])) if d in ranges else Place.of(0, (d, 1))
              for d in range(site.type().rank)]
    return ((gathered(0, site.output.shape, places),),)


def _np_slice(site: Site, x: np.ndarray, starts: np.ndarray, ends: np.ndarray, axes: np.ndarray | None = None,
              steps: np.ndarray | None = None) -> np.ndarray:
    chosen = [slice(None)] * x.ndim
    for place in range(len(starts)):
        axis = place if axes is None else int(axes[place])
        step = 1 if steps is None else int(steps[place])
        chosen[axis] = _python_slice(int(starts[place]), int(ends[place]), step, x.shape[axis])
    return x[tuple(chosen)]


def _tile_types(site: Site) -> tuple[TensorType, ...]:
    own, repeats = site.type(), site.sizes(1)
    if len(repeats) != own.rank or any(r.is_constant and r.constant < 0 for r in repeats):
        raise site.refusal("a number of repetitions per dimension is wanted", 1, witness=str(repeats),
                           hint=f"give {own.rank} numbers of at least 0")
    return (own.with_shape([e * r for e, r in zip(own.shape, repeats, strict=True)]),)


def _tile_moves(site: Site) -> Moves:
    own, repeats, rank = site.type(), site.sizes(1), site.type().rank
    target = tuple(Place.of(0, (d, own.shape[d]), (rank + d, 1)) for d in range(rank))
    source = tuple(Place.of(0, (rank + d, 1)) for d in range(rank))
    return ((Move(0, (*repeats, *own.shape), source, target),),)


MOVES = (
    Operator(name="Transpose", kind=Kind.INJECTIVE, types=_transpose_types, reference=_np_transpose,
             moves=_transpose_moves),
    Operator(name="Expand", kind=Kind.BROADCAST, types=_expand_types, reference=_np_expand, moves=_expand_moves,
             steering=(1,)),
    Operator(name="Concat", kind=Kind.INJECTIVE, types=_concat_types, moves=_concat_moves,
             reference=lambda site, *x: np.concatenate(x, axis=site.attribute("axis"))),
    Operator(name="Split", kind=Kind.INJECTIVE, types=_split_types, reference=_np_split, moves=_split_moves,
             steering=(1,)),
    Operator(name="Slice", kind=Kind.INJECTIVE, types=_slice_types, reference=_np_slice, moves=_slice_moves,
             room=_room_of_slice, steering=(1, 2, 3, 4)),
    Operator(name="Tile", kind=Kind.INJECTIVE, types=_tile_types, moves=_tile_moves, steering=(1,),
             reference=lambda site, x, repeats: np.tile(x, tuple(int(r) for r in repeats))))

OPERATORS = (*VIEWS, *MOVES)
