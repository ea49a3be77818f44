"""BLAS functions written out by four, five and eight with the rest in a loop of its own: matched, called, equal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.tensorize.functions.function_match import match_function
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.registry import FUNCTIONS
from tests.tensorize.functions.replaced import decided, openblas, region, replaced, same_results, whole_numbers

VECTORS = "int n, int m, double a, double x[n], double y[n], double s[1]"
MATRICES = "int n, int m, double x[n], double y[m], double A[n][m], double C[n][n]"
SOLVED = "int n, int m, double L[n][n], double B[n][m]"


def written_out(statement: str, by: int, end: str = "n", counter: str = "i") -> str:
    """A loop over a statement at `@`, several at a time, and what is left."""
    several = " ".join(statement.replace("@", f"{counter} + {ahead}") for ahead in range(by))
    one = statement.replace("@", counter)
    return (f"int {counter}; for ({counter} = 0; {counter} + {by - 1} < {end}; {counter} += {by}) {{ {several} }} "
            f"for (; {counter} < {end}; {counter}++) {{ {one} }}")


def rest_first(statement: str, by: int) -> str:
    """As the reference BLAS writes it: what is left comes first."""
    several = " ".join(statement.replace("@", f"i + {ahead}") for ahead in range(by))
    return (f"for (int i = 0; i < n % {by}; i++) {{ {statement.replace('@', 'i')} }} "
            f"for (int i = n % {by}; i < n; i += {by}) {{ {several} }}")


def products(by: int) -> str:
    return " + ".join(f"x[i + {ahead}] * y[i + {ahead}]" for ahead in range(by))


CASES = {
    "dot by 4": (VECTORS, written_out("s[0] += x[@] * y[@];", 4), "cblas_ddot"),
    "dot of a local by 8": (VECTORS, f"double t = 0; {written_out('t += x[@] * y[@];', 8)} s[0] = t + 1;",
                            "cblas_ddot"),
    "dot, one sum of 5 products": (
        VECTORS, "double t = 0; for (int i = 0; i < n % 5; i++) t += x[i] * y[i]; "
                 f"for (int i = n % 5; i < n; i += 5) t = t + {products(5)}; s[0] = t;", "cblas_ddot"),
    "dot, 4 products added first": (
        VECTORS, f"double t = 0; int i; for (i = 0; i + 3 < n; i += 4) t += {products(4)}; "
                 "for (; i < n; i++) t += x[i] * y[i]; s[0] = t;", "cblas_ddot"),
    "dot of partial sums": (
        VECTORS, "double t = 0, u = 0, v = 0; int i; for (i = 0; i + 2 < n; i += 3) { t += x[i] * y[i]; "
                 "u += x[i + 1] * y[i + 1]; v += x[i + 2] * y[i + 2]; } for (; i < n; i++) t += x[i] * y[i]; "
                 "s[0] = t + u + v;", "cblas_ddot"),
    "axpy by 4": (VECTORS, written_out("y[@] += a * x[@];", 4), "cblas_daxpy"),
    "axpy by 8, the rest first": (VECTORS, rest_first("y[@] = y[@] + a * x[@];", 8), "cblas_daxpy"),
    "axpy, of twice as many": ("int n, int m, double a, double x[2 * m], double y[2 * m]",
                               "for (int i = 0; i < 2 * m; i += 2) { y[i] += a * x[i]; y[i + 1] += a * x[i + 1]; }",
                               "cblas_daxpy"),
    "scal by 5": (VECTORS, written_out("x[@] *= a;", 5), "cblas_dscal"),
    "scal by 5, the rest first": (VECTORS, rest_first("x[@] = a * x[@];", 5), "cblas_dscal"),
}


def values(text: str, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Whole numbers, and something for what the text does not use."""
    found = {name: np.zeros(1) for name in ("x", "y", "s", "A", "C", "L", "B")} | {"a": np.array(3.0)}
    return found | whole_numbers(from_c_text(text), sizes)


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_out_becomes_one_call(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters, body, function = CASES[name]
    text, linked = region(parameters, body), openblas(function)
    other, reasons = replaced(text, FUNCTIONS[function], monkeypatch)
    assert other.count(f"{function}(") == 1, (other, reasons)
    for sizes in ({"n": 11, "m": 9}, {"n": 3, "m": 2}):
        arrays = values(text, sizes)
        same_results(text, other, arrays, sizes, tmp_path, linked)


MATCHED = {   # making the ordinary code beside these takes long
    "ger, rows by 4": (MATRICES, written_out("for (int j = 0; j < m; j++) A[@][j] += x[@] * y[j];", 4), "cblas_dger"),
    "ger, columns by 5": (
        MATRICES, f"for (int r = 0; r < n; r++) {{ {written_out('A[r][@] += x[r] * y[@];', 5, 'm')} }}", "cblas_dger"),
    "syrk, sums by 4": (
        MATRICES, "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) { "
        f"{written_out('C[i][j] += A[i][@] * A[j][@];', 4, 'm', 'k')} }}", "cblas_dsyrk"),
    "trsm, sums by 4": (
        SOLVED, "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { "
        f"{written_out('B[i][j] -= L[i][@] * B[@][j];', 4, 'i', 'k')} B[i][j] /= L[i][i]; }}", "cblas_dtrsm"),
}


@pytest.mark.parametrize("name", MATCHED)
def test_matrices_written_out_match_as_a_whole(name: str) -> None:
    parameters, body, function = MATCHED[name]
    made = decided(region(parameters, body), FUNCTIONS[function])
    assert made.program is not None, made.reasons
    assert made.program.parts == ()


MISSES = {   # one thing changed in a spelling that matches
    "the rest starts one later": (VECTORS, "int i; for (i = 0; i + 3 < n; i += 4) { y[i] += a * x[i]; "
                                  "y[i + 1] += a * x[i + 1]; y[i + 2] += a * x[i + 2]; y[i + 3] += a * x[i + 3]; } "
                                  "for (i = i + 1; i < n; i++) y[i] += a * x[i];", "cblas_daxpy"),
    "one product of another element": (VECTORS, "double t = 0; for (int i = 0; i < 4 * m; i += 4) t += x[i] * y[i] + "
                                       "x[i + 1] * y[i + 1] + x[i + 2] * y[i + 3] + x[i + 3] * y[i + 3]; s[0] = t;",
                                       "cblas_ddot"),
    "one product subtracted": (VECTORS, "double t = 0; for (int i = 0; i < 2 * m; i += 2) t += x[i] * y[i] - "
                               "x[i + 1] * y[i + 1]; s[0] = t;", "cblas_ddot"),
    "partial sums subtracted": (VECTORS, "double t = 0, u = 0; for (int i = 0; i < 2 * m; i += 2) { t += x[i] * y[i]; "
                                "u += x[i + 1] * y[i + 1]; } s[0] = t - u;", "cblas_ddot"),
    "another factor of every second": (VECTORS, "for (int i = 0; i < 2 * m; i += 2) { y[i] += a * x[i]; "
                                       "y[i + 1] += 2 * a * x[i + 1]; }", "cblas_daxpy"),
}


@pytest.mark.parametrize("name", MISSES)
def test_near_misses_are_no_whole_call(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever part of it becomes a call, the results are the same."""
    parameters, body, function = MISSES[name]
    text = region(parameters, body)
    other, _ = replaced(text, FUNCTIONS[function], monkeypatch)
    sizes = {"n": 11, "m": 2}
    same_results(text, other, values(text, sizes), sizes, tmp_path, openblas(function))


def test_partial_sums_of_floats_need_leave_to_change_their_order() -> None:
    parameters, body, function = CASES["dot of partial sums"]
    made = decided(region(parameters, body), FUNCTIONS[function], Numerics(reassociate=False))
    assert made.program is None
    assert "reorders float additions" in made.reasons[0]


def test_other_sums_beside_a_call_keep_their_order() -> None:
    """A program in another order is taken only where all that changed is computed by the call."""
    body = ("double t = 0, u = 0; for (int i = 0; i < 2 * m; i += 2) { t += x[i] * x[i] * y[i]; "
            "u += x[i + 1] * x[i + 1] * y[i + 1]; } s[0] = t + u; double v = 0; "
            "for (int i = 0; i < 2 * m; i += 2) v += x[i] * y[i] + x[i + 1] * y[i + 1]; s[0] += v;")
    found = match_function(analysed(from_c_text(region(VECTORS, body)), for_instructions=True).dependences,
                           FUNCTIONS["cblas_ddot"])
    assert not found.matches
