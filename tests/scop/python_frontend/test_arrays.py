"""Slices, broadcasting, products, reductions and temporaries: the Scop against NumPy."""

import numpy as np
import pytest

from polysched.scop.scop import Storage
from tests.scop.python_frontend.running import check, extracted

RNG = np.random.default_rng(12)


def jacobi(A, B, steps):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = B[1:-1, 1:-1]


def overlap_forward(A):
    A[1:-1] = A[:-2] + A[2:]


def overlap_backward(A):
    A[:-1] = A[1:] * 2


def overlap_in_place(A):
    A[1:] += A[:-1]
    A[::-1] = A.copy()


def overlap_stepped(A):
    A[::2] = A[1::2] + A[::2]
    A[4:0:-1] = A[:4]


def rows(A, v):
    for i in range(A.shape[0]):
        A[i] = v * i
        A[i, ::2] += A[i - 1, ::2]
        row = A[i]
        row[0] = 7
        A[:, 0] *= 0.5


def broadcast(A, v, w):
    A[:] = v[:, None] * w + A
    A += v[:, np.newaxis]
    A[...] = np.where(A > 1, A, w)
    A[0] = 3


def product(C, A, B, x):
    C[:] = A @ B
    C += A @ B
    C[:] = 0.5 * (A @ B) + C.T.T
    y = np.dot(A, x) + (x @ B).sum()
    C -= np.outer(y, B[0])
    return y


def stacked(C, A, B):
    C[:] = A @ B
    C += np.einsum("nik,kj->nij", A, B)


def einsums(A, B):
    a = np.einsum("ij,ij->", A, B)
    b = np.einsum("ij,kj->ik", A, B)
    c = np.einsum("ii->i", b)
    d = np.einsum("ij,jk", A, B.T)
    e = np.einsum("ij->ji", A)
    return a, b, c, d, e


def reductions(A):
    return (np.sum(A), A.sum(axis=0), A.mean(1), A.max(axis=-1, keepdims=True), np.min(A), np.prod(A, axis=(0, 1)),
            np.argmax(A, axis=1), A.argmin(), np.var(A, axis=0, ddof=1), A.std())


def softmax(X):
    e = np.exp(X - np.max(X, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def temporaries(A, n):
    t = np.zeros((n, n))
    e = np.empty_like(A)
    f = np.full(n, 2.5)
    for i in range(n):
        part = A[i, :i] * 2
        t[i, :i] = part + f[:i]
        e[i] = t[i]
    e[:, 0] = np.ones(n)
    return e, t


def shapes(A):
    n, _m = A.shape
    c = np.arange(n * 1) + A.shape[1] + A.ndim + len(A)
    t = np.tril(A[:, :n]) + np.triu(A[:, :n], 1) - np.eye(n)
    return c, t, np.transpose(A)[1:].copy(), A[1:, -2].copy()


def elementwise(A, B):
    return (np.maximum(A, B), np.minimum(A, 0.5), np.clip(A, 0.2, 0.6), np.abs(A - B), np.sqrt(A) ** 2 + B ** 3,
            np.logical_and(A > 0.5, B > 0.5), np.sign(A - B), A // 0.3, A % 0.3, -A + (A > B), np.floor(A * 10), 1 / A)


def in_time(A, steps):
    for t in range(steps):
        B = A[1:, :] + A[:-1, :]
        A[1:, :] = B * 0.5
        A[0, t] = np.sum(B[0])


def array(*shape):
    return RNG.random(shape)


CASES = [
    (jacobi, (array(6, 7), array(6, 7), 3)),
    (overlap_forward, (array(9),)), (overlap_backward, (array(9),)), (overlap_in_place, (array(9),)),
    (overlap_stepped, (array(10),)), (rows, (array(4, 6), array(6))), (broadcast, (array(4, 5), array(4), array(5))),
    (broadcast, (array(4, 5), array(4), array(1))),
    (product, (array(3, 4), array(3, 5), array(5, 4), array(5))),
    (stacked, (array(2, 3, 4), array(2, 3, 5), array(5, 4))),
    (einsums, (array(3, 4), array(3, 4))), (reductions, (array(3, 5),)), (softmax, (array(3, 5),)),
    (temporaries, (array(4, 4), 4)), (shapes, (array(4, 5),)), (elementwise, (array(3, 4), array(3, 4))),
    (elementwise, (array(3, 4), array(3, 1))), (in_time, (array(5, 6), 3)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[c[0].__name__ for c in CASES])
def test_the_scop_computes_what_numpy_computes(function, arguments) -> None:
    check(function, *arguments, rtol=1e-9)


@pytest.mark.parametrize(("function", "statements"), [(overlap_forward, 2), (overlap_backward, 1)])
def test_a_temporary_is_made_only_where_the_loop_would_overtake_itself(function, statements: int) -> None:
    scop = extracted(function, array(9)).scop
    assert len(scop.statements) == statements
    assert sum(a.storage is Storage.LOCAL for a in scop.arrays) == statements - 1


def test_stencil_loops_run_over_the_arrays_own_subscripts() -> None:
    scop = extracted(jacobi, array(6, 7), array(6, 7), 3).scop
    assert len(scop.statements) == 2
    write = scop.statements[0].writes[0]
    assert [e.name for e in write.subscripts] == ["i", "j"]


def test_a_product_goes_straight_into_its_target() -> None:
    def multiply(C, A, B):
        C[:] = A @ B
    scop = extracted(multiply, array(3, 4), array(3, 5), array(5, 4)).scop
    assert [len(s.iterators) for s in scop.statements] == [2, 3]
    assert {a.name for a in scop.arrays} == {"C", "A", "B"}


def test_in_place_results_are_returned_under_their_argument() -> None:
    def scale(A, s):
        A *= s
        return A
    assert extracted(scale, array(3), 2.0).results == ("A",)
