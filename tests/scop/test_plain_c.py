"""Affine functions and conditions on parameters as C that needs no macros, run against isl."""

from __future__ import annotations

import ctypes
from pathlib import Path

import islpy as isl
import pytest

from polysched.scop.plain_c import c_condition, c_expression, number_in_c
from tests.emit_c.compiled import load

EVERYWHERE = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n, m] -> { : }")


@pytest.mark.parametrize("text", [
    "[n, m] -> { [2n - m + 3] }", "[n, m] -> { [floor(n/4)] }", "[n, m] -> { [n mod 3] }",
    "[n, m] -> { [n] : n >= m; [m] : n < m }", "[n, m] -> { [floor((n - m)/2) + 7] }", "[n, m] -> { [-5] }"])
def test_functions_have_their_values(text: str, tmp_path: Path) -> None:
    function = isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, text)
    f = load(f"long f(long n, long m) {{ return {c_expression(function, EVERYWHERE)}; }}\n", tmp_path, strict=False).f
    f.restype = ctypes.c_long
    for n in range(-5, 6):
        for m in range(-3, 4):
            at = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[n, m] -> {{ : n = {n} and m = {m} }}")
            expected = function.intersect_params(at).max_val().to_python()
            assert f(ctypes.c_long(n), ctypes.c_long(m)) == expected, (n, m)


@pytest.mark.parametrize("text", ["[n] -> { : n >= 3 }", "[n] -> { : n mod 2 = 0 }", "[n] -> { : n < 0 or n > 3 }",
                                  "[n] -> { : 2 <= n <= 4 }"])
def test_conditions_hold_where_they_do(text: str, tmp_path: Path) -> None:
    condition = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
    f = load(f"int f(long n) {{ return {c_condition(condition)}; }}\n", tmp_path, strict=False).f
    for n in range(-5, 8):
        at = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[n] -> {{ : n = {n} }}")
        assert bool(f(ctypes.c_long(n))) is not condition.intersect(at).is_empty(), n


@pytest.mark.parametrize("value", [0, -7, 2**63 - 1, 2**63, -2**63, 2**64 + 5, -(2**70)])
def test_numbers_of_any_size(value: int, tmp_path: Path) -> None:
    rest = abs(value) % 1000003 * (1 if value >= 0 else -1)
    text = f"int f(void) {{ return (__int128)({number_in_c(value)}) % 1000003 == {rest}; }}\n"
    assert load(text, tmp_path, strict=False).f() == 1


def test_no_parentheses_around_the_whole() -> None:
    function = isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { [n + 1] }")
    context = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : }")
    assert c_expression(function, context) == "n + 1"
