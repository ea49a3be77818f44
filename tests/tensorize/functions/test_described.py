"""Functions that a user describes by their C code, and loops that compute them in other words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched.errors import PolyschedError
from polysched.scop import from_c_text
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.functions.described import assigned
from tests.tensorize.functions.replaced import decided, region, replaced, same_results

SOFTMAX = """
void my_softmax_row(float *y, const float *x, int n) {
    float big = x[0];
    for (int i = 1; i < n; i++)
        big = x[i] > big ? x[i] : big;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        y[i] = expf(x[i] - big);
        sum += y[i];
    }
    for (int i = 0; i < n; i++)
        y[i] = y[i] / sum;
}"""
FILTER = """
void my_filter(int rows, int columns, int lines, const uint8_t *image, uint8_t *out) {
    for (int i = 1; i < rows - 1; i++)
        for (int j = 1; j < columns - 1; j++) {
            int sum = image[(i - 1) * lines + j - 1] + 2 * image[(i - 1) * lines + j] + image[(i - 1) * lines + j + 1];
            sum += 2 * image[i * lines + j - 1] + 4 * image[i * lines + j] + 2 * image[i * lines + j + 1];
            sum += image[(i + 1) * lines + j - 1] + 2 * image[(i + 1) * lines + j] + image[(i + 1) * lines + j + 1];
            out[i * lines + j] = (sum + 8) >> 4;
        }
}"""
MOMENTS = """
void my_moments(int n, const double *x, double *mean, double *spread) {
    double s = 0, q = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    mean[0] = s / n;
    for (int i = 0; i < n; i++)
        q += (x[i] - mean[0]) * (x[i] - mean[0]);
    spread[0] = sqrt(q / n);
}"""

IAMAX = """
void my_iamax(int *at, const float *x, int n) {
    float best = fabsf(x[0]);
    *at = 0;
    for (int i = 1; i < n; i++)
        if (fabsf(x[i]) > best) {
            best = fabsf(x[i]);
            *at = i;
        }
}"""


def described(text: str) -> LibraryFunction:
    """A function whose code is put into the program."""
    return LibraryFunction(name="described", variants=(Variant(text),), inline=True)


ROWS = "int m, int n, float Y[m][n], float X[m][n]"
SAME = {   # description, parameters, body, and a part of the call
    "softmax, other names": (SOFTMAX, ROWS, """
for (int r = 0; r < m; r++) {
    float g = X[r][0];
    for (int c = 1; c < n; c++) g = g < X[r][c] ? X[r][c] : g;
    float t = 0;
    for (int c = 0; c < n; c++) { float e = expf(X[r][c] - g); Y[r][c] = e; t = e + t; }
    for (int c = 0; c < n; c++) Y[r][c] /= t;
}""", "my_softmax_row((((float *)&Y[0][0]) + ("),
    "softmax, expanded and in nests of their own": (
        SOFTMAX, "int m, int n, float Y[m][n], float X[m][n]", """
float g[64], t[64], e[64][128];
for (int r = 0; r < m; r++) g[r] = X[r][0];
for (int c = 1; c < n; c++) for (int r = 0; r < m; r++) g[r] = X[r][c] > g[r] ? X[r][c] : g[r];
for (int r = 0; r < m; r++) t[r] = 0;
for (int r = 0; r < m; r++) for (int c = 0; c < n; c++) e[r][c] = expf(X[r][c] - g[r]);
for (int c = 0; c < n; c++) for (int r = 0; r < m; r++) t[r] += e[r][c];
for (int r = 0; r < m; r++) for (int c = 0; c < n; c++) Y[r][c] = e[r][c] / t[r];
""", "my_softmax_row("),
    "softmax of one row": (SOFTMAX, "int n, float y[n], float x[n + 1]", """
float big = x[1], sum = 0;
for (int i = 1; i < n; i++) big = x[i + 1] > big ? x[i + 1] : big;
for (int i = 0; i < n; i++) { y[i] = expf(x[1 + i] - big); sum += y[i]; }
for (int i = 0; i < n; i++) y[i] = y[i] / sum;
""", "my_softmax_row((float *)&y[0], (((const float *)&x[0]) + (1)), (long)n);"),
    "filter": (FILTER, "int m, int n, uint8_t A[m][n], uint8_t B[m][n]", """
for (int c = 1; c < n - 1; c++)
    for (int r = 1; r < m - 1; r++) {
        int side = A[r][c - 1] + A[r][c + 1] + A[r - 1][c] + A[r + 1][c];
        int corner = A[r + 1][c - 1] + A[r - 1][c - 1] + A[r - 1][c + 1] + A[r + 1][c + 1];
        B[r][c] = (uint8_t)((4 * A[r][c] + side * 2 + corner + 8) >> 4);
    }""", "my_filter((long)m, (long)n, (long)n, (const uint8_t *)&A[0][0], (uint8_t *)&B[0][0]);"),
    "moments": (MOMENTS, "int m, int n, double X[m][n], double M[m], double D[m]", """
for (int r = 0; r < m; r++) {
    double a = 0;
    for (int i = 0; i < n; i++) a += X[r][i];
    M[r] = a / n;
    double b = 0;
    for (int i = 0; i < n; i++) { double d = X[r][i] - M[r]; b += d * d; }
    D[r] = sqrt(b / n);
}""", "my_moments((long)n, "),
    "the place of the largest magnitude": (IAMAX, "int m, int n, int P[m], float X[m][n]", """
for (int r = 0; r < m; r++) {
    float big = fabsf(X[r][0]);
    int place = 0;
    for (int c = 1; c < n; c++) { float v = fabsf(X[r][c]); if (big < v) { place = c; big = v; } }
    P[r] = place;
}""", "my_iamax("),
}


def test_a_part_of_an_image_is_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, parameters, body, _ = SAME["filter"]
    text = region(parameters, body.replace("int c = 1; c < n - 1", "int c = 3; c < n - 2"), "#include <stdint.h>\n")
    other, _ = replaced(text, described(FILTER), monkeypatch)
    assert "my_filter((long)m, (long)n - 3, (long)n, (((const uint8_t *)&A[0][0]) + (2))" in other
    sizes = {"m": 5, "n": 9}
    same_results(text, other, filled(text, sizes), sizes, tmp_path)


def filled(text: str, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Random values for the arrays that a text declares as parameters."""
    chooser = np.random.default_rng(11)
    found = {}
    for array in from_c_text(text).arrays:
        if array.storage.value == "argument":
            from polysched.scop.interpreter import extents_of
            shape = tuple(extents_of(array, sizes))
            found[array.name] = (chooser.integers(0, 256, shape) if array.dtype.is_integer
                                 else chooser.standard_normal(shape)).astype(array.dtype.name)
    return found


@pytest.mark.parametrize("name", SAME)
def test_loops_in_other_words_become_a_call(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    description, parameters, body, call = SAME[name]
    text = region(parameters, body, "#include <math.h>\n#include <stdint.h>\n")
    other, reasons = replaced(text, described(description), monkeypatch)
    assert call in other, reasons
    for sizes in ({"m": 3, "n": 7}, {"m": 5, "n": 12}):
        used = {n: v for n, v in sizes.items() if f"int {n}" in parameters}
        same_results(text, other, filled(text, used), used, tmp_path)


def test_the_function_itself_may_be_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, parameters, body, _ = SAME["softmax, other names"]
    text = region(parameters, body, "#include <math.h>\n")
    function = LibraryFunction(name="described", variants=(Variant(SOFTMAX),))
    other, _ = replaced(text, function, monkeypatch)
    assert "void my_softmax_row(float *y, const float *x, int n);" in other
    library = tmp_path / "mine.c"
    library.write_text(f"#include <math.h>\n{SOFTMAX}")
    sizes = {"m": 3, "n": 9}
    same_results(text, other, filled(text, sizes), sizes, tmp_path, (str(library),))


_ROW = SAME["softmax, other names"][2]
NEAR = {   # a changed program of the case, and why it is no call
    "one constant": (SOFTMAX, ROWS, _ROW.replace("float t = 0", "float t = 1"), "+ 1.0), the function (0.0 + expf("),
    "one subscript": (SOFTMAX, ROWS, _ROW.replace("X[r][c] - g", "X[r][0] - g"), "the program computes"),
    "one element less": (SOFTMAX, ROWS, _ROW.replace("int c = 1; c < n", "int c = 1; c < n - 1"),
                         "the program computes (expf((X[r, j0] - g[i1 = -2 + n]))"),
    "one type": (SOFTMAX, ROWS, _ROW.replace("float t = 0", "double t = 0"), "the program computes"),
    "one function": (SOFTMAX, ROWS, _ROW.replace("expf(", "exp2f("), "no statements of f compute described"),
    "one order": (SOFTMAX, ROWS, _ROW.replace("float e = expf(X[r][c] - g); Y[r][c] = e; t = e + t;",
                                             "float e = expf(X[r][c] - g); Y[r][c] = e / (t + 1); t = e + t;"),
                  "the program computes ((expf((X[r, j0] - g[i1 = -1 + n])) / (0.0 + 1)) / t[i1 = -1 + n])"),
    "a sum from the other end": (SOFTMAX, ROWS, _ROW.replace("for (int c = 0; c < n; c++) { float e",
                                                             "for (int c = n - 1; c >= 0; c--) { float e"),
                                 "/ t[i1 = 0]), the function"),
    "a comparison that keeps the last": (SOFTMAX, ROWS, _ROW.replace("g < X[r][c]", "g <= X[r][c]"),
                                         "the program computes"),
    "the sum is read behind": (SOFTMAX, f"{ROWS}, float T[m]", _ROW.replace("Y[r][c] /= t;", "Y[r][c] /= t; T[r] = t;"),
                               "it leaves values in"),
    "a value is read in between": (
        SOFTMAX, f"{ROWS}, float Z[m][n]", _ROW.replace("Y[r][c] = e;", "Y[r][c] = e; Z[r][c] = Y[r][c];"),
                                   "it leaves values in Y, Z, my_softmax_row in y"),
    "in place": (SOFTMAX, "int m, int n, float X[m][n]", _ROW.replace("Y[", "X["), "both lie in X"),
    "a weight": (FILTER, SAME["filter"][1], SAME["filter"][2].replace("side * 2", "side * 3"), "the program computes"),
    "a neighbour": (FILTER, SAME["filter"][1], SAME["filter"][2].replace("A[r + 1][c - 1]", "A[r + 1][c]"),
                    "the program computes"),
    "a triangle": (FILTER, SAME["filter"][1], SAME["filter"][2].replace("r < m - 1", "r < m - c"),
                   "the loops of S2 are not those of the function's S3"),
    "another type of elements": (FILTER, SAME["filter"][1].replace("uint8_t A", "int8_t A"), SAME["filter"][2],
                                 "the program computes cast((((((4 * A[j1, j0])"),
    "the place of the last largest one": (
        IAMAX, SAME["the place of the largest magnitude"][1],
        SAME["the place of the largest magnitude"][2].replace("big < v", "big <= v"), "the program computes"),
    "the place before": (
        IAMAX, SAME["the place of the largest magnitude"][1],
        SAME["the place of the largest magnitude"][2].replace("place = c", "place = c - 1"), "the program computes"),
    "the mean of one less": (MOMENTS, SAME["moments"][1], SAME["moments"][2].replace("a / n", "a / (n - 1)"),
                             "the program computes (M[i1 = -1 + n] / (n - 1)), the function (s[i0 = -1 + n] / n)"),
}


@pytest.mark.parametrize("name", NEAR)
def test_what_is_nearly_the_function_is_refused(name: str) -> None:
    description, parameters, body, why = NEAR[name]
    text = region(parameters, body, "#include <math.h>\n#include <stdint.h>\n")
    made = decided(text, described(description))
    assert made.program is None
    assert made.reasons
    assert why in " ".join(made.reasons), made.reasons


@pytest.mark.parametrize(("text", "why"), [
    ("void f(int n, float *x, float *y) { for (int i = 0; i < n; i++) if (x[i] > 3) { while (y[i] > 1) y[i] /= 2; } }",
     "assignments"),
    ("void f(int n, const int *p, float *x) { for (int i = 0; i < n; i++) x[p[i]] = 0; }", "depends on data"),
    ("void f(int n, const float *x) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; }", "writes something"),
    ("int n;", "one C function"),
])
def test_descriptions_that_cannot_be_read_are_refused(text: str, why: str) -> None:
    with pytest.raises(PolyschedError, match=why):
        assigned(Variant(text))


def test_no_call_is_made_with_a_number_that_nothing_says() -> None:
    told = "void my_scale(int n, int first, int second, float *y) { for (int i = 0; i < n; i++) y[i] = 3.0f * y[i]; }"
    text = region("int n, float y[n]", "for (int i = 0; i < n; i++) y[i] = 3.0f * y[i];")
    for call, why in (("my_scale({n}, 0, {second}, {y});", "nothing in the program says what second is"),
                      ("my_scale({n}, {first}, 0, {y});", "nothing in the program says what first is")):
        function = LibraryFunction(name="described", variants=(Variant(told, call=call),), inline=True)
        made = decided(text, function)
        assert made.program is None
        assert why in " ".join(made.reasons), made.reasons
