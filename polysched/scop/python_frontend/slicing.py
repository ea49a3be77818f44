"""NumPy's basic indexing on views: integers, slices, `None` and `...`, with NumPy's clipping and negative indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from polysched.records import dataclass
from polysched.scop.construction import functions, values
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.python_frontend.operands import ONE, ZERO, Subscript, View

NOT_AFFINE = "only sums of loop indices and sizes times constants, // and % by constants, are affine"


@dataclass(frozen=True, eq=False)
class Slice:
    """`lower:upper:step`."""

    lower: Value | None
    upper: Value | None
    step: int = 1


class NewAxis:
    """`None` in an index."""


class Dots:
    """`...` in an index."""


Item: TypeAlias = Value | Slice | NewAxis | Dots


def indexed(region: Region, view: View, items: Sequence[Item]) -> View:
    """The part of a view that an index selects.

    Raises
    ------
    CannotExpress : too many indices, or one that is not affine.
    """
    rank = len(view.shape)
    taken = sum(isinstance(i, (Value, Slice)) for i in items)
    if taken > rank:
        raise CannotExpress(f"too many indices: {view.array} has {rank} dimensions here, {taken} are indexed")
    if sum(isinstance(i, Dots) for i in items) > 1:
        raise CannotExpress("an index has `...` at most once")
    full: list[Item] = []
    missing: list[Item] = [Slice(None, None)] * (rank - taken)
    for item in items:
        full += missing if isinstance(item, Dots) else [item]
    if not any(isinstance(i, Dots) for i in items):
        full += missing
    return _applied(region, view, full)


def _applied(region: Region, view: View, items: Sequence[Item]) -> View:
    """A full index: one integer or slice per dimension of the view, and new axes between."""
    subscripts = list(view.subscripts)
    shape: list[Value] = []
    old = 0
    for item in items:
        if isinstance(item, NewAxis):
            shape.append(ONE)
            continue
        assert isinstance(item, (Value, Slice))
        extent = view.shape[old]
        place = next((p for p, s in enumerate(view.subscripts) if s.dimension == old), None)
        if isinstance(item, Value):
            start = normal_index(region, item, extent)
            if place is not None:
                subscripts[place] = _composed(region, view.subscripts[place], start, 1, None)
        else:
            start, length = slice_bounds(region, item, extent)
            if place is not None:
                subscripts[place] = _composed(region, view.subscripts[place], start, item.step, len(shape))
            shape.append(length)
        old += 1
    return replace(view, subscripts=tuple(subscripts), shape=tuple(shape))


def _composed(region: Region, outer: Subscript, start: Value, step: int, dimension: int | None) -> Subscript:
    first = values.arithmetic("+", outer.start, values.arithmetic("*", values.number(outer.step), start))
    return Subscript(first if first.affine is None else region.simplified(first), outer.step * step, dimension)


def normal_index(region: Region, index: Value, extent: Value) -> Value:
    """An index with NumPy's meaning of negative ones: counted from the end.

    One that depends on data stays as it is: that it lies inside the array is checked at every call.
    """
    if not index.dtype.is_integer:
        raise CannotExpress("the index is not an integer", NOT_AFFINE)
    if index.affine is None:
        return index
    negative = values.compare("<", index, ZERO)
    from_end = values.arithmetic("+", index, extent)
    assert negative.condition is not None
    if region.holds(negative.condition.complement()):
        return index
    if region.holds(negative.condition):
        return region.simplified(from_end)
    return values.select(negative, from_end, index)


def slice_bounds(region: Region, item: Slice, extent: Value) -> tuple[Value, Value]:
    """First element and number of elements of a slice, clipped as Python clips it.

    Source: the Python language reference, "Standard type hierarchy", slice objects; CPython's PySlice_AdjustIndices.
    """
    if item.step > 0:
        least, most = ZERO, extent
        first, last = least, most
    else:
        least = values.number(-1)
        most = values.arithmetic("-", extent, ONE)
        first, last = most, least
    start = first if item.lower is None else _clipped(region, item.lower, extent, least, most)
    stop = last if item.upper is None else _clipped(region, item.upper, extent, least, most)
    span = values.arithmetic("-", stop, start) if item.step > 0 else values.arithmetic("-", start, stop)
    step = abs(item.step)
    if step != 1:
        span = functions.floor_divide(values.arithmetic("+", span, values.number(step - 1)), values.number(step))
    return region.simplified(start), region.simplified(_at_least(region, span, ZERO))


def _clipped(region: Region, bound: Value, extent: Value, least: Value, most: Value) -> Value:
    if bound.affine is None:
        raise CannotExpress("a bound of the slice is not affine", NOT_AFFINE)
    negative = values.compare("<", bound, ZERO)
    assert negative.condition is not None
    below = _at_least(region, values.arithmetic("+", bound, extent), least)
    above = _at_most(region, bound, most)
    if region.holds(negative.condition):
        return below
    if region.holds(negative.condition.complement()):
        return above
    return values.select(negative, below, above)


def _at_least(region: Region, value: Value, bound: Value) -> Value:
    known = values.compare(">=", value, bound).condition
    return value if known is not None and region.holds(known) else values.extremum("max", value, bound)


def _at_most(region: Region, value: Value, bound: Value) -> Value:
    known = values.compare("<=", value, bound).condition
    return value if known is not None and region.holds(known) else values.extremum("min", value, bound)
