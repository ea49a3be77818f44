"""Pooling that is made of other operators: norms of windows, and reductions over all of space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.operators.windows import in_windows, pool_types, windows
from polysched.graph.values.types import TensorType


def _lp_pool(site: Site, build: Builder, x: str) -> str:
    p = site.attribute("p", 2)
    own = build.op("Abs", x)
    exponent = build.constant(np.array(p, site.type().numpy))
    powers = own if p == 1 else build.op("Mul", x, x) if p == 2 else build.op("Pow", own, exponent)
    total = build.op("SumPool", powers, **{k: v for k, v in site.node.attributes if k != "p"})
    if p == 1:
        return total
    return build.op("Sqrt", total) if p == 2 else build.op("Pow", total, build.constant(
        np.array(1 / p, site.type().numpy)))


def _np_lp_pool(site: Site, x: np.ndarray) -> np.ndarray:
    view, p = windows(site, site.attribute("kernel_shape")), site.attribute("p", 2)
    spatial = tuple(range(x.ndim, 2 * x.ndim - 2))
    powers = np.abs(in_windows(x.astype(np.float64), view, 0)) ** p
    return np.asarray(powers.sum(axis=spatial) ** (1 / p)).astype(x.dtype)


def _global_types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if own.rank < 3 or not own.dtype.is_float:
        raise site.refusal("floating data with spatial dimensions are wanted", 0, witness=str(own),
                           hint="give it batch, channels and space, converted to floats by a Cast")
    return (own.with_shape((*own.shape[:2], *(1,) * (own.rank - 2))),)


def _over_space(op: str) -> Callable[..., str]:
    def composition(site: Site, build: Builder, x: str) -> str:
        return build.op(op, x, build.constant(list(range(2, site.type().rank))), keepdims=1)
    return composition


def _np_over_space(reduce: Callable[..., Any]) -> Callable[..., np.ndarray]:
    return lambda site, x: np.asarray(reduce(x.astype(np.float64), axis=tuple(range(2, x.ndim)), keepdims=True)).astype(
        x.dtype)


OPERATORS = (
    Operator(name="LpPool", kind=Kind.OUTPUT_FUSABLE, types=pool_types, reference=_np_lp_pool, composition=_lp_pool,
             sums=True),
    Operator(name="GlobalAveragePool", kind=Kind.REDUCTION, types=_global_types, reference=_np_over_space(np.mean),
             composition=_over_space("ReduceMean")),
    Operator(name="GlobalMaxPool", kind=Kind.REDUCTION, types=_global_types, reference=_np_over_space(np.max),
             composition=_over_space("ReduceMax")))
