"""Calls as C: pointers, numbers and loops around, run beside the statements that they stand for."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT8, INT32
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.functions.call_c import _constant_c, _value_c, calls_c, preamble
from polysched.tensorize.functions.function_match import FunctionMatch, match_function
from tests.tensorize.functions.replaced import region, same_results

AXPY = LibraryFunction(name="my_axpy", inline=True, variants=(Variant(
    "void my_axpy(int n, float a, const float *x, int incx, float *y, int incy) { for (int i = 0; i < n; i++) "
    "y[i * incy] = y[i * incy] + a * x[i * incx]; }", requires="incx >= 1 and incy >= 1"),))
PARAMETERS = "int m, int n, float s, float C[m][n], float A[m][n], float v[n], float w[m]"
TEXTS = {
    "a row": "for (int j = 0; j < n; j++) C[1][j] = C[1][j] + s * v[j];",
    "every row": "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) C[i][j] = C[i][j] + w[i] * v[j];",
    "a column": "for (int i = 0; i < m; i++) C[i][2] = C[i][2] + s * w[i];",
    "a part of rows": "for (int i = 1; i < m - 1; i++) for (int j = 2; j < n; j++) "
                       "C[i][j] = C[i][j] + s * A[i + 1][j - 2];",
    "a computed factor": "for (int j = 0; j < n; j++) v[j] = v[j] + (s * 0.5f) * C[0][j];"}
SIZES = {"m": 5, "n": 7}


def matched(body: str) -> FunctionMatch:
    dependences = analysed(from_c_text(region(PARAMETERS, body)), for_instructions=True).dependences
    found = match_function(dependences, AXPY)
    assert found.matches, found.reasons
    return found.matches[0]


@pytest.mark.parametrize("name", TEXTS)
def test_calls_leave_what_the_statements_leave(name: str, tmp_path: Path) -> None:
    made = calls_c(matched(TEXTS[name]))
    other = "#include <math.h>\n" + made.preamble + region(PARAMETERS, "\n".join(made.lines))
    chooser = np.random.default_rng(2)
    shapes = {"C": (5, 7), "A": (5, 7), "v": (7,), "w": (5,), "s": ()}
    arrays = {n: chooser.integers(-8, 8, s).astype(np.float32) for n, s in shapes.items()}
    same_results(region(PARAMETERS, TEXTS[name]), other, arrays, SIZES, tmp_path)


def test_loops_around_have_the_iterations_of_the_program() -> None:
    lines = calls_c(matched(TEXTS["a part of rows"])).lines
    assert lines[0] == "for (long polysched_call_0 = 1; polysched_call_0 <= m + -2; polysched_call_0++)" \
        or lines[0].startswith("for (long polysched_call_0 = 1; polysched_call_0 <= ")
    assert len(lines) == 2
    assert len(calls_c(matched(TEXTS["a row"])).lines) == 1


def test_another_function_of_the_same_parameters_may_be_called() -> None:
    found = matched(TEXTS["a row"])
    (own,), (other,) = calls_c(found).lines, calls_c(found, called="somebody").lines
    assert own.startswith("my_axpy(")
    assert other == own.replace("my_axpy", "somebody", 1)


def test_what_a_call_needs_at_the_top_of_the_file() -> None:
    found = matched(TEXTS["a row"])
    text = preamble(found)
    assert "static void my_axpy(" in text
    assert text.count("#ifndef POLYSCHED_FUNCTION_MY_AXPY") == 1


def load(reference: str) -> str:
    return f"A[{reference}]"


X = Load("0", FLOAT32)


@pytest.mark.parametrize(("e", "text"), [
    (X, "((float)A[0])"), (Literal("0.1f", 0.1, FLOAT32), "((float)0.1)"), (Unary("-", X, FLOAT32), "(-((float)A[0]))"),
    (Binary("*", X, X, FLOAT32), "(((float)A[0]) * ((float)A[0]))"), (Cast(X, INT8), "((signed char)((float)A[0]))"),
    (Select(X, X, X, FLOAT32), "(((float)A[0]) ? ((float)A[0]) : ((float)A[0]))"),
    (Call("fmaxf", (X, X), FLOAT32), "fmaxf(((float)A[0]), ((float)A[0]))"),
    (Literal("x", math.inf, FLOAT64), "((double)__builtin_inf())")])
def test_numbers_are_expressions_of_their_types(e: Expr, text: str) -> None:
    assert _value_c(e, load) == text


@pytest.mark.parametrize(("value", "text"), [
    (math.inf, "__builtin_inf()"), (-math.inf, "-__builtin_inf()"), (math.nan, '__builtin_nan("")'), (True, "1"),
    (7, "7"), (-0.0, "-0.0"), (1e300, "1e+300")])
def test_numbers_of_python_in_c(value: float, text: str) -> None:
    assert _constant_c(value) == text
    assert Literal("1", 1, INT32).value == 1
