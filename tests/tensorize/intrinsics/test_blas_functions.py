"""Loops that are BLAS of levels 1, 2 and 3 in other words: matched, called, and equal bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.registry import FUNCTIONS
from tests.tensorize.functions.replaced import decided, openblas, region, replaced, same_results, whole_numbers

SIZES = {"n": 5, "m": 7}
CASES = {   # parameters, body, function, a part of the call
    "dot": ("int n, double x[n], double y[n], double s[1]", "for (int i = 0; i < n; i++) s[0] = s[0] + y[i] * x[i];",
            "cblas_ddot", "+= cblas_ddot((long)n, (const double *)&y[0], 1, (const double *)&x[0], 1);"),
    "dot into a scalar": (
        "int n, float x[n], float y[n], float s[1]",
        "float t = 0; for (int i = 0; i < n; i++) t += x[i] * y[i]; s[0] = t + 1;", "cblas_sdot", "cblas_sdot("),
    "dot of columns": (
        "int n, int m, double A[n][m], double B[n][2 * m], double s[m]",
        "for (int j = 0; j < m; j++) for (int i = 1; i < n; i++) s[j] += A[i][j] * B[i - 1][2 * j];",
        "cblas_ddot", "cblas_ddot((long)n - 1, ((("),
    "norm": ("int n, double x[n], double s[1]", "for (int i = 0; i < n; i++) s[0] += x[i] * x[i];", "cblas_ddot",
             "(const double *)&x[0], 1, (const double *)&x[0], 1);"),
    "axpy": ("int n, int m, double x[n][m], double y[m], double a[n]",
             "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[j] = 2 * a[i] * x[i][j] + y[j];", "cblas_daxpy",
             "cblas_daxpy((long)m, (((int)2) * ((double)a[(long)polysched_call_0])), "),
    "axpy, subtracted": ("int n, float x[n], float y[2 * n]", "for (int j = 0; j < n; j++) y[2 * j] -= x[j];",
                         "cblas_saxpy", "((float)-1.0), (const float *)&x[0], 1, (float *)&y[0], 2);"),
    "axpy, the column outside": (
        "int n, int m, double x[n], double y[n][m]",
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[j][i] += 3.0 * x[j];", "cblas_daxpy",
        "cblas_daxpy("),
    "scal": ("int n, int m, double x[n][m]", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] *= 2.5;",
             "cblas_dscal", "cblas_dscal((long)m, ((double)2.5), (((double *)&x[0][0]) + ("),
    "scal, negated": ("int n, float x[n]", "for (int i = 0; i < n; i++) x[i] = -x[i];", "cblas_sscal",
                      "((float)-1.0), (float *)&x[0], 1);"),
    "ger": ("int n, int m, double A[n][m], double x[n], double y[m]",
            "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) A[i][j] = A[i][j] + x[i] * y[j];", "cblas_dger",
            "cblas_dger(CblasRowMajor, (long)n, (long)m, ((double)1.0)"),
    "ger, inside a larger matrix": (
        "int n, int m, double A[n][m + 3], double x[n], double y[m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j + 2] -= x[i] * y[j];", "cblas_dger",
        "(((double *)&A[0][0]) + (2)), (long)m + 3);"),
    "syrk": ("int n, int m, double alpha, double beta, double A[n][m], double C[n][n]",
             "for (int i = 0; i < n; i++) { for (int j = 0; j <= i; j++) C[i][j] *= beta;"
             "for (int k = 0; k < m; k++) for (int j = 0; j <= i; j++) C[i][j] += alpha * A[i][k] * A[j][k]; }",
             "cblas_dsyrk", "CblasLower, CblasNoTrans, (long)n, (long)m, ((double)alpha)"),
    "syrk, upper and transposed": (
        "int n, int m, double A[m][n], double C[n][n]",
        "for (int k = 0; k < m; k++) for (int i = 0; i < n; i++) for (int j = i; j < n; j++)"
        " C[i][j] = C[i][j] - A[k][j] * A[k][i];", "cblas_dsyrk", "CblasUpper, CblasTrans"),
    "trsm": ("int n, int m, double L[n][n], double B[n][m]",
             "for (int i = 0; i < n; i++) { for (int k = 0; k < i; k++) for (int j = 0; j < m; j++)"
             " B[i][j] -= L[i][k] * B[k][j]; for (int j = 0; j < m; j++) B[i][j] /= L[i][i]; }",
             "cblas_dtrsm", "CblasLower, CblasNoTrans, CblasNonUnit"),
    "trsm, right-looking": (
        "int n, int m, double L[n][n], double B[n][m]",
        "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) B[i][j] /= L[i][i];"
        "for (int k = i + 1; k < n; k++) for (int j = 0; j < m; j++) B[k][j] -= L[k][i] * B[i][j]; }",
        "cblas_dtrsm", "CblasLower, CblasNoTrans, CblasNonUnit"),
    "trsm, backwards": (
        "int n, int m, double U[n][n], double B[n][m]",
        "for (int i = n - 1; i >= 0; i--) { for (int j = 0; j < m; j++) B[i][j] /= U[i][i];"
        "for (int k = 0; k < i; k++) for (int j = 0; j < m; j++) B[k][j] -= U[k][i] * B[i][j]; }",
        "cblas_dtrsm", "CblasUpper, CblasNoTrans, CblasNonUnit"),
    "trsm, ones on the diagonal": (
        "int n, int m, double L[n][n], double B[n][m]",
        "for (int i = 1; i < n; i++) for (int k = 0; k < i; k++) for (int j = 0; j < m; j++)"
        " B[i][j] -= L[i][k] * B[k][j];", "cblas_dtrsm", "CblasLower, CblasNoTrans, CblasUnit"),
    "trsm, of scaled right-hand sides": (
        "int n, int m, double L[n][n], double B[n][m]",
        "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) B[i][j] /= L[i][i];"
        "for (int k = 0; k < i; k++) for (int j = 0; j < m; j++) B[i][j] -= L[i][k] * B[k][j]; }",
        "cblas_dtrsm", "CblasLower, CblasNoTrans, CblasUnit"),
    "trsm, on the right": (
        "int n, int m, double U[n][n], double B[m][n]",
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { for (int k = 0; k < j; k++)"
        " B[i][j] -= B[i][k] * U[k][j]; B[i][j] /= U[j][j]; }",
        "cblas_dtrsm", "CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (long)m, (long)n, 1"),
    "trsm, on the right and transposed, with alpha": (
        "int n, int m, double alpha, double L[n][n], double B[m][n]",
        "for (int j = 0; j < n; j++) { for (int i = 0; i < m; i++) B[i][j] = alpha * B[i][j];"
        " for (int k = 0; k < j; k++) for (int i = 0; i < m; i++) B[i][j] -= L[j][k] * B[i][k];"
        " for (int i = 0; i < m; i++) B[i][j] = B[i][j] / L[j][j]; }",
        "cblas_dtrsm", "CblasRight, CblasLower, CblasTrans, CblasNonUnit, (long)m, (long)n, ((double)alpha)"),
    "trsm, on the right, backwards and with ones": (
        "int n, int m, double L[n][n], double B[m][n]",
        "for (int i = 0; i < m; i++) for (int j = n - 1; j >= 0; j--) for (int k = n - 1; k > j; k--)"
        " B[i][j] -= B[i][k] * L[k][j];", "cblas_dtrsm", "CblasRight, CblasLower, CblasNoTrans, CblasUnit"),
    "trsm, with alpha": (
        "int n, int m, double alpha, double L[n][n], double B[n][m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i][j] *= alpha;"
        "for (int i = 0; i < n; i++) { for (int k = 0; k < i; k++) for (int j = 0; j < m; j++)"
        " B[i][j] -= L[i][k] * B[k][j]; for (int j = 0; j < m; j++) B[i][j] /= L[i][i]; }",
        "cblas_dtrsm", "CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (long)n, (long)m, ((double)alpha)"),
    "trsv": ("int n, double L[n][n], double x[n]",
             "for (int i = 0; i < n; i++) { for (int k = 0; k < i; k++) x[i] -= L[i][k] * x[k]; x[i] /= L[i][i]; }",
             "cblas_dtrsv", "CblasLower, CblasNoTrans, CblasNonUnit, (long)n, (const double *)&L[0][0]"),
}


@pytest.mark.parametrize("name", CASES)
def test_loops_become_a_call_with_the_same_results(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters, body, function, call = CASES[name]
    text = region(parameters, body)
    linked = openblas(function)
    for sizes in (SIZES, {"n": 2, "m": 3}):
        used = {n: v for n, v in sizes.items() if f"int {n}" in parameters}
        other, reasons = replaced(text, FUNCTIONS[function], monkeypatch)
        assert call in other, (other, reasons)
        arrays = whole_numbers(from_c_text(text), used)
        for matrix in ({*arrays} & {"L", "U"}):
            np.fill_diagonal(arrays[matrix], [1, -2, 0.5, -1, 2][:used["n"]])
        same_results(text, other, arrays, used, tmp_path, linked)


REFUSED = {   # a near miss of the case of this name, and why
    "dot, another type": ("int n, float x[n], double y[n], double s[1]",
                          "for (int i = 0; i < n; i++) s[0] += x[i] * y[i];", "cblas_ddot", "the program computes"),
    "dot, another subscript": ("int n, double x[n], double y[n], double s[n]",
                               "for (int i = 0; i < n; i++) s[i] += x[i] * y[i];", "cblas_ddot",
                               "no statements depend on their own values"),
    "dot, backwards": ("int n, double x[n], double y[n], double s[1]",
                       "for (int i = 0; i < n; i++) s[0] += x[n - 1 - i] * y[i];", "cblas_ddot", "incx >= 1"),
    "dot, standing still": ("int n, double x[n], double y[n], double s[1]",
                            "for (int i = 0; i < n; i++) s[0] += x[0] * y[i];", "cblas_ddot",
                            "cblas_ddot needs incx >= 1 and incy >= 1, which does not hold"),
    "axpy, a factor that changes": ("int n, double a[n], double x[n], double y[n]",
                                    "for (int i = 0; i < n; i++) y[i] += a[i] * x[i];", "cblas_daxpy",
                                    "the program computes"),
    "axpy in one array": ("int n, double x[n]", "for (int i = 0; i < n / 2; i++) x[i] += 2.0 * x[i + n / 2];",
                          "cblas_daxpy", "the program computes (x[j0] + (2.0 * x[o0]))"),
    "axpy, a window": ("int n, double x[n]", "for (int i = 1; i < n; i++) x[i] += 2.0 * x[i - 1];", "cblas_daxpy",
                       "1 statement depends on its own values"),
    "scal, another constant": ("int n, double x[n]", "for (int i = 0; i < n; i++) x[i] = 2.0 * x[i] + 1.0;",
                               "cblas_dscal", "the program computes"),
    "syrk, two matrices": ("int n, int m, double A[n][m], double B[n][m], double C[n][n]",
                           "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < m; k++)"
                           " C[i][j] += A[i][k] * B[j][k];", "cblas_dsyrk", "the program computes"),
    "syrk, without the diagonal": ("int n, int m, double A[n][m], double C[n][n]",
                                   "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < m; k++)"
                                   " C[i][j] += A[i][k] * A[j][k];", "cblas_dsyrk",
        "the program computes (C[i0 = j0, i1 = j1, i2 = -1 + j2] + (A[j0, j2] * A[j1, j2]))"),
    "trsm, scaled behind the solution": (
        "int n, int m, double L[n][n], double B[n][m]",
        "for (int i = 0; i < n; i++) { for (int k = 0; k < i; k++) for (int j = 0; j < m; j++)"
        " B[i][j] -= L[i][k] * B[k][j]; for (int j = 0; j < m; j++) B[i][j] = 2.0 * B[i][j] / L[i][0]; }",
        "cblas_dtrsm", "the program computes ((2.0 * B[i0 = j0, i1 = -1 + j0, i2 = j1]) / L[j0, 0])"),
    "trsm, another column": ("int n, int m, double L[n][n], double B[n][m]",
                             "for (int i = 0; i < n; i++) { for (int k = 0; k < i; k++) for (int j = 0; j < m; j++)"
                             " B[i][j] -= L[i][k] * B[k][j]; for (int j = 0; j < m; j++) B[i][j] /= L[i][0]; }",
                             "cblas_dtrsm",
                             "the program computes (B[i0 = j0, i1 = -1 + j0, i2 = j1] / L[j0, 0]), the function"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_nearly_the_function_is_refused(name: str) -> None:
    parameters, body, function, why = REFUSED[name]
    made = decided(region(parameters, body), FUNCTIONS[function])
    assert made.program is None
    assert made.reasons
    assert why in " ".join(made.reasons), made.reasons


def test_a_library_that_adds_in_any_order_needs_leave() -> None:
    parameters, body, function, _ = CASES["dot"]
    for numerics in (Numerics(reassociate=False), Numerics(contract=False), Numerics(finite=False)):
        made = decided(region(parameters, body), FUNCTIONS[function], numerics)
        assert made.program is None
        assert "reorders float additions" in made.reasons[0]


def test_a_leading_dimension_that_may_be_too_short_is_refused() -> None:
    text = region("int n, int m, int lda, double *A, double x[n], double y[m]",
                  "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i * lda + j] += x[i] * y[j];")
    made = decided(text, FUNCTIONS["cblas_dger"])
    assert made.program is not None or "lda" in made.reasons[0]


def test_statements_that_others_tie_are_refused_with_the_conflict() -> None:
    text = region("int n, double x[n + 1], double y[n]",
                  "for (int i = 0; i < n; i++) { y[i] += 2.0 * x[i]; x[i + 1] = 3.0 * y[i]; }")
    made = decided(text, FUNCTIONS["cblas_daxpy"])
    assert made.program is None
    assert "S0 has to stay behind S1: both access x" in made.reasons[0], made.reasons
