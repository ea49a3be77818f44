"""Tensor expressions of random shapes, and what the interpreter makes of them."""

from __future__ import annotations

import random

import numpy as np

from polysched.scop.expression import axis, compute, placeholder
from polysched.scop.expression import sum as sum_over
from polysched.scop.expression.tensors import Constant, Tensor
from polysched.scop.interpreter import execute
from polysched.search.rewriting.rewriter import Term
from polysched.search.rewriting.terms import inputs


def matrix_product(a, b, name: str) -> Tensor:
    k = axis("k")
    return compute((a.shape[0], b.shape[1]), lambda i, j: sum_over(a[i, k] * b[k, j], over=k), name=name)


def chain(draw: random.Random, dtype: str) -> Tensor:
    m, k, n, p = (draw.choice((2, 3, 5, 8)) for _ in range(4))
    a, b, c = placeholder("A", (m, k), dtype), placeholder("B", (k, n), dtype), placeholder("C", (n, p), dtype)
    return matrix_product(matrix_product(a, b, "T"), c, "O")


def long_sum(draw: random.Random, dtype: str) -> Tensor:
    m, k = draw.choice((1, 2, 3)), draw.choice((8, 12, 32))
    a, b = placeholder("A", (m, k), dtype), placeholder("B", (k, 2), dtype)
    return matrix_product(a, b, "O")


def windows(draw: random.Random, dtype: str) -> Tensor:
    c, k, y, x = draw.choice((1, 2, 3)), draw.choice((1, 2)), draw.choice((2, 4)), draw.choice((2, 6))
    image, kernel = placeholder("A", (c, y + 2, x + 2), dtype), placeholder("W", (k, c, 3, 3), dtype)
    o, r, s = axis("o"), axis("r"), axis("s")
    return compute((k, y, x), lambda f, i, j: sum_over(
        image[o, i + r, j + s] * kernel[f, o, r, s], over=(o, r, s)), name="O")


def plane(draw: random.Random, dtype: str) -> Tensor:
    """A convolution without channels, its operands the other way round."""
    y, x = draw.choice((2, 4)), draw.choice((2, 6))
    image, kernel = placeholder("A", (y + 2, x + 2), dtype), placeholder("W", (3, 3), dtype)
    r, s = axis("r"), axis("s")
    return compute((y, x), lambda i, j: sum_over(kernel[r, s] * image[r + i, j + s], over=(r, s)), name="O")


def scaled_sum(draw: random.Random, dtype: str) -> Tensor:
    m, n = draw.choice((2, 3, 8)), draw.choice((1, 2, 5))
    a, b = placeholder("A", (m,), dtype), placeholder("B", (m, n), dtype)
    j = axis("j")
    return compute((m,), lambda i: sum_over(a[i] * b[i, j], over=j), name="O")


def summed_sides(draw: random.Random, dtype: str) -> Tensor:
    m, n = draw.choice((2, 3, 8)), draw.choice((1, 2, 5))
    a, b, c = (placeholder(name, (m, n), dtype) for name in "ABC")
    j = axis("j")
    return compute((m,), lambda i: sum_over((a[i, j] - b[i, j]) * c[i, j], over=j), name="O")


def common_factor(draw: random.Random, dtype: str) -> Tensor:
    m = draw.choice((2, 3, 8))
    a, b, c = (placeholder(name, (m,), dtype) for name in "ABC")
    return compute((m,), lambda i: a[i] * b[i] + c[i] * a[i], name="O")


def maps(draw: random.Random, dtype: str) -> Tensor:
    m, n = draw.choice((3, 4, 8)), draw.choice((2, 3, 16))
    a = placeholder("A", (m + 1, n), dtype)
    t = compute((m + 1, n), lambda i, j: a[i, j] * a[i, j] + 1, name="T")
    return compute((m, n), lambda i, j: t[i, j] + t[i + 1, n - 1 - j], name="O")


PROGRAMS = (chain, long_sum, windows, plane, scaled_sum, summed_sides, common_factor, maps)


def values_of(output: Tensor, seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    made = {}
    for tensor in inputs(output):
        shape = tuple(e.value for e in tensor.shape if isinstance(e, Constant))
        assert len(shape) == tensor.rank
        whole = draw.integers(0, 1 << 32, shape, dtype=np.uint64)
        made[tensor.name] = (draw.standard_normal(shape) if tensor.dtype.name.startswith("float") else
                             whole if tensor.dtype.name.startswith("uint") else draw.integers(-9, 9, shape)
                             ).astype(tensor.dtype.name)
    return made


def run(output: Tensor, values: dict[str, np.ndarray]) -> np.ndarray:
    scop = Term(output).scop()
    out = np.zeros(tuple(e.value for e in output.shape), output.dtype.name)
    execute(scop, {}, {**{k: v.copy() for k, v in values.items()}, output.name: out})
    return out
