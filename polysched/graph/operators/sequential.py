"""Operators along one axis where each step needs the one before: running sums and products, linear recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site, Steps
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL
from polysched.scop.expression import Expression, Tensor, axis, loop, placeholder, update, where
from polysched.scop.expression.tensors import Constant, Convert


def _types(site: Site) -> tuple[TensorType, ...]:
    if site.type().dtype == BOOL:
        raise site.refusal("truth values have no running result", 0, hint=Remedy.CONVERT)
    site.axis(_axis(site), about=len(site.inputs) - 1)
    return (site.type(),)


def _axis(site: Site) -> int:
    return site.number(len(site.inputs) - 1)


At: TypeAlias = Callable[[Tensor, Expression], Any]
"""The element of a tensor at a step along the axis."""


def _walked(site: Site, first: Callable[[At, Expression], Expression],
            step: Callable[[At, Expression, Expression], Expression]) -> Steps:
    """A stage that walks along the axis, forwards or backwards.

    Parameters
    ----------
    first : what the first step makes.
    step : what a further step makes, from the result of the one before.
    """
    own, place, backwards = site.type(), site.axis(_axis(site)), bool(site.attribute("reverse", 0))
    y = placeholder("y0", [extent_of(e) for e in own.shape], own.dtype)
    loops = [axis(f"i{d}", extent_of(e)) for d, e in enumerate(own.shape)]
    extent = extent_of(own.shape[place])

    def at(tensor: Tensor, index: Expression) -> Any:
        along = extent - 1 - index if backwards else index
        return tensor[tuple(along if d == place else i for d, i in enumerate(loops))]
    i = loops[place]
    made: Any = update(at(y, i), where(i < 1, first(at, i), step(at, at(y, i - 1), i)))
    for own_loop in reversed(loops):
        made = loop(own_loop, made)
    return Steps(results=(y,), steps=(made,))


def _running(neutral: int, combine: Callable[[Expression, Expression], Expression]) -> Callable[..., Steps]:
    """All elements so far in one, with the element itself or without it."""
    def expression(site: Site, x: Tensor, *_: Tensor | None) -> Steps:
        if site.attribute("exclusive", 0):
            return _walked(site, lambda at, i: Convert(Constant(neutral), site.type().dtype),
                           lambda at, before, i: combine(before, at(x, i - 1)))
        return _walked(site, lambda at, i: at(x, i), lambda at, before, i: combine(before, at(x, i)))
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


def _recurrence_types(site: Site) -> tuple[TensorType, ...]:
    if not site.type().dtype.is_float or site.type(1) != site.type():
        raise site.refusal("two operands of one floating type are wanted", (0, 1),
                           witness=f"{site.type()} and {site.type(1)}")
    return _types(site)


def _recurrence(site: Site, a: Tensor, b: Tensor, *_: Tensor | None) -> Steps:
    """`y[i] = a[i] y[i - 1] + b[i]`, of which the first is `b[0]`; exclusive, `y[i - 1]` is the result of step `i`."""
    if not site.attribute("exclusive", 0):
        return _walked(site, lambda at, i: at(b, i), lambda at, before, i: at(a, i) * before + at(b, i))
    return _walked(site, lambda at, i: Convert(Constant(0), site.type().dtype), lambda at, before, i: where(
        i < 2, at(b, i - 1), at(a, i - 1) * before + at(b, i - 1)))


def _np_recurrence(site: Site, a: np.ndarray, b: np.ndarray, _: np.ndarray) -> np.ndarray:
    place, backwards = _axis(site), bool(site.attribute("reverse", 0))
    factors, terms = (np.moveaxis(np.flip(v, place) if backwards else v, place, 0).astype(np.float64) for v in (a, b))
    made = terms.copy()
    with np.errstate(all="ignore"):
        for i in range(1, len(made)):
            made[i] += factors[i] * made[i - 1]
    if site.attribute("exclusive", 0):
        made = np.concatenate([np.zeros_like(made[:1]), made[:-1]])
    result = np.moveaxis(made, 0, place)
    return (np.flip(result, place) if backwards else result).astype(b.dtype)


OPERATORS = (
    Operator(name="CumSum", kind=Kind.OPAQUE, types=_types, reference=_np_running(0, np.cumsum), steering=(1,),
             expression=_running(0, lambda a, b: a + b)),
    Operator(name="CumProd", kind=Kind.OPAQUE, types=_types, reference=_np_running(1, np.cumprod), steering=(1,),
             expression=_running(1, lambda a, b: a * b)),
    Operator(name="Recurrence", kind=Kind.OPAQUE, types=_recurrence_types, reference=_np_recurrence, steering=(2,),
             expression=_recurrence))
