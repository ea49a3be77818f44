"""Body expressions over vectors: conversions keep lanes in place, choices become masks, and what traps stays scalar."""

from __future__ import annotations

import re

import pytest

from polysched.emit_c.scalar_code.c_text import CText, Level
from polysched.emit_c.vector_code.vector_expressions import same_bits, vector_at
from tests.emit_c.printers import printed, printer_of

ROW = "with register_tile(loops=(), edges=(edge(i, 4*q, 4, simd=True), )):\n    S0(i)"


def vectors(statement: str) -> str:
    """The C of a statement for four iterations of a loop."""
    return printed(printer_of(f"for (int i = 0; i < n; i++)\n  {statement}"), ROW)


@pytest.mark.parametrize(("statement", "text"), [
    ("y[i] = -y[i];", "-*(polysched_f32x4 *)&y[i]"),
    ("y[i] = 2.5f * y[i];", "2.5f * *(polysched_f32x4 *)&y[i]"),          # a scalar beside a vector
    ("at[i] = at[i] * 3 + i;", "i + (polysched_i32x4){0, 1, 2, 3}"),      # the iterator in lanes
    ("at[i] = at[i] << 2;", "<< 2"),
    ("at[i] = ~at[i] ^ 5;", "~*(polysched_i32x4 *)&at[i] ^ 5"),
    ("at[i] = at[i] < 3;", "-(polysched_i32x4)(*(polysched_i32x4 *)&at[i] < 3)"),   # 1, where lanes have -1
    ("y[i] = 1.5f;", "1.5f - (polysched_f32x4){0}"),                      # keeps the sign of a zero
    ("x[i] = (float)at[i];", "__builtin_convertvector(at_0, polysched_f32x2)"),
    ("y[i] = A[3][5] * y[i];", "A[3][5]"),
])
def test_an_expression(statement: str, text: str) -> None:
    found = vectors(statement)
    assert text in found, found
    assert "for (" not in found


def test_a_choice_of_lanes_is_a_mask_and_its_complement() -> None:
    text = vectors("y[i] = at[i] > 0 ? y[i] : 2 * y[i];")
    assert re.search(r" & \(at_0 > 0\).* & ~\(at_0 > 0\)", text), text


def test_a_choice_with_zero_needs_no_complement() -> None:
    text = vectors("y[i] = at[i] > 0 ? y[i] : 0;")
    assert "~" not in text, text


def test_a_condition_that_all_lanes_share_stays_a_choice() -> None:
    text = vectors("y[i] = at[3] > 0 ? y[i] : 2 * y[i];")
    assert "const int at_0 = at[3] > 0;" in text
    assert "= at_0 ? " in text


def test_conditions_join_as_masks() -> None:
    text = vectors("y[i] = (at[i] > 0 && at[i] < 9) || !(at[i] > 5) ? y[i] : 0;")
    assert "&&" not in text
    assert "||" not in text
    assert "?" not in text


@pytest.mark.parametrize(("statement", "why"), [
    ("at[i] = at[i] > 0 ? at[i] / c[i] : 0;", "a division that C would skip may trap"),
    ("y[i] = at[i] > 0 ? y[i + 1] : 0;", "an element that C would not read may not exist"),
    ("y[i] = y[at[i]];", "subscripts are not linear"),
])
def test_what_lanes_must_not_do_stays_a_loop(statement: str, why: str) -> None:
    assert "for (" in vectors(statement), why


def test_a_division_that_is_always_done_may_go_in_lanes() -> None:
    assert "for (" not in vectors("at[i] = at[i] / 7;")


def test_elements_that_lie_apart_are_picked_one_by_one() -> None:
    text = vectors("y[i] = x[n - 1 - i];")
    assert re.search(r"\(polysched_f64x2\)\{x\[[^]]*\], x\[[^]]*\]\}", text), text


def test_the_bits_of_a_vector_forget_what_they_were_taken_for() -> None:
    once = same_bits("polysched_u32x4", CText("v"))
    assert once.code == "(polysched_u32x4)v"
    assert same_bits("polysched_f32x4", once).code == "(polysched_f32x4)v"
    assert same_bits("polysched_f32x4", CText("a + b", Level.ADDITIVE)).code == "(polysched_f32x4)(a + b)"


def test_a_vector_in_memory() -> None:
    assert vector_at(CText("A[i][j]", Level.POSTFIX), "vec").code == "*(vec *)&A[i][j]"
