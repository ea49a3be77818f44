"""Kernels that compute statements by described instructions, made for the sizes of each call."""

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError
from tests.kernel.products import loops

product = polysched.kernel(intrinsics="vpdpbusd")(loops)


def test_every_size_gets_its_own_code(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    chooser = np.random.default_rng(0)
    for m, n, k in ((7, 33, 18), (16, 32, 64), (7, 33, 18)):
        a = chooser.integers(0, 255, (m, k), endpoint=True).astype(np.uint8)
        b = chooser.integers(-128, 127, (k, n), endpoint=True).astype(np.int8)
        c = np.full((m, n), 3, np.int32)
        product(c, a, b)
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
        assert "by vpdpbusd" in product.c_source
        assert any("instruction: " in step for step in product.optimized.steps())


def test_an_unknown_instruction_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="no intrinsic is called 'vpdpbus'"):
        polysched.kernel(intrinsics="vpdpbus")


@polysched.kernel(intrinsics="vpdpbusd")
def mirrored(D, A, B):
    M, N = D.shape
    K = A.shape[1]
    T = np.zeros((M, N), np.int32)
    for i in range(M):
        for j in range(N):
            for k in range(K):
                T[i, j] += np.int32(A[i, k]) * np.int32(B[k, j])
    for i in range(M):
        for j in range(N):
            D[i, j] = T[i, j] + T[i, N - 1 - j]


def test_the_result_of_an_instruction_may_be_a_temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    chooser = np.random.default_rng(0)
    a = chooser.integers(0, 255, (9, 21), endpoint=True).astype(np.uint8)
    b = chooser.integers(-128, 127, (21, 37), endpoint=True).astype(np.int8)
    d = np.full((9, 37), 3, np.int32)
    mirrored(d, a, b)
    t = a.astype(np.int32) @ b.astype(np.int32)
    np.testing.assert_array_equal(d, t + t[:, ::-1])
    assert "S1 by vpdpbusd" in mirrored.c_source
    assert "free(T);" in mirrored.c_source
