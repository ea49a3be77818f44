"""Products, normalisation and elementwise operators: the interpreter against NumPy."""

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.scop.expression import build, maximum, placeholder, symbols
from polysched.scop.expression.operators import batched_matmul, elementwise, layer_norm, matmul, softmax, transpose
from tests.scop.expression.running import random, run

RNG = np.random.default_rng(5)
M, N, K = symbols("M N K")


@pytest.mark.parametrize(("transpose_a", "transpose_b"), [(False, False), (True, False), (False, True), (True, True)])
def test_matmul_of_symbolic_shapes(transpose_a: bool, transpose_b: bool) -> None:
    a = placeholder("A", (K, M) if transpose_a else (M, K), "float64")
    b = placeholder("B", (N, K) if transpose_b else (K, N), "float64")
    x = random(RNG, (5, 3) if transpose_a else (3, 5), "float64")
    y = random(RNG, (4, 5) if transpose_b else (5, 4), "float64")
    c = matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    expected = (x.T if transpose_a else x) @ (y.T if transpose_b else y)
    np.testing.assert_allclose(run(c, {"A": x, "B": y}, {"M": 3, "N": 4, "K": 5}), expected)


@pytest.mark.parametrize(("left", "right"), [("uint8", "int8"), ("int8", "int8"), ("int16", "int16")])
def test_short_integers_accumulate_in_int32(left: str, right: str) -> None:
    a, b = placeholder("A", (4, 6), left), placeholder("B", (6, 3), right)
    x = RNG.integers(*([0, 256] if left == "uint8" else [-128, 128]), (4, 6)).astype(left)
    y = RNG.integers(-128, 128, (6, 3)).astype(right)
    result = run(matmul(a, b, accumulate="int32"), {"A": x, "B": y})
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, x.astype(np.int32) @ y.astype(np.int32))


def test_without_accumulate_int8_wraps_as_numpy_does() -> None:
    a, b = placeholder("A", (2, 9), "int8"), placeholder("B", (9, 2), "int8")
    x, y = (RNG.integers(-128, 128, s).astype("int8") for s in ((2, 9), (9, 2)))
    result = run(matmul(a, b), {"A": x, "B": y})
    np.testing.assert_array_equal(result, (x.astype(np.int64) @ y.astype(np.int64)).astype("int8"))


def test_bfloat16_product_accumulates_in_float32() -> None:
    a, b = placeholder("A", (3, 4), "bfloat16"), placeholder("B", (4, 2), "bfloat16")
    x, y = (random(RNG, s).view(np.uint32) & np.uint32(0xFFFF0000) for s in ((3, 4), (4, 2)))
    bits = {"A": (x >> 16).astype("uint16"), "B": (y >> 16).astype("uint16")}
    result = run(matmul(a, b, accumulate="float32"), bits)
    np.testing.assert_allclose(result, x.view(np.float32) @ y.view(np.float32), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint16", "uint32", "uint64", "int32"])
def test_products_of_every_type(dtype: str) -> None:
    a, b = placeholder("A", (3, 4), dtype), placeholder("B", (4, 2), dtype)
    x, y = random(RNG, (3, 4), dtype), random(RNG, (4, 2), dtype)
    result = run(matmul(a, b), {"A": x, "B": y})
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_allclose(result, x @ y, rtol=2e-2 if dtype == "float16" else 1e-5, atol=1e-2)


def test_batched_matmul() -> None:
    a, b = placeholder("A", (2, M, K), "float64"), placeholder("B", (2, K, N), "float64")
    x, y = random(RNG, (2, 3, 5), "float64"), random(RNG, (2, 5, 4), "float64")
    np.testing.assert_allclose(run(batched_matmul(a, b), {"A": x, "B": y}, {"M": 3, "N": 4, "K": 5}), x @ y)


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_softmax(shape: tuple[int, ...]) -> None:
    x = random(RNG, shape) * 10
    e = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(run(softmax(placeholder("X", shape)), {"X": x}), e / e.sum(-1, keepdims=True), rtol=1e-5)


def test_layer_norm() -> None:
    x, gamma, beta = random(RNG, (4, 9)), random(RNG, (9,)), random(RNG, (9,))
    y = layer_norm(placeholder("X", (M, N)), placeholder("g", (N,)), placeholder("b", (N,)))
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta
    result = run(y, {"X": x, "g": gamma, "b": beta}, {"M": 4, "N": 9})
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("permutation", [None, (0, 2, 1), (2, 0, 1)])
def test_transpose(permutation: tuple[int, ...] | None) -> None:
    x = random(RNG, (2, 3, 4))
    np.testing.assert_array_equal(run(transpose(placeholder("X", (2, 3, 4)), permutation), {"X": x}),
                                  np.transpose(x, permutation))


def test_elementwise_broadcasts_and_promotes() -> None:
    a, b, c = placeholder("A", (3, 1, 4), "int32"), placeholder("B", (5, 1), "float32"), placeholder("C", (4,), "int8")
    x, y, z = random(RNG, (3, 1, 4), "int32"), random(RNG, (5, 1)), random(RNG, (4,), "int8")
    result = run(elementwise(lambda p, q, r: maximum(p * q + r, 0) / 2, a, b, c), {"A": x, "B": y, "C": z})
    expected = np.maximum(x * y + z, 0) / 2
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected)


def test_product_statements_are_those_of_the_textbook() -> None:
    scop = build(matmul(placeholder("A", (M, K)), placeholder("B", (K, N))))
    assert [str(s.domain) for s in scop.statements] == [
        "[M, K, N] -> { S0[i, j] : 0 <= i < M and 0 <= j < N }",
        "[M, K, N] -> { S1[i, j, k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }"]
    assert [(a.array, a.is_write) for a in scop.statements[1].accesses] == [
        ("A", False), ("B", False), ("C", False), ("C", True)]


@pytest.mark.parametrize(("call", "message"), [
    (lambda: matmul(placeholder("A", (M, K)), placeholder("B", (N, M))), "the inner extents of the product differ"),
    (lambda: matmul(placeholder("A", (M,)), placeholder("B", (N, M))), "the left factor has 2 dimensions, A has 1"),
    (lambda: transpose(placeholder("A", (M, N)), (0, 0)), "is no permutation of the 2 dimensions of A"),
    (lambda: elementwise(lambda a, b: a + b, placeholder("A", (M,)), placeholder("B", (N,))),
     "extents that must broadcast differ"),
])
def test_shapes_that_do_not_fit_are_refused(call, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()
