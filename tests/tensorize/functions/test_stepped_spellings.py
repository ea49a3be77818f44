"""BLAS functions in whole steps, without a loop for the rest: the call gets the size rounded up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched.tensorize.registry import FUNCTIONS
from tests.tensorize.functions.replaced import decided, openblas, region, replaced, same_results

VECTORS = "int n, int m, double a, double *x, double *y, double s[1]"
MATRICES = "int n, int m, double a, double *x, double *y, double A[][300], double C[][300]"
SOLVED = "int n, int m, double L[][300], double B[][300]"


def stepped(statement: str, end: str = "n", counter: str = "i", by: int = 16) -> str:
    first = counter * 2
    return (f"for (int {first} = 0; {first} < {end}; {first} += {by}) "
            f"for (int {counter} = {first}; {counter} < {first} + {by}; {counter}++) {{ {statement} }}")


def written_out(statement: str, end: str = "n", counter: str = "i", by: int = 4, first: str = "0") -> str:
    several = " ".join(statement.replace("@", f"{counter} + {ahead}") for ahead in range(by))
    return f"for (int {counter} = {first}; {counter} < {end}; {counter} += {by}) {{ {several} }}"


CASES = {
    "dot in steps": (VECTORS, stepped("s[0] += x[i] * y[i];"), "cblas_ddot"),
    "axpy written out in steps": (VECTORS, "for (int j = 0; j < n; j += 16) "
                                  + written_out("y[@] += a * x[@];", "j + 16", first="j"), "cblas_daxpy"),
    "axpy, nine of every eight": (VECTORS, "for (int j = 0; j < n; j += 8) for (int i = j; i < j + 9; i++) "
                                  "y[i] += a * x[i];", "cblas_daxpy"),   # a call per step
    "ger in tiles": (MATRICES, "for (int ii = 0; ii < n; ii += 16) for (int jj = 0; jj < m; jj += 8) "
                     "for (int i = ii; i < ii + 16; i++) for (int j = jj; j < jj + 8; j++) "
                     "A[i][j] += a * x[i] * y[j];", "cblas_dger"),
}
SIZES = ({"n": 33, "m": 9}, {"n": 16, "m": 3}, {"n": 1, "m": 1}, {"n": 0, "m": 0}, {"n": -20, "m": -3})


def values() -> dict[str, np.ndarray]:
    """Whole numbers with room for the last step, so that sums are exact in any order."""
    chooser = np.random.default_rng(3)
    shapes = {"x": (96,), "y": (96,), "s": (1,), "A": (48, 300), "C": (1,)}
    found = {n: chooser.integers(-4, 5, shape).astype(np.float64) for n, shape in shapes.items()}
    return found | {"a": np.array(3.0)}


@pytest.mark.parametrize("name", CASES)
def test_whole_steps_become_one_call(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At sizes that are no whole number of steps, that leave no iteration, and that are negative."""
    parameters, body, function = CASES[name]
    text, linked = region(parameters, body), openblas(function)
    other, reasons = replaced(text, FUNCTIONS[function], monkeypatch)
    assert other.count(f"{function}(") == 1, (other, reasons)
    for sizes in SIZES:
        arrays = values()
        if sizes["n"] <= 0:
            with pytest.raises(AssertionError, match="changes nothing"):
                same_results(text, other, arrays, sizes, tmp_path, linked)
        else:
            same_results(text, other, arrays, sizes, tmp_path, linked)


@pytest.mark.parametrize("body", [
    "for (int i = m; i < n; i++) y[i] += a * x[i];",
    "for (int j = m; j < n; j += 8) for (int i = j; i < j + 8; i++) y[i] += a * x[i];"], ids=["by ones", "in steps"])
def test_loops_from_another_size_on_become_one_call(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The length is a difference of two sizes, which is not computed as an `int`: `m + 2147483647 >= n` would wrap."""
    text, linked = region(VECTORS, body), openblas("cblas_daxpy")
    other, reasons = replaced(text, FUNCTIONS["cblas_daxpy"], monkeypatch)
    assert "(long)m + 2147483" in other.split("cblas_daxpy(")[0], (other, reasons)
    assert "= 131, m = 67" in " ".join(reasons)   # a size at which the call is made is looked for
    for sizes in ({"n": 33, "m": 9}, {"n": 16, "m": 0}, {"n": 2, "m": 1}):
        same_results(text, other, values(), sizes, tmp_path, linked)
    for sizes in ({"n": 9, "m": 9}, {"n": -2147483647, "m": 2147483647}):
        with pytest.raises(AssertionError, match="changes nothing"):
            same_results(text, other, values(), sizes, tmp_path, linked)


MATCHED = {   # not run, since making the ordinary code beside them takes long
    "dot in partial sums": (VECTORS, "double t = 0, u = 0; for (int i = 0; i < n; i += 2) { t += x[i] * y[i]; "
                            "u += x[i + 1] * y[i + 1]; } s[0] += t + u;", "cblas_ddot"),
    "dot written out": (VECTORS, written_out("s[0] += x[@] * y[@];"), "cblas_ddot"),
    "dot from a start inside": (VECTORS, "for (int i = 0; i < n; i++) s[0] = (i == 0 ? 0 : s[0]) + x[i] * y[i];",
                                "cblas_ddot"),
    "axpy in steps": (VECTORS, stepped("y[i] += a * x[i];"), "cblas_daxpy"),
    "axpy written out": (VECTORS, written_out("y[@] += a * x[@];"), "cblas_daxpy"),
    "scal written out": (VECTORS, written_out("x[@] *= a;"), "cblas_dscal"),
    "syrk, rows in steps": (MATRICES, stepped("for (int j = 0; j <= i; j++) for (int k = 0; k < m; k++) "
                                              "C[i][j] += a * A[i][k] * A[j][k];"), "cblas_dsyrk"),
    "syrk, upper, sums in steps": (MATRICES, "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) "
                                   + stepped("C[i][j] += a * A[i][k] * A[j][k];", "m", "k"), "cblas_dsyrk"),
    "syrk, sums written out": (MATRICES, "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) "
                               + written_out("C[i][j] += a * A[i][@] * A[j][@];", "m", "k"), "cblas_dsyrk"),
    "trsm, rows in steps": (SOLVED, stepped(
        "for (int j = 0; j < m; j++) { for (int k = 0; k < i; k++) B[i][j] -= L[i][k] * B[k][j]; "
        "B[i][j] /= L[i][i]; }"), "cblas_dtrsm"),
    "trsm, columns in steps outside": (SOLVED, "for (int jj = 0; jj < m; jj += 8) for (int i = 0; i < n; i++) "
                                       "for (int j = jj; j < jj + 8; j++) { for (int k = 0; k < i; k++) "
                                       "B[i][j] -= L[i][k] * B[k][j]; B[i][j] /= L[i][i]; }", "cblas_dtrsm"),
}


@pytest.mark.parametrize("name", MATCHED)
def test_all_of_it_is_one_call(name: str) -> None:
    parameters, body, function = MATCHED[name]
    made = decided(region(parameters, body), FUNCTIONS[function])
    assert made.program is not None, made.reasons
    assert made.program.match.depth == 0


MISSES = {   # one thing changed in a spelling that matches
    "steps that leave one out": (VECTORS, "for (int j = 0; j < n; j += 8) for (int i = j; i < j + 7; i++) "
                                 "y[i] += a * x[i];", "cblas_daxpy"),
    "steps that overlap": (VECTORS, "for (int j = 0; j < n; j += 8) for (int i = j; i < j + 9; i++) "
                           "y[i] += a * x[i];", "cblas_daxpy"),
    "written out with one twice": (VECTORS, "for (int i = 0; i < n; i += 2) { s[0] += x[i] * y[i]; "
                                   "s[0] += x[i] * y[i + 1]; }", "cblas_ddot"),
    "a start at each step": (VECTORS, "for (int i = 0; i < n; i++) s[0] = (i % 4 == 0 ? 0 : s[0]) + x[i] * y[i];",
                             "cblas_ddot"),
}


@pytest.mark.parametrize("name", MISSES)
def test_near_misses_are_no_whole_call(name: str) -> None:
    parameters, body, function = MISSES[name]
    made = decided(region(parameters, body), FUNCTIONS[function])
    assert made.program is None or made.program.parts or made.program.match.depth


def test_rows_that_are_too_short_for_the_last_step_take_the_ordinary_code(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = "int n, int m, double a, double x[n], double y[m], double A[n][m]"
    text = region(parameters, stepped("A[r][i] += a * x[r] * y[i];", "m").replace(
        "for", "for (int r = 0; r < n; r++) for", 1))
    other, reasons = replaced(text, FUNCTIONS["cblas_dger"], monkeypatch)
    assert "(long)m % 16 == 0" in other.split("cblas_dger(")[0], reasons
