"""The norm of every channel."""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType


def _types(site: Site) -> tuple[TensorType, ...]:
    own = site.type()
    if own.rank < 3 or not own.dtype.is_float or site.attribute("p", 2) < 1:
        raise site.refusal("floating data with spatial dimensions and a norm of at least 1 are wanted", ("p", 0),
                           witness=f"{own}, p={site.attribute('p', 2)}")
    return (own.with_shape((*own.shape[:2], *(1,) * (own.rank - 2))),)


def _norm(site: Site, build: Builder, x: str) -> str:
    axes, p = build.constant(list(range(2, site.type().rank))), site.attribute("p", 2)
    if p in (1, 2):   # the first operator set has it as a float
        return build.op(f"ReduceL{int(p)}", x, axes, keepdims=1)
    exponent, root = (build.constant(np.array(v, site.type().numpy)) for v in (p, 1 / p))
    total = build.op("ReduceSum", build.op("Pow", build.op("Abs", x), exponent), axes, keepdims=1)
    return build.op("Pow", total, root)


def _np_norm(site: Site, x: np.ndarray) -> np.ndarray:
    p = site.attribute("p", 2)
    powers = (np.abs(x.astype(np.float64)) ** p).sum(axis=tuple(range(2, x.ndim)), keepdims=True)
    return np.asarray(powers ** (1 / p)).astype(x.dtype)


OPERATORS = (Operator(name="GlobalLpPool", kind=Kind.REDUCTION, types=_types, reference=_np_norm, composition=_norm,
                      sums=True),)
