"""Parentheses: only where C needs them, and everywhere it does."""

from __future__ import annotations

import pytest

from polysched.emit_c.scalar_code.c_text import CText, Level, binary, call, cast, conditional, other_lanes, unary

A, B, C = CText("a"), CText("b"), CText("c")


@pytest.mark.parametrize(("text", "expected"), [
    (binary("+", binary("+", A, B), C), "a + b + c"),
    (binary("+", A, binary("+", B, C)), "a + (b + c)"),
    (binary("-", A, binary("-", B, C)), "a - (b - c)"),
    (binary("*", binary("+", A, B), C), "(a + b) * c"),
    (binary("/", A, binary("*", B, C)), "a / (b * c)"),
    (binary("<", binary("+", A, B), C), "a + b < c"),
    (binary("==", binary("<", A, B), C), "(a < b) == c"),
    (binary("&", A, binary("==", B, C)), "a & (b == c)"),
    (binary("<<", A, binary("+", B, C)), "a << (b + c)"),
    (binary("||", binary("&&", A, B), C), "(a && b) || c"),
    (binary("&&", binary("||", A, B), C), "(a || b) && c"),
    (unary("-", unary("-", A)), "-(-a)"),
    (unary("-", CText("-1.0", Level.UNARY)), "-(-1.0)"),
    (unary("!", unary("!", A)), "!!a"),
    (binary("-", A, unary("-", B)), "a - -b"),
    (cast("float", binary("+", A, B)), "(float)(a + b)"),
    (cast("float", cast("int", A)), "(float)(int)a"),
    (call("f", [binary("+", A, B), C]), "f(a + b, c)"),
    (conditional(binary("<", A, B), A, conditional(C, A, B)), "a < b ? a : c ? a : b"),
    (conditional(conditional(A, B, C), A, B), "(a ? b : c) ? a : b"),
    (binary("+", conditional(A, B, C), A), "(a ? b : c) + a"),
    (other_lanes(binary("&", A, B)), "~(a & b)"),
    (other_lanes(other_lanes(binary("&", A, B))), "(a & b)"),
    (other_lanes(binary("&", unary("~", A), B)), "~(~a & b)"),
])
def test_text(text: CText, expected: str) -> None:
    assert text.code == expected
