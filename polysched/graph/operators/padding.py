"""Padding with one value, in one pass: the whole result is filled, then the elements are copied into it."""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.moves import Move, Place, whole
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType


def _counts(site: Site) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The elements in front of and behind every dimension."""
    before, behind = (tuple(site.required(name)) for name in ("before", "behind"))
    if len(before) != site.type().rank or len(behind) != len(before) or min((*before, *behind), default=0) < 0:
        raise site.refusal("before and behind have a number of at least 0 per dimension",
                           witness=f"{before}, {behind}")
    return before, behind


def _types(site: Site) -> tuple[TensorType, ...]:
    own, value, (before, behind) = site.type(), site.type(1), _counts(site)
    if value != own.with_shape(()):
        raise site.refusal("the value is one element of the type of the data", witness=f"{value} in {own}")
    return (own.with_shape([e + b + a for e, b, a in zip(own.shape, before, behind, strict=True)]),)


def _moves(site: Site) -> tuple[tuple[Move, ...], ...]:
    own, (before, _) = site.type(), _counts(site)
    target = tuple(Place.of(b, (d, 1)) for d, b in enumerate(before))
    return ((Move(1, site.output.shape, (), whole(own.rank)), Move(0, own.shape, whole(own.rank), target)),)


def _reference(site: Site, x: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.pad(x, tuple(zip(*_counts(site), strict=True)), constant_values=value[()]) if x.ndim else x


OPERATORS = (Operator(name="PadConstant", kind=Kind.INJECTIVE, types=_types, reference=_reference, moves=_moves),)
