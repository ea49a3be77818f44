"""A contraction evaluated from its own value: beside NumPy where it says the same in a line."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.tensorize.description.contraction_value import evaluate_contraction
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.inputs import Operands
from polysched.tensorize.description.reading import parse

TRIALS = 3


def run(text: str, operands: Operands, **sizes: int) -> Operands:
    semantics = parse(text)
    return evaluate_contraction(semantics, derive(semantics), operands, sizes)


def drawn(dtype: str, *shape: int) -> np.ndarray:
    chooser = np.random.default_rng(len(shape) + np.dtype(dtype).itemsize)
    ends = np.iinfo(dtype)
    return chooser.integers(ends.min, ends.max, (TRIALS, *shape), dtype=dtype, endpoint=True)


def test_a_product_wraps_as_its_accumulator() -> None:
    c, a, b = drawn("int32", 3, 2), drawn("int16", 3, 4), drawn("int16", 4, 2)
    text = ("void f(int32_t C[3][2], const int16_t A[3][4], const int16_t B[4][2]) { for (int i = 0; i < 3; i++) "
            "for (int j = 0; j < 2; j++) for (int k = 0; k < 4; k++) C[i][j] += A[i][k] * B[k][j]; }")
    found = run(text, {"C": c, "A": a, "B": b})
    assert list(found) == ["C"]
    np.testing.assert_array_equal(found["C"], (c + a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32))


def test_a_sum_that_saturates_at_its_end_is_cut_once() -> None:
    c, a = drawn("int32", 4), drawn("int32", 4, 3) >> 1
    text = ("void f(int32_t C[4], const int32_t A[4][3]) { for (int i = 0; i < 4; i++) { int64_t t = C[i]; "
            "for (int k = 0; k < 3; k++) t += A[i][k]; C[i] = sat_i32(t); } }")
    wanted = np.clip(c.astype(np.int64) + a.sum(axis=2, dtype=np.int64), -(1 << 31), (1 << 31) - 1)
    np.testing.assert_array_equal(run(text, {"C": c, "A": a})["C"], wanted)


def test_a_table_is_read_at_the_elements_of_another_operand() -> None:
    o, t, a = drawn("uint8", 8), drawn("uint8", 16), drawn("uint8", 8)
    text = ("void f(uint8_t O[8], const uint8_t T[16], const uint8_t A[8]) { for (int i = 0; i < 8; i++) "
            "O[i] = T[A[i] & 15]; }")
    wanted = np.take_along_axis(t, (a & 15).astype(np.int64), axis=1)
    np.testing.assert_array_equal(run(text, {"O": o, "T": t, "A": a})["O"], wanted)


def test_stages_run_one_behind_the_other_and_triangles_have_their_points() -> None:
    o, a = drawn("int32", 4), drawn("int16", 4)
    text = ("void f(int32_t O[4], const int16_t A[4]) { int32_t t[4]; "
            "for (int i = 0; i < 4; i++) t[i] = A[i] * A[3 - i]; "
            "for (int i = 0; i < 4; i++) { int32_t s = 0; for (int k = 0; k <= i; k++) s += t[k]; "
            "O[i] = s > 0 ? s : O[i]; } }")
    products = a.astype(np.int64) * a[:, ::-1]
    sums = np.cumsum(products, axis=1).astype(np.int32)
    np.testing.assert_array_equal(run(text, {"O": o, "A": a})["O"], np.where(sums > 0, sums, o))


def test_several_results_are_of_the_values_before() -> None:
    a, b = drawn("int32", 4), drawn("int32", 4)
    text = ("void f(int32_t A[4], int32_t B[4]) { for (int i = 0; i < 4; i++) { int32_t t = A[i]; A[i] = B[i]; "
            "B[i] = t; } }")
    found = run(text, {"A": a, "B": b})
    np.testing.assert_array_equal(found["A"], b)
    np.testing.assert_array_equal(found["B"], a)


@pytest.mark.parametrize(("body", "wanted"), [
    ("X[i] / W[i]", lambda x, w: (np.abs(x.astype(np.int64)) // np.abs(w.astype(np.int64)) * np.sign(x) * np.sign(w))),
    ("X[i] % W[i]", lambda x, w: np.fmod(x.astype(np.int64), w.astype(np.int64))), ("X[i] >> 3", lambda x, _: x >> 3),
    ("(uint32_t)X[i] >> 3", lambda x, _: (x.view(np.uint32) >> 3).view(np.int32)),
    ("X[i] < W[i] ? -X[i] : ~W[i]", lambda x, w: np.where(x < w, -x, ~w)),
    ("!X[i] || (X[i] && W[i] > 5)", lambda x, w: (x == 0) | (w > 5)),
    ("(int8_t)X[i] * (uint8_t)W[i]", lambda x, w: x.astype(np.int8).astype(np.int32) * w.astype(np.uint8))])
def test_operations_are_cs(body: str, wanted: object) -> None:
    assert callable(wanted)
    x = np.concatenate([drawn("int32", 6), np.array([[0, 1, -1, 7, -7, 100]], np.int32)])
    w = np.where(drawn("int32", 6) | 1 == -1, 3, drawn("int32", 6) | 1)
    w = np.concatenate([w, np.array([[3, -3, 5, -5, 2, 7]], np.int32)])
    head = "void f(int32_t O[6], const int32_t X[6], const int32_t W[6])"
    text = f"{head} {{ for (int i = 0; i < 6; i++) O[i] = {body}; }}"
    found = run(text, {"O": np.zeros_like(x), "X": x, "W": w})["O"]
    np.testing.assert_array_equal(found, wanted(x, w).astype(np.int32))


def test_short_floats_are_bits_outside_and_numbers_inside() -> None:
    c, a = np.zeros((1, 4), np.float32), np.array([[1.5, -0.0, 65504, np.inf]], np.float16)
    text = "void f(float C[4], const f16 A[4]) { for (int i = 0; i < 4; i++) C[i] = f16_to_f32(A[i]); }"
    np.testing.assert_array_equal(run(text, {"C": c, "A": a.view(np.uint16)})["C"], a.astype(np.float32))
    back = "void f(f16 C[4], const float A[4]) { for (int i = 0; i < 4; i++) C[i] = f32_to_f16(A[i]); }"
    numbers = np.array([[1 / 3, 65520, 1e-8, -2.5]], np.float32)
    found = run(back, {"C": np.zeros((1, 4), np.uint16), "A": numbers})["C"]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, numbers.astype(np.float16).view(np.uint16))


def test_sizes_of_functions_are_extents() -> None:
    y, x = drawn("int32", 5), drawn("int32", 5)
    text = "void f(int n, int32_t y[n], const int32_t x[n]) { for (int i = 0; i < n; i++) y[i] += x[i]; }"
    np.testing.assert_array_equal(run(text, {"y": y, "x": x}, n=5)["y"], y + x)
