"""Seeded operands that all readings of a text get: random bits, corners, small numbers, and floats that stay exact.

Short floats are their bits (`uint16`), all else NumPy's type of the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from polysched.scop.dtypes import DType
from polysched.tensorize.description.semantics import Semantics

Array: TypeAlias = npt.NDArray[Any]
Operands: TypeAlias = dict[str, Array]


class Filling(Enum):
    """How elements are drawn; EXACT keeps every sum and product of a unit exact in every format."""

    BITS = "random bits"
    CORNERS = "corners"
    SMALL = "small numbers"
    EXACT = "whole numbers of few bits"


_LAYOUT = {"float32": (23, 8), "float64": (52, 11), "bfloat16": (7, 8), "float16": (10, 5)}   # fraction, exponent bits


def carrier(dtype: DType) -> np.dtype[Any]:
    """The NumPy type that holds an operand."""
    return np.dtype("uint16" if dtype.name in ("bfloat16", "float16") else dtype.name)


def shape_of(shape: tuple[int | str, ...], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """A shape with the values of parameters."""
    return tuple(sizes[n] if isinstance(n, str) else n for n in shape)


def operands_of(semantics: Semantics, filling: Filling, trials: int, seed: int,
                sizes: Mapping[str, int] | None = None) -> Operands:
    """Every operand for so many executions, the execution as the first subscript.

    With random bits, each operand is at times small or at a corner, so that differences do not drown.
    """
    chooser = np.random.default_rng([seed, list(Filling).index(filling)])
    made: Operands = {}
    for variable in semantics.operands:
        shape = shape_of(variable.shape, sizes or {})
        values = drawn(variable.dtype, filling, (trials, *shape), chooser)
        if filling is Filling.BITS and trials > 2:
            for kind in (Filling.CORNERS, Filling.SMALL):
                at = chooser.random(trials) < 0.15
                values[at] = drawn(variable.dtype, kind, (int(at.sum()), *shape), chooser)
        made[variable.name] = values
    return made


def drawn(dtype: DType, filling: Filling, shape: tuple[int, ...], chooser: np.random.Generator) -> Array:
    """Elements of one type."""
    if dtype.is_float:
        return _floats(dtype, filling, shape, chooser)
    low, high = dtype.value_range()
    if filling is Filling.BITS:
        return chooser.integers(low, high, shape, dtype=carrier(dtype), endpoint=True)
    if filling is Filling.CORNERS:
        corners = [low, high, 0, 1, high if low == 0 else -1, high // 2, low + 1, high - 1]
        return chooser.choice(np.array(corners, carrier(dtype)), shape)
    return chooser.integers(max(low, -4), 5, shape).astype(carrier(dtype))


def _floats(dtype: DType, filling: Filling, shape: tuple[int, ...], chooser: np.random.Generator) -> Array:
    fraction, exponent = _LAYOUT[dtype.name]
    bias, top, one = (1 << (exponent - 1)) - 1, ((1 << exponent) - 1) << fraction, 1 << fraction
    bits = np.dtype(f"uint{dtype.bits}")
    sign = 1 << (dtype.bits - 1)
    if filling is Filling.BITS:
        values = chooser.integers(0, (1 << dtype.bits) - 1, shape, dtype=bits, endpoint=True)
    elif filling is Filling.CORNERS:
        corners = [0, bias * one, 1, one - 1, one, top - 1, top, top + one // 2, bias * one + 1,
                   (bias - fraction) * one]
        values = chooser.choice(np.array([c | s for c in corners for s in (0, sign)], bits), shape)
    elif filling is Filling.SMALL:   # near one, any fraction
        near = chooser.integers(max(1, bias - 7), bias + 7, shape).astype(bits) << bits.type(fraction)
        values = near | (chooser.integers(0, (1 << dtype.bits) - 1, shape, dtype=bits) & bits.type(sign | (one - 1)))
    else:
        return _whole(dtype, chooser.integers(-4, 5, shape))
    return values if carrier(dtype) == bits else values.view(carrier(dtype))


def _whole(dtype: DType, numbers: Array) -> Array:
    """Whole numbers in a float format."""
    if dtype.name == "bfloat16":
        return (numbers.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if dtype.name == "float16":
        return numbers.astype(np.float16).view(np.uint16)
    return numbers.astype(carrier(dtype))


def first_difference(dtype: DType, left: Array, right: Array) -> int:
    """Position of the first element with another bit, or -1; one NaN is as good as another."""
    a, b = (x.ravel() for x in (left, right))
    if dtype.is_float:
        fraction, exponent = _LAYOUT[dtype.name]
        bits = np.dtype(f"uint{dtype.bits}")
        a, b = a.view(bits), b.view(bits)
        infinity = ((1 << exponent) - 1) << fraction
        magnitude = bits.type((1 << (dtype.bits - 1)) - 1)
        same = (a == b) | (((a & magnitude) > infinity) & ((b & magnitude) > infinity))
    else:
        same = a == b
    return -1 if same.all() else int(np.argmin(same))
