"""Partial results in lanes: each begins with what changes nothing, and they are combined pair by pair."""

from __future__ import annotations

import pytest

from polysched.emit_c.vector_code.partial_results import better
from tests.emit_c.printers import printed, printer_of

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
