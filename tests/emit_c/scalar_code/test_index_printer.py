"""Sums of parameters are computed in int only where that cannot overflow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c.loop_ir.index import Comparison, Linear, Quotient, constant, extreme, of_atom, variable
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.scop.dtypes import INT32, INT64, UINT32

N, M, W, U, I = (variable(name) for name in ("n", "m", "w", "u", "i"))  # noqa: E741


@pytest.fixture
def printer() -> IndexPrinter:
    taken = TakenNames(used=frozenset({"polysched_min"}), visible=frozenset({"polysched_min"}))
    parameters = {"n": (INT32, (1, 2**31 - 1)), "m": (INT32, (0, 1000)), "w": (INT64, INT64.value_range()),
                  "u": (UINT32, UINT32.value_range())}
    return IndexPrinter(parameters=parameters, spellings={"m": CText("g->m")}, macros=HelperMacros(taken))


@pytest.mark.parametrize(("form", "expected"), [
    (N - 1, "n - 1"),
    (N + 1, "(long)n + 1"),
    (N * 2, "2 * (long)n"),
    (M * 2 + 31, "2 * g->m + 31"),
    (N + M, "(long)n + g->m"),
    (W + 1, "w + 1"),
    (U - 1, "(long)u - 1"),
    (I * -1 + N, "n - i"),
    (constant(5) - I, "5 - i"),
    (I * -1, "-i"),
    (I - N * 2 + 3, "i - 2 * (long)n + 3"),
    (constant(2**40), "1099511627776L"),
    (constant(2**64 + 1), "((__int128)4 * 4611686018427387904 + 1)"),
    (constant(-2**63), "(-((__int128)2 * 4611686018427387904 + 0))"),
    (of_atom(Quotient(I - 1, 4, False)) * 4, "4 * polysched_floordiv(i - 1, 4)"),
    (of_atom(Quotient(I + 3, 4, True)) + 1, "(i + 3) / 4 + 1"),
    (extreme("min", [N, I + 32]), "polysched_min_2(n, i + 32)"),
])
def test_form(printer: IndexPrinter, form: Linear, expected: str) -> None:
    assert printer.form(form).text.code == expected


def test_many_arms_are_not_read_again_and_again(printer: IndexPrinter) -> None:
    """A macro repeats its arguments, and sixteen calls in each other take a compiler minutes."""
    text = printer.form(extreme("max", [variable(f"x{k}") for k in range(17)])).text.code
    depth = most = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        most = max(most, depth)
    assert all(text.count(f"x{k}") >= 1 for k in range(17))
    assert most <= 6


@pytest.mark.parametrize(("condition", "expected"), [
    (Comparison(">=", N, I + 1), "n > i"),
    (Comparison("<=", I + 1, N), "i < n"),
    (Comparison(">=", N + W * 2, I + W * 2 + 2), "n >= i + 2"),
])
def test_condition(printer: IndexPrinter, condition: Comparison, expected: str) -> None:
    assert printer.condition(condition).code == expected


def test_quotients_are_not_divided_to_tell_whether_they_are_large(printer: IndexPrinter) -> None:
    made = replace(printer, quotients={"w": ("n - i", "i")})
    assert made.pays(W + 1, 100).code == "n - i >= 99 * i"
    assert made.pays(W * 2, 100).code == "2 * w >= 100"
    assert made.pays(M, 100).code == "g->m >= 100"
