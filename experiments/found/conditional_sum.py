"""A sum with one addend or another: as `if` and `else`, and as a conditional expression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def branches(c: Array, x: Array, y: Array, out: Array) -> None:
    s = 0.0
    for i in range(x.shape[0]):
        if c[i] > 0.5:
            s += x[i]
        else:
            s += y[i]
    out[0] = s


def ternary(c: Array, x: Array, y: Array, out: Array) -> None:
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] if c[i] > 0.5 else y[i]
    out[0] = s


def arguments(size: int) -> tuple[Array, ...]:
    made = np.random.default_rng(0)
    return (*(made.random(size) for _ in range(3)), np.zeros(1))
