"""Parts of subscripts with a few cases: found as linear forms, and replaced where the case is known."""

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
from polysched.scop.body import Binary, Select
from polysched.scop.scop import Scop

I_, N = variable("i"), variable("n")
HERE = StatementInstance("S0", (I_,))


def program(subscript: str) -> Scop:
    return from_c_text(f"void f(int n, double A[restrict n], double x[restrict n])\n{{\n#pragma scop\n"
                       f"  for (int i = 0; i < n; i++) x[i] = A[{subscript}];\n#pragma endscop\n}}")


def subscript_at(scop: Scop, instance: StatementInstance) -> Linear | None:
    (read,) = [a for a in statement_at(scop, instance).accesses if a.array == "A"]
    return linear_form(read.subscripts[0], {"i": I_})


def at_least(left: Linear | int, right: Linear | int) -> Comparison:
    return Comparison(">=", *(constant(x) if isinstance(x, int) else x for x in (left, right)))


def test_a_remainder_has_a_case_for_each_quotient() -> None:
    (found,) = subscript_cases(program("(i + n - 1) % n"), HERE)
    assert (found.part.op, found.moved_by) == ("%", {"i", "n"})
    dividend = I_ + N - 1
    assert found.provided == (at_least(N, 1),)
    assert [case.value for case in found.cases] == [0, 1, 2, 3]
    assert found.cases[1].conditions == (at_least(dividend, N), at_least(N * 2 - 1, dividend))
    assert found.rounds == tuple((at_least(dividend, 0), Comparison("<", dividend, N * count)) for count in (2, 3))


@pytest.mark.parametrize(("test", "cases"), [
    ("i == 0", [(0, [at_least(I_, 1)]), (0, [at_least(0, I_ + 1)]), (1, [at_least(I_, 0), at_least(0, I_)])]),
    ("i + 1 < n", [(1, [at_least(N, I_ + 2)]), (0, [at_least(I_ + 1, N)])]),
    ("2 * i >= n", [(1, [at_least(I_ * 2, N)]), (0, [at_least(N, I_ * 2 + 1)])]),
])
def test_a_choice_has_two(test: str, cases: list[tuple[int, list[Comparison]]]) -> None:
    scop = program(f"{test} ? n - 1 : i / 2")
    (found,) = subscript_cases(scop, HERE)
    assert isinstance(found.part, Select)
    assert (found.provided, found.rounds) == ((), ())
    assert [(case.value, list(case.conditions)) for case in found.cases] == cases
    assert subscript_at(scop, replace(HERE, settled=(Settled(found.part, 1),))) == N - 1
    assert subscript_at(scop, replace(HERE, settled=(Settled(found.part, 0),))) == subscript_at(program("i / 2"), HERE)


@pytest.mark.parametrize("subscript", ["i", "n - 1 - i", "i / 2", "i > 2 && i < 7 ? 0 : i"])
def test_nothing_else_has_cases(subscript: str) -> None:
    assert subscript_cases(program(subscript), HERE) == ()


CHOICE = of_atom(Choice(Comparison("<", I_ + N - 1, N), I_ + N - 1, I_ - 1))


@pytest.mark.parametrize(("value", "rounds", "expected"), [
    (0, 2, I_ + N - 1), (1, 2, I_ - 1), (2, 2, I_ - 1 - N), (None, 2, CHOICE),
    (None, 3, of_atom(Choice(Comparison("<", I_ + N - 1, N), I_ + N - 1, of_atom(
        Choice(Comparison("<", I_ + N - 1, N * 2), I_ - 1, I_ - 1 - N))))),
])
def test_a_known_quotient_leaves_no_division(value: int | None, rounds: int, expected: Linear) -> None:
    scop = program("(i + n - 1) % n")
    (found,) = subscript_cases(scop, HERE)
    plain = replace(HERE, settled=(Settled(found.part, value, rounds),))
    assert not any(isinstance(cases.part, Binary) for cases in subscript_cases(scop, plain))
    assert subscript_at(scop, plain) == expected
    assert subscript_at(scop, HERE) is None, "the statement itself stays"


def test_a_remainder_inside_another_comes_first() -> None:
    scop = program("((i + 1) % n + 1) % n")
    (inner,) = subscript_cases(scop, HERE)
    within = replace(HERE, settled=(Settled(inner.part, 0),))
    (outer,) = subscript_cases(scop, within)
    assert outer.rounds[0][0] == at_least(I_ + 2, 0)
    assert subscript_at(scop, replace(HERE, settled=(*within.settled, Settled(outer.part, 1)))) == I_ + 2 - N


def test_the_text_form_keeps_them() -> None:
    (found,) = subscript_cases(program("(i + 1) % n"), HERE)
    node = replace(HERE, settled=(Settled(found.part, 1), Settled(found.part, None, 3)))
    assert parse_loops(loop_text(node)) == node


def test_a_number_as_divisor() -> None:
    scop = from_c_text("void f(double A[restrict 64], double x[restrict 64])\n{\n#pragma scop\n"
                       "  for (int i = 0; i < 64; i++) x[i] = A[(i + 1) % 64];\n#pragma endscop\n}")
    (found,) = subscript_cases(scop, HERE)
    assert found.provided[0] == at_least(64, 1)
    assert subscript_at(scop, replace(HERE, settled=(Settled(found.part, 0),))) == I_ + 1
