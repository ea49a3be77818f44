"""Block programs from the mathematics, for the tests and the experiment, and what each computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import polysched.scop.block_frontend.language as bl


def vector_add(x, y, out, BLOCK=16):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    total = bl.load(bl.block(x, (n,), (at,), (BLOCK,))) + bl.load(bl.block(y, (n,), (at,), (BLOCK,)))
    bl.store(bl.block(out, (n,), (at,), (BLOCK,)), total)


def softmax(X, Y, COLUMNS=64):
    M, N = X.shape
    row = bl.program_id(0, M)
    x = bl.load(bl.block(X, (M, N), (row, 0), (1, COLUMNS)), other=-bl.inf)
    power = bl.exp(x - bl.max(x, 1)[:, None])
    bl.store(bl.block(Y, (M, N), (row, 0), (1, COLUMNS)), power / bl.sum(power, 1)[:, None])


def matmul(A, B, C, BM=16, BN=16, BK=16):
    M, K = A.shape
    N = B.shape[1]
    i = bl.program_id(0, bl.cdiv(M, BM)) * BM
    j = bl.program_id(1, bl.cdiv(N, BN)) * BN
    total = bl.zeros((BM, BN))
    for k in range(0, K, BK):
        a = bl.load(bl.block(A, (M, K), (i, k), (BM, BK)))
        b = bl.load(bl.block(B, (K, N), (k, j), (BK, BN)))
        total += bl.dot(a, b)
    bl.store(bl.block(C, (M, N), (i, j), (BM, BN)), total)


def layer_norm(X, weight, bias, Y, count, epsilon, COLUMNS=64):
    M, N = X.shape
    row = bl.program_id(0, M)
    inside = (bl.arange(0, COLUMNS) < N)[None, :]
    x = bl.load(bl.block(X, (M, N), (row, 0), (1, COLUMNS)))
    mean = bl.sum(x, 1) / count
    centred = bl.where(inside, x - mean[:, None], 0.0)
    variance = bl.sum(centred * centred, 1) / count
    scale = 1.0 / bl.sqrt(variance + epsilon)
    w = bl.load(bl.block(weight, (N,), (0,), (COLUMNS,)))
    b = bl.load(bl.block(bias, (N,), (0,), (COLUMNS,)))
    bl.store(bl.block(Y, (M, N), (row, 0), (1, COLUMNS)), centred * scale[:, None] * w[None, :] + b[None, :])


def attention(Q, K, V, out, scale, BM=16, BN=16, D=16):
    S = Q.shape[0]
    i = bl.program_id(0, bl.cdiv(S, BM)) * BM
    q = bl.load(bl.block(Q, (S, D), (i, 0), (BM, D)))
    largest = bl.full((BM,), -bl.inf)
    weight = bl.zeros((BM,))
    total = bl.zeros((BM, D))
    for j in range(0, S, BN):
        k = bl.load(bl.block(K, (S, D), (j, 0), (BN, D)))
        v = bl.load(bl.block(V, (S, D), (j, 0), (BN, D)))
        score = bl.where((j + bl.arange(0, BN))[None, :] < S, bl.dot(q, bl.trans(k)) * scale, -bl.inf)
        new = bl.maximum(largest, bl.max(score, 1))
        power = bl.exp(score - new[:, None])
        shrink = bl.exp(largest - new)
        weight = weight * shrink + bl.sum(power, 1)
        total = total * shrink[:, None]
        total += bl.dot(power, v)
        largest = new
    bl.store(bl.block(out, (S, D), (i, 0), (BM, D)), total / weight[:, None])


def dropout(x, out, key, limit, keep, BLOCK=16, ROUNDS=10):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    low = 4294967295
    counter = bl.uint64(at + bl.arange(0, BLOCK))   # Philox 4x32-10 of (low, high, 0, 0) under the key (key, 0)
    a = counter & low
    b = counter >> 32
    c = counter & 0
    d = counter & 0
    for r in range(ROUNDS):
        wide = a * 3528531795
        other = c * 3449720151
        first = ((other >> 32) ^ b ^ (key + bl.uint64(r) * 2654435769)) & low
        third = ((wide >> 32) ^ d ^ (bl.uint64(r) * 3144134277)) & low
        b = other & low
        d = wide & low
        a = first
        c = third
    values = bl.load(bl.block(x, (n,), (at,), (BLOCK,))) / keep
    bl.store(bl.block(out, (n,), (at,), (BLOCK,)), bl.where(a < limit, values, 0.0))


def grouped_matmul(A, B, C, rows, BM=16, BN=16, BK=16):
    G, M, K = A.shape
    N = B.shape[2]
    g = bl.program_id(2, G)
    i = bl.program_id(1, bl.cdiv(M, BM)) * BM
    j = bl.program_id(0, bl.cdiv(N, BN)) * BN
    total = bl.zeros((BM, BN))
    for k in range(0, K, BK):
        a = bl.load(bl.block(A, (G, M, K), (g, i, k), (None, BM, BK)))
        b = bl.load(bl.block(B, (G, K, N), (g, k, j), (None, BK, BN)))
        total += bl.dot(a, b)
    own = bl.load(bl.block(rows, (G,), (g,), (None,)))
    inside = (i + bl.arange(0, BM))[:, None] < own
    bl.store(bl.block(C, (G, M, N), (g, i, j), (None, BM, BN)), total, mask=inside)


@dataclass(frozen=True, eq=False)
class Example:
    """A program, arguments of about a size, and the result in NumPy.

    Parameters
    ----------
    arguments : makes the arguments; the result goes into the one named `result`.
    expected : the result from the arguments.
    """

    function: Callable[..., Any]
    arguments: Callable[[int, np.random.Generator], dict[str, Any]]
    expected: Callable[..., np.ndarray]
    result: str


def _softmax(X, **_):
    power = np.exp(X - X.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def _layer_norm(X, weight, bias, epsilon, **_):
    return (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + epsilon) * weight + bias


def _attention(Q, K, V, scale, **_):
    return _softmax(Q @ K.T * scale) @ V


def philox(counter: int, key: int) -> int:
    """The first word of Philox 4x32-10, in Python's own integers.

    Source: J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011, section 3.3, and Random123.
    """
    low = 2**32 - 1
    a, b, c, d = counter & low, counter >> 32, 0, 0
    for r in range(10):
        wide, other = a * 0xD2511F53, c * 0xCD9E8D57
        keys = (key + r * 0x9E3779B9) & low, (r * 0xBB67AE85) & low
        a, b, c, d = (other >> 32) ^ b ^ keys[0], other & low, (wide >> 32) ^ d ^ keys[1], wide & low
    return a


def _dropout(x, key, limit, keep, **_):
    kept = np.array([philox(i, int(key)) < int(limit) for i in range(len(x))])
    return np.where(kept, x / keep, 0)


def _grouped(A, B, rows, **_):
    inside = np.arange(A.shape[1])[None, :, None] < rows[:, None, None]
    return np.where(inside, A @ B, 0)


def _arguments(name: str) -> Callable[[int, np.random.Generator], dict[str, Any]]:
    """Makes the arguments of an example."""
    def made(n: int, r: np.random.Generator) -> dict[str, Any]:
        return {
            "vector_add": lambda: {"x": r.random(n), "y": r.random(n), "out": np.zeros(n)},
            "softmax": lambda: {"X": r.random((n // 8 + 1, n)), "Y": np.zeros((n // 8 + 1, n))},
            "matmul": lambda: {"A": r.random((n, n + 3)), "B": r.random((n + 3, n - 5)), "C": np.zeros((n, n - 5))},
            "layer_norm": lambda: {"X": r.random((5, n)), "weight": r.random(n), "bias": r.random(n),
                                   "Y": np.zeros((5, n)), "count": float(n), "epsilon": 1e-5},
            "attention": lambda: {"Q": r.random((n, 16)), "K": r.random((n, 16)), "V": r.random((n, 16)),
                                  "out": np.zeros((n, 16)), "scale": 0.25},
            "dropout": lambda: {"x": r.random(n), "out": np.zeros(n), "key": np.uint64(0xA4093822),
                                "limit": np.uint64(2**31), "keep": 0.5},
            "grouped_matmul": lambda: {"A": r.random((3, n, n - 2)), "B": r.random((3, n - 2, n)),
                                       "C": np.zeros((3, n, n)), "rows": np.array([n, 3, n // 2])}}[name]()
    return made


EXAMPLES = {name: Example(function, _arguments(name), expected, result) for name, function, expected, result in (
    ("vector_add", vector_add, lambda x, y, **_: x + y, "out"), ("softmax", softmax, _softmax, "Y"),
    ("matmul", matmul, lambda A, B, **_: A @ B, "C"), ("layer_norm", layer_norm, _layer_norm, "Y"),
    ("attention", attention, _attention, "out"), ("dropout", dropout, _dropout, "out"),
    ("grouped_matmul", grouped_matmul, _grouped, "C"))}
