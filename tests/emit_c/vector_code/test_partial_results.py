"""Partial results in lanes: each begins with what changes nothing, and they are combined pair by pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.emit_c.vector_code.partial_results import better, other_bits
from polysched.scop.dtypes import CLONGDOUBLE, COMPLEX64, COMPLEX128, FLOAT32, INT16, LONGDOUBLE
from tests.emit_c.printers import printed, printer_of
from tests.scop.c_frontend.compiled_c import compile_library

TILE = ("with register_tile(loops=(loop(i, 0, n, {count}), ), edges=(edge(v, i, {count}, simd=True), ), "
        "partials=(Partial(array='{array}', operator='{operator}', subscripts=(linear(0), )), )):\n    S0(v)")


def reduced(statement: str, array: str, operator: str, count: int = 8) -> list[str]:
    made = printer_of(f"for (int i = 0; i < n; i++)\n  {statement}", reassociate=True)
    return printed(made, TILE.format(array=array, operator=operator, count=count)).splitlines()


@pytest.mark.parametrize(("statement", "array", "operator", "neutral"), [
    ("y[0] += A[0][i];", "y", "sum", "(float)-0.0 - (polysched_f32x4){0}"),      # a sum of negative zeros stays one
    ("y[0] *= A[0][i];", "y", "product", "(float)1 - (polysched_f32x4){0}"),
    ("at[0] += at[i];", "at", "sum", "(polysched_u32x4){0}"),                    # parts may leave the range of int
    ("at[0] &= at[i];", "at", "and", "~(polysched_i32x4){0}"),
    ("at[0] |= at[i];", "at", "or", "(polysched_i32x4){0}"),
    ("at[0] ^= at[i];", "at", "xor", "(polysched_i32x4){0}"),
    ("at[0] = at[i] > at[0] ? at[i] : at[0];", "at", "max", "at[0] - (polysched_i32x4){0}"),
    ("y[0] = A[0][i] < y[0] || A[0][i] != A[0][i] ? A[0][i] : y[0];", "y", "minimum", "y[0] - (polysched_f32x4){0}"),
])
def test_what_changes_nothing(statement: str, array: str, operator: str, neutral: str) -> None:
    statement = statement.replace("at[i]", "c[i]") if array == "at" else statement
    lines = reduced(statement, array, operator)
    begun = [line for line in lines if f"{array}_part_" in line and "{0}" in line]
    assert [line.split(" = ", 1)[1].rstrip(";") for line in begun] == [neutral, neutral], lines


def test_vectors_then_lanes_are_added_pair_by_pair() -> None:
    lines = reduced("y[0] += A[0][i];", "y", "sum", 16)
    assert lines[-4:] == [
        "y_part_0 = y_part_0 + y_part_1;", "y_part_2 = y_part_2 + y_part_3;", "y_part_0 = y_part_0 + y_part_2;",
        "y[0] += ((y_part_0[0] + y_part_0[1]) + (y_part_0[2] + y_part_0[3]));"]


def test_a_largest_value_is_compared_lane_by_lane() -> None:
    lines = reduced("at[0] = c[i] > at[0] ? c[i] : at[0];", "at", "max")
    assert lines[-2:] == ["for (int lane = 0; lane < 4; lane++)",
                          "  at[0] = at_part_0[lane] > at[0] ? at_part_0[lane] : at[0];"]


def test_a_maximum_is_nan_where_a_lane_is() -> None:
    lines = reduced("y[0] = A[0][i] > y[0] || A[0][i] != A[0][i] ? A[0][i] : y[0];", "y", "maximum", 8)
    assert lines[-2:] == ["for (int lane = 0; lane < 4; lane++)",
                          "  y[0] = y_part_0[lane] > y[0] || y_part_0[lane] != y_part_0[lane] ? y_part_0[lane] : y[0];"]
    assert lines[-3] == "y_part_0 = polysched_maximum_f32(polysched_f32x4, polysched_i32x4, y_part_1, y_part_0);"


def test_vectors_without_an_instruction_are_compared_with_themselves() -> None:
    assert better("minimum", "a", "b", either="|") == "(a < b) | (a != a)"
    assert better("max", "a", "b", either="|") == "a > b"


def test_a_product_of_short_integers_is_unsigned() -> None:
    made = printer_of("for (int i = 0; i < n; i++)\n  s[0] *= t[i];",
                      head="void f(int n, unsigned short s[1], unsigned short t[n])\n{\n#pragma scop\n")
    text = printed(made, TILE.format(array="s", operator="product", count=8))
    assert "(unsigned int)s_part_0[0]" in text, "65535 * 65535 is no int"


def test_a_product_of_short_integers_that_may_be_none_is_unsigned() -> None:
    made = printer_of("for (int i = 0; i < n; i++)\n  if (c[i]) s[0] *= t[i];",
                      head="void f(int n, unsigned short s[1], unsigned short t[n], short c[n])\n{\n#pragma scop\n")
    lines = printed(made, TILE.format(array="s", operator="product", count=8)).splitlines()
    assert lines[-1] == "if (s_change != 1) s[0] *= (unsigned int)s_change;", lines


def test_other_bits(tmp_path: Path) -> None:
    """The sign of a zero counts, and what is no number is never known to be the same."""
    pairs = [("1", "1"), ("1", "2"), ("-0.0", "0.0"), ("0.0", "-0.0"), ("-2", "-2")]
    wanted = {INT16: [0, 1, 0, 0, 0], **{dtype: [0, 1, 1, 1, 0] for dtype in (
        FLOAT32, LONGDOUBLE, COMPLEX64, COMPLEX128, CLONGDOUBLE)}}
    text = "".join(f"int {dtype.name}_{n}(void) {{ {dtype.c_name} a = {new}; return {other_bits('a', old, dtype)}; }}\n"
                   for dtype in wanted for n, (new, old) in enumerate(pairs))
    nan = f"int nan(void) {{ long double a = __builtin_nanl(\"\"); return {other_bits('a', '1', LONGDOUBLE)}; }}\n"
    library = compile_library(text + nan, "bits", tmp_path)
    assert {dtype: [getattr(library, f"{dtype.name}_{n}")() for n in range(len(pairs))] for dtype in wanted} == wanted
    assert library.nan() == 1
