"""Loops, branches and scalars of Python functions: the Scop in the interpreter against Python itself."""

import math

import numpy as np
import pytest

from tests.scop.python_frontend.running import check, extracted

RNG = np.random.default_rng(11)
LIMIT = 4
SCALE = 0.25


def gemm(C, A, B, alpha, beta):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] *= beta
            for k in range(K):
                C[i, j] += alpha * A[i, k] * B[k, j]


def triangular(L, x):
    n = len(x)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= L[j, i] * x[j]
        x[i] = x[i] / L[i, i]


def strides(x):
    for i in range(1, len(x), 3):
        x[i] = x[i - 1] + i
    for i in range(len(x) - 2, 0, -2):
        x[i] += x[i + 1]
    for i in reversed(range(1, len(x))):
        x[i] = x[i] * 0.5 + x[i - 1]


def bounds(x, n):
    for i in range(max(1, n - 5), min(n, 8)):
        for j in range(i // 2, (i + n) % 3 + i):
            x[i, j] += abs(i - j) + 2 * i


def branches(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            if i == j:
                x[i, j] = 1
            elif i < j and not j % 2 == 0:  # noqa: SIM201
                x[i, j] = y[i, j] if i > 0 else 0.5
            elif 0 < i < n - 1 or j == m - 1:
                x[i, j] = y[i - 1, j]
            else:
                continue
            x[i, j] *= 2


def continues(x):
    for i in range(len(x)):
        if i % 3 == 1:
            x[i] = -1
            continue
        if x[i] > 0.5:
            continue
        x[i] = i


def scalars(x, y):
    total = 0
    count = 0
    for i in range(len(x)):
        last = total
        total += x[i]
        if x[i] > 0.5:
            count += 1
        y[i] = total - last + count
    return total, count


def aliases(x):
    n = len(x)
    half = n // 2
    if n > 6:
        first, step = 1, 3
    else:
        first, step = 0, 2
    for i in range(half):
        at = i + half
        x[at] = x[i] + first * step
        at = i
        x[at] = x[at] + 1


def negative_indices(x):
    n = len(x)
    for i in range(n):
        x[-1 - i] = x[i - 1] + x[-n + i]
    x[-1] = 5


def data_branches(x, y):
    for i in range(len(x)):
        if x[i] > 0.7 and i > 0 and x[i - 1] < 0.5:
            y[i] = x[i - 1]
            if y[i] > 0.2:
                x[i] = 0
            else:
                x[i] = 1
        elif x[i] < 0.3:
            for j in range(i):
                y[j] += 1
            y[:] = y + x
        else:
            y[i] = max(x[i], y[i], 0.5)


def ternaries(x, y):
    for i in range(len(x)):
        y[i] = x[i] if x[i] > y[i] else y[i] if i > 2 else -1
        x[i] = min(x[i], 0.5) + max(i, LIMIT) * SCALE


def functions(x, y):
    for i in range(len(x)):
        x[i] = math.sqrt(x[i]) + math.exp(-y[i]) * math.sin(i) + math.pi
        y[i] = math.floor(y[i] * 10) + math.pow(x[i], 2) + np.log1p(y[i]) + abs(y[i] - 0.5) + math.hypot(x[i], y[i])


def loop_variable_after(x):
    k = 0
    for i in range(len(x)):
        k = i
    x[0] = k + i


def parallel(x, y):
    for i in range(1, len(x)):
        x[i], y[i] = y[i - 1], x[i - 1]
        a = b = x[i] + y[i]
        x[i] = y[i] = a * b


def flags(x, up: bool):
    for i in range(len(x)):
        if up:
            x[i] += 1
        else:
            x[i] -= 1


def same_name_twice(x):
    for i in range(len(x)):
        s = x[i]
        for j in range(i):
            s += x[j]
        x[i] = s
    s = 0.5
    x[0] += s


def vector(n):
    return RNG.random(n)


CASES = [
    (gemm, (RNG.random((3, 4)), RNG.random((3, 5)), RNG.random((5, 4)), 1.5, 0.5)),
    (gemm, (RNG.random((1, 4)).astype("f"), RNG.random((3, 5)).astype("f"), RNG.random((6, 4)).astype("f"), 1.5, 2)),
    (triangular, (np.tril(RNG.random((6, 6))) + np.eye(6), vector(6))),
    (strides, (vector(11),)),
    (bounds, (RNG.random((12, 14)), 9)),
    (bounds, (RNG.random((12, 14)), 3)),
    (branches, (RNG.random((6, 7)), RNG.random((6, 7)))),
    (continues, (vector(10),)),
    (scalars, (vector(8), np.zeros(8))),
    (aliases, (vector(9),)),
    (aliases, (vector(5),)),
    (negative_indices, (vector(7),)),
    (data_branches, (vector(12), vector(12))),
    (ternaries, (vector(9), vector(9))),
    (functions, (vector(6), vector(6))),
    (loop_variable_after, (vector(4),)),
    (parallel, (vector(6), vector(6))),
    (flags, (vector(5), True)),
    (flags, (vector(5), False)),
    (same_name_twice, (vector(5),)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[c[0].__name__ for c in CASES])
def test_the_scop_computes_what_python_computes(function, arguments) -> None:
    check(function, *arguments, rtol=1e-4 if arguments[0].dtype == np.float32 else 1e-9)


def test_gemm_has_the_textbook_statements() -> None:
    python = extracted(gemm, *CASES[0][1])
    assert [str(s.domain).split("->")[1].strip() for s in python.scop.statements] == [
        "{ S0[i, j] : 0 <= i < M and 0 <= j < N }", "{ S1[i, j, k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }"]
    assert [a.text for a in python.scop.assumptions] == [
        "every subscript of A lies inside its extents", "every subscript of B lies inside its extents"]


def test_data_dependent_branch_is_one_opaque_statement_with_may_writes() -> None:
    def clip(x):
        for i in range(len(x)):
            if x[i] > 1.0:
                x[i] = 1.0
    (statement,) = extracted(clip, vector(3)).scop.statements
    assert [a.kind.value for a in statement.accesses] == ["read", "may_write"]


def annotated(C: "float64[M, N]", A: "float64[M, K]", B: "float64[K, N]", x: "float32[2 * N + 1]", s: float, n: int):  # noqa: F821
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = s * n
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j] + x[2 * j]


def test_annotations_name_the_extents() -> None:
    scop = extracted(annotated).scop
    assert [p.name for p in scop.parameters] == ["n", "M", "N", "K"]
    assert not scop.assumptions
    assert [str(e) for e in scop.array("x").extents] == ["[N] -> { [(1 + 2N)] }"]
    check(annotated, RNG.random((3, 4)), RNG.random((3, 2)), RNG.random((2, 4)), RNG.random(9).astype("f"), 0.5, 3)
