"""A program and one rewrite of it, both run by the interpreter on the same data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop

Step = Callable[[Dependences], Dependences | None]


def program(arrays: str, body: str) -> Scop:
    """A program of fixed sizes."""
    return from_c_text(f"#include <stdint.h>\nvoid f({arrays}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def same_values(before: Scop, after: Scop, seeds: int = 2) -> None:
    """Refuse a rewrite that leaves another value in any array that outlives the region."""
    sizes = {p.name: 0 for p in before.parameters}   # numbers that are known ahead
    for seed in range(seeds):
        chooser = np.random.default_rng(seed)
        first = {}
        for array in before.arrays:
            low, high = (-4, 4) if array.dtype.is_float else array.dtype.value_range() if seed else (0, 2)
            drawn = chooser.integers(low, high, tuple(extents_of(array, sizes)), endpoint=True, dtype=np.int64)
            zeroed = np.where(chooser.random(drawn.shape) < 0.4, 0, drawn)
            first[array.name] = np.zeros_like(zeroed, array.dtype.name) if array.is_temporary else zeroed.astype(
                array.dtype.name)
        ran = [{n: a.copy() for n, a in first.items()} for _ in range(2)]
        for scop, arrays in zip((before, after), ran, strict=True):
            arrays |= {a.name: np.zeros(tuple(extents_of(a, sizes)), a.dtype.name) for a in scop.arrays
                       if a.is_temporary}
            execute(scop, sizes, {a.name: arrays[a.name] for a in scop.arrays}, wrap_signed=True)
        for array in before.arrays:
            if not array.is_temporary:
                np.testing.assert_array_equal(ran[1][array.name], ran[0][array.name], err_msg=array.name)


def rewritten(scop: Scop, step: Step) -> Scop | None:
    """The program after one step, which computes the same; None where the step leaves it alone."""
    after = step(analyse(scop))
    if after is not None:
        same_values(scop, after.scop)
    return None if after is None else after.scop
