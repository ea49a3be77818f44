"""Body expressions as C: the type and the order of the tree, elements by their spelling, subscripts that fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.loop_ir.loops import PackedOperand, Temporary
from polysched.emit_c.scalar_code.c_text import CText, Level
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter, element_template, fill_element
from polysched.scop.body import Assign, Load
from polysched.scop.dtypes import FLOAT32
from tests.emit_c.printers import printed, printer_of


def stated(statement: str, *, loops: str = "S0({})", at: str = "i") -> str:
    return printed(printer_of(f"for (int i = 0; i < n; i++)\n  {statement}"), loops.format(at))


def printer(statement: str, **given: Any) -> ExpressionPrinter:
    region = printer_of(f"for (int i = 0; i < n; i++)\n  {statement}")
    own = region.scop.statements[0]
    return ExpressionPrinter(scop=region.scop, statement=own, iterators={"i": variable("i")}, index=region.index,
                             local_names={}, **given)


@pytest.mark.parametrize(("statement", "text"), [
    ("y[i] = -(y[i] - -x[i]);", "y[i] = -(y[i] - -x[i]);"),
    ("y[i] = (y[i] - (x[i] - 1)) - 2;", "y[i] = y[i] - (x[i] - 1) - 2;"),
    ("y[i] = at[i] > 0 ? y[i] : 0;", "y[i] = at[i] > 0 ? y[i] : 0;"),
    ("at[i] = (at[i] & 3) == 1 || !at[i];", "at[i] = (at[i] & 3) == 1 || !at[i];"),
    ("y[i] = i;", "y[i] = (int)i;"),                 # the variable is a long
    ("y[i] = (long)i;", "y[i] = i;"),
    ("x[i] = (float)x[i];", "x[i] = (float)x[i];"),
    ("y[n - 1 - i] = 1;", "y[n - i - 1] = 1;"),
    ("y[at[i]] = 1;", "y[at[i]] = 1;"),
    ("y[(at[i] + i) % n] = 1;", "y[(at[i] + (int)i) % n] = 1;"),   # divisions of 64 bits take much longer
])
def test_statements(statement: str, text: str) -> None:
    assert stated(statement) == text


def test_iterators_have_their_values() -> None:
    assert stated("y[2 * i] = i + 1;", at="3*j - 1") == "y[6 * j - 2] = (int)(3 * j - 1) + 1;"


def test_elements_are_spelled_as_the_program_does_or_by_local_names() -> None:
    array = printer("y[i] = A[i][0];").scop.array("A")
    assert element_template(array, 2, {}) == "A[{}][{}]"
    assert element_template(replace(array, c_element="g->A[{}][{}].re"), 2, {}) == "g->A[{}][{}].re"
    assert element_template(array, 2, {"A": "A_2"}) == "A_2[{}][{}]"


@pytest.mark.parametrize(("template", "subscripts", "text"), [
    ("A[{}][{}]", ("i", "j + 1"), "A[i][j + 1]"),
    ("A[{} * m + {}]", ("i + 1", "j"), "A[(i + 1) * m + j]"),
    ("*p", (), "*p"),
    ("g->A[{}].re", ("i - 1",), "g->A[i - 1].re"),
])
def test_subscripts_between_brackets_need_no_parentheses(template: str, subscripts: tuple[str, ...], text: str) -> None:
    given = [CText(s, Level.ADDITIVE if " " in s else Level.PRIMARY) for s in subscripts]
    assert fill_element(template, given).code == text


def test_a_packed_operand_is_an_element_of_its_panel() -> None:
    own = printer("y[i] = A[i][0];")
    (item,) = own.statement.body
    assert isinstance(item, Assign)
    read = next(a for a in own.statement.reads if a.array == "A")
    operand = PackedOperand("P", (variable("i") - 8,), in_lanes=True)
    packed = replace(own, packed={Load(read.reference, FLOAT32): operand})
    assert packed.value(item.value).code == "P[i - 8]"
    assert packed.packed_access(read) == operand
    assert own.packed_access(read) is None


def test_a_temporary_stands_for_its_array() -> None:
    own = printer("y[i] = A[i][0];")
    access = next(a for a in own.statement.reads if a.array == "A")
    buffer = Temporary("A", "A_row", kept=(0,), bases=(variable("c"),), extents=(8,))
    assert replace(own, temporaries=(buffer,)).element(access).code == "A_row[i - c]"
    assert replace(own, temporaries=(Temporary("A", "held"),)).element(access).code == "held"
