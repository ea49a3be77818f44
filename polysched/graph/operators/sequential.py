"""Operators along one axis where each step needs the one before: running sums and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, Steps
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL
from polysched.scop.expression import Expression, Tensor, axis, loop, placeholder, update, where
from polysched.scop.expression.tensors import Constant, Convert


def _types(site: Site) -> tuple[TensorType, ...]:
    if site.type().dtype == BOOL:
        raise site.refusal("truth values have no running result")
    site.axis(_axis(site))
    return (site.type(),)


def _axis(site: Site) -> int:
    return site.number(1)


def _running(neutral: int, combine: Callable[[Expression, Expression], Expression]) -> Callable[..., Steps]:
    """A stage that walks along the axis, forwards or backwards, with the element itself or without it."""
    def expression(site: Site, x: Tensor, *_: Tensor | None) -> Steps:
        own, place = site.type(), site.axis(_axis(site))
        exclusive, backwards = bool(site.attribute("exclusive", 0)), bool(site.attribute("reverse", 0))
        y = placeholder("y0", [extent_of(e) for e in own.shape], own.dtype)
        loops = [axis(f"i{d}", extent_of(e)) for d, e in enumerate(own.shape)]
        extent = extent_of(own.shape[place])

        def at(tensor: Tensor, index: Expression) -> Any:
            along = extent - 1 - index if backwards else index
            return tensor[tuple(along if d == place else i for d, i in enumerate(loops))]
        i = loops[place]
        first = Convert(Constant(neutral), own.dtype) if exclusive else at(x, i)
        step = combine(at(y, i - 1), at(x, i - 1 if exclusive else i))
        made: Any = update(at(y, i), where(i < 1, first, step))
        for own_loop in reversed(loops):
            made = loop(own_loop, made)
        return Steps(results=(y,), steps=(made,))
    return expression


def _np_running(neutral: int, accumulate: Callable[..., Any]) -> Callable[..., np.ndarray]:
    def computed(site: Site, x: np.ndarray, _: np.ndarray) -> np.ndarray:
        place = _axis(site)
        own = np.flip(x, place) if site.attribute("reverse", 0) else x
        wide = own.astype(np.float64) if x.dtype.kind == "f" else own
        result = accumulate(wide, axis=place, dtype=wide.dtype)
        if site.attribute("exclusive", 0):
            result = np.roll(result, 1, place)
            result[(slice(None),) * (place % x.ndim) + (slice(0, 1),)] = neutral
        return np.asarray(np.flip(result, place) if site.attribute("reverse", 0) else result).astype(x.dtype)
    return computed


OPERATORS = (
    Operator(name="CumSum", kind=Kind.OPAQUE, types=_types, reference=_np_running(0, np.cumsum), steering=(1,),
             expression=_running(0, lambda a, b: a + b)),
    Operator(name="CumProd", kind=Kind.OPAQUE, types=_types, reference=_np_running(1, np.cumprod), steering=(1,),
             expression=_running(1, lambda a, b: a * b)))
