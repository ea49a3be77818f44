"""The syntax tree of a described function runs as C does; what it does not know is refused where it stands."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polysched.errors import PolyschedError
from polysched.tensorize.description.library_function import Variant
from polysched.tensorize.functions.emulated_function import emulated_function, executed


def run(text: str, **arrays: object) -> dict[str, np.ndarray]:
    given = {n: np.atleast_1d(np.asarray(a)) for n, a in arrays.items()}
    return executed(emulated_function(Variant(text)), given)


def test_loops_count_in_any_steps_and_directions() -> None:
    text = "void f(int n, int32_t *y) { int at = 0; for (int i = n; i > 0; i -= 3) { y[at] = i; at++; } }"
    found = run(text, n=np.int32(10), y=np.zeros(5, np.int32))
    assert found["y"].tolist() == [10, 7, 4, 1, 0]
    assert found["#"] > 4


def test_pointers_and_matrices_are_one_memory() -> None:
    text = ("void f(int n, int m, int32_t a[n][m], int32_t *p) { for (int i = 0; i < n; i++) "
            "for (int j = 0; j < m; j++) a[i][j] = *p + p[i * m + j]; }")
    p = np.arange(6, dtype=np.int32) + 1
    found = run(text, n=np.int32(2), m=np.int32(3), a=np.zeros((2, 3), np.int32), p=p)
    assert found["a"].tolist() == (p[0] + p).reshape(2, 3).tolist()


def test_branches_and_local_arrays() -> None:
    text = """void f(int n, int32_t *y, const int32_t *x) { int32_t old[8];
    for (int i = 0; i < n; i++) old[i] = x[i];
    for (int i = 0; i < n; i++) { if (old[i] > 2) y[i] = old[n - 1 - i]; else if (old[i] == 2) y[i] = -1; } }"""
    found = run(text, n=np.int32(4), y=np.zeros(4, np.int32), x=np.array([3, 2, 1, 5], np.int32))
    assert found["y"].tolist() == [5, -1, 0, 3]


@pytest.mark.parametrize(("call", "wanted"), [
    ("expf(x[0])", np.float32(math.exp(0.5))), ("fmaxf(x[0], x[1])", np.float32(0.5)), ("-INFINITY", -math.inf),
    ("fabsf(x[1])", np.float32(2.25)), ("(float)(int)x[1]", np.float32(-2)),
    ("x[0] / 3.0f", np.float32(0.5) / np.float32(3))])
def test_functions_and_roundings_are_those_of_single_floats(call: str, wanted: float) -> None:
    found = run(f"void f(float *y, const float *x) {{ y[0] = {call}; }}", y=np.zeros(1, np.float32),
                x=np.array([0.5, -2.25], np.float32))
    assert found["y"][0] == wanted


@pytest.mark.parametrize(("text", "why"), [
    ("void f(int32_t *y) { y[0] = 1; } void g(int32_t *y) { y[0] = 2; }", "a described function is one C function"),
    ("void f(int32_t *y) { int32_t *p = y; p[0] = 1; }", "such a local is not evaluated"),
    ("void f(int32_t **y) { y[0][0] = 1; }", "a pointer to pointers is not evaluated"),
    ("void f(int32_t *y) { int32_t a[2] = {1, 2}; y[0] = a[1]; }", "such a local is not evaluated")])
def test_what_is_not_evaluated_is_refused_in_words(text: str, why: str) -> None:
    with pytest.raises(PolyschedError, match=why):
        emulated_function(Variant(text))


def test_what_c_leaves_undefined_is_no_value() -> None:
    text = "void f(int32_t *y, const int32_t *x) { y[0] = x[0] / x[1]; }"
    with pytest.raises(PolyschedError):
        run(text, y=np.zeros(1, np.int32), x=np.array([1, 0], np.int32))
    unset = "void f(int32_t *y) { int32_t t[2]; y[0] = t[1]; }"
    with pytest.raises(PolyschedError):
        run(unset, y=np.zeros(1, np.int32))
