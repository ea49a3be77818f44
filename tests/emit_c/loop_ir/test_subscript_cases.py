"""Parts of subscripts with two cases: found as linear forms, and replaced where the case is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c.loop_ir.index import Choice, Comparison, Linear, constant, of_atom, variable
from polysched.emit_c.loop_ir.loops import Settled, StatementInstance
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.subscript_cases import statement_at, subscript_cases
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.text import loop_text
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

I_, N = variable("i"), variable("n")
HERE = StatementInstance("S0", (I_,))


def program(subscript: str) -> Scop:
    return from_c_text(f"void f(int n, double A[restrict n], double x[restrict n])\n{{\n#pragma scop\n"
                       f"  for (int i = 0; i < n; i++) x[i] = A[{subscript}];\n#pragma endscop\n}}")


def subscript_at(scop: Scop, instance: StatementInstance) -> Linear | None:
    (read,) = [a for a in statement_at(scop, instance).accesses if a.array == "A"]
    return linear_form(read.subscripts[0], {"i": I_})


def test_dividend_and_divisor_are_linear_forms() -> None:
    (found,) = subscript_cases(program("(i + n - 1) % n"), HERE)
    assert found.divides
    assert found.condition == Comparison(">=", I_ + N - 1, N)
    assert found.provided == (Comparison(">=", I_ + N - 1, constant(0)), Comparison("<", I_ + N - 1, N * 2))


@pytest.mark.parametrize(("test", "condition"), [
    ("i == 0", Comparison("==", I_, constant(0))), ("i + 1 < n", Comparison("<", I_ + 1, N)),
    ("2 * i >= n", Comparison(">=", I_ * 2, N)),
])
def test_so_has_a_choice(test: str, condition: Comparison) -> None:
    scop = program(f"{test} ? n - 1 : i / 2")
    (found,) = subscript_cases(scop, HERE)
    assert (found.divides, found.condition, found.provided) == (False, condition, ())
    assert subscript_at(scop, replace(HERE, settled=(Settled(found.part, True),))) == N - 1
    assert subscript_at(scop, replace(HERE, settled=(Settled(found.part, False),))) == subscript_at(
        program("i / 2"), HERE)


@pytest.mark.parametrize("subscript", ["i", "n - 1 - i", "i / 2", "i > 2 && i < 7 ? 0 : i"])
def test_nothing_else_has_two_cases(subscript: str) -> None:
    assert subscript_cases(program(subscript), HERE) == ()


@pytest.mark.parametrize(("holds", "expected"), [
    (False, I_ + N - 1), (True, I_ - 1),
    (None, of_atom(Choice(Comparison("<", I_ + N - 1, N), I_ + N - 1, I_ - 1))),
])
def test_a_known_quotient_leaves_no_division(holds: bool | None, expected: Linear) -> None:
    scop = program("(i + n - 1) % n")
    (found,) = subscript_cases(scop, HERE)
    plain = replace(HERE, settled=(Settled(found.part, holds),))
    assert not any(cases.divides for cases in subscript_cases(scop, plain))
    assert subscript_at(scop, plain) == expected
    assert subscript_at(scop, HERE) is None, "the statement itself stays"


def test_a_remainder_inside_another_comes_first() -> None:
    scop = program("((i + 1) % n + 1) % n")
    (inner,) = subscript_cases(scop, HERE)
    within = replace(HERE, settled=(Settled(inner.part, False),))
    (outer,) = subscript_cases(scop, within)
    assert outer.condition == Comparison(">=", I_ + 2, N)
    assert subscript_at(scop, replace(HERE, settled=(*within.settled, Settled(outer.part, True)))) == I_ + 2 - N


def test_the_text_form_keeps_them() -> None:
    (found,) = subscript_cases(program("(i + 1) % n"), HERE)
    node = replace(HERE, settled=(Settled(found.part, True), Settled(found.part, None)))
    assert parse_loops(loop_text(node)) == node


def test_a_number_as_divisor() -> None:
    scop = from_c_text("void f(double A[restrict 64], double x[restrict 64])\n{\n#pragma scop\n"
                       "  for (int i = 0; i < 64; i++) x[i] = A[(i + 1) % 64];\n#pragma endscop\n}")
    (found,) = subscript_cases(scop, HERE)
    assert found.condition == Comparison(">=", I_ + 1, constant(64))
    assert subscript_at(scop, replace(HERE, settled=(Settled(found.part, False),))) == I_ + 1
