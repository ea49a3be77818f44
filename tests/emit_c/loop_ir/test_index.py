"""Linear forms: arithmetic, min and max, quotients, substitution."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest

from polysched.emit_c.loop_ir.index import (
    Comparison,
    Extreme,
    Linear,
    Quotient,
    Remainder,
    Variable,
    constant,
    differ,
    direction,
    extreme,
    growth,
    junction,
    of_atom,
    quotient,
    remainder,
    rounded_towards_zero,
    shifted,
    source_operation,
    substitute,
    variable,
    variables,
)

I, J, N = variable("i"), variable("j"), variable("n")  # noqa: E741


def test_sums_cancel_and_keep_first_appearance() -> None:
    assert (I + J) - I == J
    assert (I * 2 + 3) * 0 == constant(0)
    assert (I - J + 4 + J).terms == ((Variable("i"), 1),)


def test_extreme_merges_arms_that_differ_by_a_constant() -> None:
    assert extreme("min", [I + 1, I]) == I
    assert extreme("max", [I + 1, I]) == I + 1
    assert extreme("min", [extreme("min", [I, J]), N]) == of_atom(Extreme("min", (I, J, N)))
    assert shifted(extreme("min", [I, J]), -1) == extreme("min", [I - 1, J - 1])


@pytest.mark.parametrize("numerator", range(-9, 10))
def test_quotient_of_constants_rounds_down(numerator: int) -> None:
    assert quotient(constant(numerator), 4, truncates=False) == constant(numerator // 4)
    assert remainder(constant(numerator), 4) == constant(numerator % 4)


def test_quotient_is_evaluated_only_where_that_is_exact() -> None:
    assert quotient(I * 8 + 5, 4, truncates=False) == I * 2 + 1
    assert quotient(I * 8 - 5, 4, truncates=True) == of_atom(Quotient(I * 8 - 5, 4, True))
    assert quotient(I + 4, 4, truncates=False) == of_atom(Quotient(I + 4, 4, False))


def test_substitution_reaches_into_atoms() -> None:
    form = of_atom(Quotient(I + 3, 4, False)) + extreme("min", [I, J])
    replaced = substitute(form, {"i": constant(5)})
    assert variables(replaced) == {"j"}
    for i, j in itertools.product(range(-6, 7), repeat=2):
        assert _value(substitute(form, {"i": constant(i), "j": constant(j)})) == (i + 3) // 4 + min(i, j)


def test_junction_is_flat() -> None:
    a, b, c = (Comparison("<", x, N) for x in (I, J, I + J))
    assert junction("&&", [junction("&&", [a, b]), c]).arms == (a, b, c)  # type: ignore[union-attr]
    assert junction("||", [a]) == a


def _value(form: Linear) -> int:
    assert form.is_constant
    return form.constant


def test_where_a_form_goes_as_a_variable_grows() -> None:
    half = quotient(I * -1 + N, 2, truncates=False)
    assert [direction(form, "i") for form in (I + J, J - I, J + N, half + J, half * -1)] == [1, -1, 0, -1, 1]
    assert direction(extreme("min", [half, N - I]), "i") == -1
    assert direction(half + I, "i") is None
    assert direction(remainder(I, 3), "i") is None
    assert direction(remainder(I, 3), "j") == 0


def test_growth_is_a_number_where_a_variable_stands_at_the_top_only() -> None:
    half = quotient(I, 2, truncates=False)
    assert [growth(form, "i") for form in (I * 3 + J, J - I, N, quotient(J, 2, truncates=False) + I)] == [3, -1, 0, 1]
    assert growth(half + I, "i") is None


@pytest.mark.parametrize(("op", "number"), [("%", 2), ("%", 3), ("/", 3), ("&", 1), ("&", 7), (">>", 2)])
def test_operations_of_the_program_are_evaluated_as_c_does(op: str, number: int) -> None:
    for value in range(-9, 10):
        expected = {"%": int(np.fmod(value, number)), "/": int(value / number), "&": value & number,
                    ">>": value >> number}[op]
        assert substitute(source_operation(op, I + 1, number), {"i": constant(value - 1)}) == constant(expected)


@pytest.mark.parametrize(("first", "second", "expected"), [
    (source_operation("%", I + 1, 2), source_operation("%", I, 2), True),
    (source_operation("%", I + 2, 2), source_operation("%", I, 2), False),
    (source_operation("%", I - 1, 3), source_operation("%", I + 1, 3), True),
    (source_operation("%", I, 3), source_operation("%", J, 3), False),
    (source_operation("%", I + 1, 2), source_operation("%", I, 3), False),
    (source_operation("/", I + 1, 2), source_operation("/", I, 2), False),
    (source_operation("&", I + 4, 3), source_operation("&", I, 3), False),
    (source_operation("&", I + 5, 3), source_operation("&", I, 3), True),
    (source_operation("%", I, 2) * -1 + 1, source_operation("%", I, 2), True),
    (source_operation("%", I, 2) * -1 + 2, source_operation("%", I, 2), False),
    (I * 2, J * 4 + 1, True), (I * 2, J * 4 + 2, False), (I, I + 1, True), (I, I, False)])
def test_forms_that_never_have_the_same_value(first: Linear, second: Linear, *, expected: bool) -> None:
    assert differ(first, second) is expected
    values = [(i, j) for i in range(-7, 8) for j in range(-3, 4)]
    if expected:
        assert all(substitute(first, {"i": constant(i), "j": constant(j)}) != substitute(
            second, {"i": constant(i), "j": constant(j)}) for i, j in values)


def test_a_form_of_another_process_is_found_among_those_of_this_one():
    form = variable("i") * 3 + of_atom(Quotient(variable("n") - 1, 8, True))
    assert hash(form)
    assert variables(form) == {"i", "n"}
    told = subprocess.run([sys.executable, "-c", (
        "import pickle, sys; form = pickle.load(sys.stdin.buffer);"
        "print(form in {pickle.loads(pickle.dumps(form)), type(form)(form.terms, form.constant)},"
        "      hash(form) == hash(type(form)(form.terms, form.constant)))")],
        input=pickle.dumps(form), capture_output=True, env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)})
    assert told.stdout.split() == [b"True", b"True"], told.stderr.decode()


def test_values_of_other_variables_leave_a_form_as_it_is():
    form = of_atom(Quotient(variable("i") * 3 + 1, 8, True))
    assert substitute(form, {"j": constant(1)}) is form
    assert substitute(form, {"i": constant(5)}) == constant(2)


def test_numbers_that_are_not_computed_yet_are_computed_with_any_values():
    for number in (of_atom(Quotient(constant(17), 8, True)), of_atom(Remainder(constant(1024), 4))):
        assert substitute(number + variable("i"), {"j": constant(1)}) - variable("i") in (constant(2), constant(0))


def in_c(form: Linear, n: int) -> int:
    """The value of a form over `n` and quotients, each rounded as it says."""
    total = form.constant
    for atom, factor in form.terms:
        value = n
        if isinstance(atom, Quotient):
            top = in_c(atom.numerator, n)
            value = int(top / atom.divisor) if atom.truncates else top // atom.divisor
        total += factor * value
    return total


@pytest.mark.parametrize("value", [-1030, -512, -1, 0, 1, 511, 512, 1025])
def test_sizes_rounded_towards_zero_are_no_less(value: int) -> None:
    def down(numerator: Linear, divisor: int) -> Linear:
        return quotient(numerator, divisor, truncates=False)

    for form in (down(N - 1, 512) + 1, down(down(N, 3) + N, 4) * 2, N - down(N, 7)):
        exact, rounded = in_c(form, value), in_c(rounded_towards_zero(form), value)
        assert rounded == exact if value >= 1 else rounded >= exact
    assert rounded_towards_zero(N - down(N, 7)) == N - down(N, 7)
    assert all(q.truncates for q, _ in rounded_towards_zero(down(down(N, 3), 4) + down(N, 5)).terms)
