"""Reductions over axes: sums, products, extrema, norms, positions of extrema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, DType
from polysched.scop.expression import Axis, Expression, Tensor, argmax, argmin, axis, compute
from polysched.scop.expression import max as largest
from polysched.scop.expression import min as smallest
from polysched.scop.expression import prod as product_of
from polysched.scop.expression import sum as sum_of
from polysched.scop.expression.tensors import Convert


def reduced_axes(site: Site) -> tuple[int, ...]:
    """The axes that are reduced: those given, or all; none where an empty list is to mean none."""
    rank = site.type().rank
    given = site.numbers(1) if site.has(1) else ()
    if not given:
        return () if site.attribute("noop_with_empty_axes", 0) else tuple(range(rank))
    return site.axes(given, about=1)


def _types(site: Site) -> tuple[TensorType, ...]:
    own, axes = site.type(), reduced_axes(site)
    return (own.with_shape(_kept_shape(own, axes, bool(site.attribute("keepdims", 1)))),)


def _kept_shape(own: TensorType, axes: Sequence[int], keep: bool) -> list[Any]:
    return [1 if d in axes else e for d, e in enumerate(own.shape) if keep or d not in axes]


def over_axes(own: TensorType, x: Tensor, axes: Sequence[int], keep: bool,
              reduce: Callable[[Expression, tuple[Axis, ...]], Expression], dtype: DType, name: str) -> Tensor:
    """A stage that reduces some dimensions of a tensor."""
    inner = {d: axis(f"r{d}", extent_of(own.shape[d])) for d in axes}
    shape = [extent_of(e) for e in TensorType.of(dtype, _kept_shape(own, axes, keep)).shape]

    def element(*i: Expression) -> Expression:
        outer = iter(i if not keep else [v for d, v in enumerate(i) if d not in inner])
        value = x[tuple(inner[d] if d in inner else next(outer) for d in range(own.rank))]
        return reduce(value, tuple(inner.values())) if inner else value
    return compute(shape, element, name=name, dtype=dtype)


def _np_axes(site: Site, axes: np.ndarray | None) -> tuple[int, ...] | None:
    if axes is None or not axes.size:
        return () if site.attribute("noop_with_empty_axes", 0) else None
    return tuple(int(a) for a in axes.ravel())


WIDER = {FLOAT16: FLOAT32, FLOAT32: FLOAT64}
"""In which type sums and products are kept: their order is not that of others, so rounding must not show."""


def reduction(name: str, reduce: Callable[..., Expression], reference: Callable[..., Any], *,
              rounds: bool = True) -> Operator:
    """A reduction that one stage computes, in a wider type where every step rounds."""
    def expression(site: Site, x: Tensor, *_: Tensor) -> Tensor:
        own, axes, keep = site.type(), reduced_axes(site), bool(site.attribute("keepdims", 1))
        dtype = WIDER.get(own.dtype, own.dtype) if rounds and axes else own.dtype

        def reduced(value: Expression, over: tuple[Axis, ...]) -> Expression:
            return reduce(value if dtype == own.dtype else value.astype(dtype), over)
        total = over_axes(own, x, axes, keep, reduced, dtype, "y" if dtype == own.dtype else "wide")
        if dtype == own.dtype:
            return total
        return compute(total.shape, lambda *i: total[i].astype(own.dtype), name="y")

    def computed(site: Site, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
        with np.errstate(all="ignore"):
            wide = x.astype(np.float64) if x.dtype.kind == "f" else x
            return np.asarray(reference(wide, axis=_np_axes(site, axes),
                                        keepdims=bool(site.attribute("keepdims", 1)))).astype(x.dtype)

    return Operator(name=name, kind=Kind.REDUCTION, types=_types, reference=computed, expression=expression,
                    steering=(1,))


def composed(name: str, build: Callable[[Site, Builder, str, Callable[[str, str], str]], str],
             reference: Callable[..., Any]) -> Operator:
    """A reduction of other operators; `build` gets a function that reduces a value by an operator of a name."""
    def composition(site: Site, builder: Builder, x: str, *axes: str) -> str:
        def reduce(op: str, value: str) -> str:
            return builder.op(op, value, *axes, **dict(site.node.attributes))
        return build(site, builder, x, reduce)

    def computed(site: Site, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
        with np.errstate(all="ignore"):
            wide = x.astype(np.float64)
            return np.asarray(reference(wide, axis=_np_axes(site, axes),
                                        keepdims=bool(site.attribute("keepdims", 1)))).astype(x.dtype)

    return Operator(name=name, kind=Kind.REDUCTION, types=_types, reference=computed, composition=composition,
                    sums=True, steering=(1,))


def reduced_elements(site: Site) -> int:
    """The number of elements that each result takes in."""
    count = 1
    for a in reduced_axes(site):
        count *= int(site.type().shape[a])
    return count


def _mean(site: Site, build: Builder, x: str, reduce: Callable[[str, str], str]) -> str:
    if site.type().dtype.is_float and not all(site.type().shape[a].is_constant for a in reduced_axes(site)):
        return reduce("OpenMean", x)
    count = build.constant(np.array(reduced_elements(site), site.type().numpy))
    return build.op("Div", reduce("ReduceSum", x), count)


def _open_mean(site: Site, x: Tensor, *_: Tensor) -> Tensor:
    """The sum by a product of extents, some of which are known when it runs."""
    own, axes, keep = site.type(), reduced_axes(site), bool(site.attribute("keepdims", 1))
    dtype = WIDER.get(own.dtype, own.dtype)
    total = over_axes(own, x, axes, keep, lambda v, over: sum_of(v.astype(dtype), over=over), dtype, "wide")

    def element(*i: Expression) -> Expression:
        value: Expression = total[i]
        for a in axes:
            value = value / Convert(extent_of(own.shape[a]), dtype)
        return value.astype(own.dtype)
    return compute(total.shape, element, name="y")


def _np_open_mean(site: Site, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    with np.errstate(all="ignore"):
        total = np.sum(x, axis=_np_axes(site, axes), keepdims=bool(site.attribute("keepdims", 1)), dtype=np.float64)
        return np.asarray(total / (x.size / total.size if total.size else 1)).astype(x.dtype)


def _open_types(site: Site) -> tuple[TensorType, ...]:
    if not site.type().dtype.is_float:
        raise site.refusal(f"elements of {site.type().dtype}, floating are wanted", 0, hint=Remedy.CONVERT)
    return _types(site)


def _log_sum_exp(site: Site, build: Builder, x: str, reduce: Callable[[str, str], str]) -> str:
    if not site.type().dtype.is_float:
        raise site.refusal(f"elements of {site.type().dtype}, floating are wanted", 0, hint=Remedy.CONVERT)
    top = build.op("ReduceMax", x, *site.node.inputs[1:], **{**dict(site.node.attributes), "keepdims": 1})
    low, high = (build.constant(np.array(v, site.type().numpy)) for v in (
        np.finfo(site.type().numpy).min, np.finfo(site.type().numpy).max))
    top = build.op("Clip", top, low, high)
    total = reduce("ReduceSum", build.op("Exp", build.op("Sub", x, top)))
    back = top
    if not site.attribute("keepdims", 1):
        back = build.op("Squeeze", top, build.constant(list(reduced_axes(site))))
    return build.op("Add", build.op("Log", total), back)


def _np_log_sum_exp(x: np.ndarray, axis: Any, keepdims: bool) -> Any:
    if not x.size:
        return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))
    top = np.clip(np.max(x, axis=axis, keepdims=True), np.finfo(np.float64).min, np.finfo(np.float64).max)
    total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else total.reshape(np.sum(x, axis=axis).shape)


REDUCTIONS = (
    reduction("ReduceSum", lambda v, over: sum_of(v, over=over), np.sum),
    reduction("ReduceProd", lambda v, over: product_of(v, over=over), np.prod),
    reduction("ReduceMax", lambda v, over: largest(v, over=over, propagate_nan=True), lambda x, axis, keepdims: np.max(
        x, axis=axis, keepdims=keepdims, initial=_least(x.dtype)), rounds=False),
    reduction("ReduceMin", lambda v, over: smallest(v, over=over, propagate_nan=True), lambda x, axis, keepdims: np.min(
        x, axis=axis, keepdims=keepdims, initial=_most(x.dtype)), rounds=False))


def _least(dtype: Any) -> Any:
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def _most(dtype: Any) -> Any:
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


COMPOSED = (
    Operator(name="OpenMean", kind=Kind.REDUCTION, types=_open_types, reference=_np_open_mean, expression=_open_mean,
             steering=(1,)),
    composed("ReduceMean", _mean, np.mean),
    composed("ReduceL1", lambda site, b, x, reduce: reduce("ReduceSum", b.op("Abs", x)),
             lambda x, **how: np.sum(np.abs(x), **how)),
    composed("ReduceL2", lambda site, b, x, reduce: b.op("Sqrt", reduce("ReduceSum", b.op("Mul", x, x))),
             lambda x, **how: np.sqrt(np.sum(x * x, **how))),
    composed("ReduceSumSquare", lambda site, b, x, reduce: reduce("ReduceSum", b.op("Mul", x, x)),
             lambda x, **how: np.sum(x * x, **how)),
    composed("ReduceLogSum", lambda site, b, x, reduce: b.op("Log", reduce("ReduceSum", x)),
             lambda x, **how: np.log(np.sum(x, **how))),
    composed("ReduceLogSumExp", _log_sum_exp, _np_log_sum_exp))


def _of_truths(name: str, op: str, reference: Callable[..., Any]) -> Operator:
    """A reduction of truth values."""
    def types(site: Site) -> tuple[TensorType, ...]:
        if site.type().dtype != BOOL:
            raise site.refusal(f"elements of {site.type().dtype}, truth values are wanted", 0,
                               hint="put a Cast to bool ahead of it")
        return _types(site)

    def composition(site: Site, builder: Builder, x: str, *axes: str) -> str:
        return builder.op(op, x, *axes, **dict(site.node.attributes))

    def computed(site: Site, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
        return np.asarray(reference(x, axis=_np_axes(site, axes), keepdims=bool(site.attribute("keepdims", 1))))
    return Operator(name=name, kind=Kind.REDUCTION, types=types, reference=computed, composition=composition,
                    steering=(1,))


TRUTHS = (_of_truths("ReduceAll", "ReduceMin", np.all), _of_truths("ReduceAny", "ReduceMax", np.any))


def _position_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if own.dtype == BOOL:
        raise site.refusal("positions of truth values", 0, hint=Remedy.CONVERT)
    axes = (site.axis(site.attribute("axis", 0)),)
    if own.shape[axes[0]] == 0:
        raise site.refusal("the position of an extremum of nothing", 0)
    return (TensorType.of(INT64, _kept_shape(own, axes, bool(site.attribute("keepdims", 1)))),)


def position(name: str, first: Callable[..., Expression], reference: Callable[..., Any]) -> Operator:
    """The position of an extremum along one axis, of several equal ones the first or the last."""
    def expression(site: Site, x: Tensor) -> Tensor:
        own, place = site.type(), site.axis(site.attribute("axis", 0))
        extent = extent_of(own.shape[place])
        last = bool(site.attribute("select_last_index", 0))
        inner, keep = axis("r", extent), bool(site.attribute("keepdims", 1))
        shape = [extent_of(e) for e in site.output.shape]

        def along(i: tuple[Expression, ...]) -> Expression:
            outer = iter([v for d, v in enumerate(i) if not keep or d != place])
            where = extent - 1 - inner if last else inner
            return x[tuple(where if d == place else next(outer) for d in range(own.rank))]
        stage = "found" if last else "y"
        found = compute(shape, lambda *i: first(along(i), over=inner, propagate_nan=True), name=stage)
        return compute(shape, lambda *i: extent - 1 - found[i], name="y", dtype=INT64) if last else found

    def computed(site: Site, x: np.ndarray) -> np.ndarray:
        place = site.attribute("axis", 0)
        if site.attribute("select_last_index", 0):
            found = x.shape[place] - 1 - reference(np.flip(x, place), axis=place)
        else:
            found = reference(x, axis=place)
        return np.asarray(np.expand_dims(found, place) if site.attribute("keepdims", 1) else found, np.int64)

    return Operator(name=name, kind=Kind.REDUCTION, types=_position_types, reference=computed, expression=expression)


OPERATORS = (*REDUCTIONS, *COMPOSED, *TRUTHS,
             position("ArgMax", argmax, np.argmax), position("ArgMin", argmin, np.argmin))
