"""Extrema by comparison: which one it is, whether the first of equal values counts, and NaN."""

import pytest

from polysched.dependence.reductions.extrema import extremum, guarded_extremum, place_by_selection
from polysched.scop import from_c_text
from polysched.scop.body import Assign, If, Select
from polysched.scop.expression import argmax, axis, build, compute, placeholder, symbols
from polysched.scop.scop import Statement


def statement(text: str) -> Statement:
    return from_c_text(f"""void f(int n, double x[1], double A[n], int k[1]) {{
        #pragma scop
        for (int i = 0; i < n; i++)
            {text}
        #pragma endscop
        }}""").statements[0]


@pytest.mark.parametrize(("test", "operator", "ties"), [
    ("A[i] > x[0]", "argmax", "first"), ("A[i] >= x[0]", "argmax", "last"), ("x[0] > A[i]", "argmin", "first"),
    ("A[i] <= x[0]", "argmin", "last")])
def test_the_comparison_says_which_and_which_of_equal_ones(test: str, operator: str, ties: str) -> None:
    found = statement(f"if ({test}) {{ x[0] = A[i]; k[0] = i; }}")
    branch = found.body[0]
    assert isinstance(branch, If)
    updates = tuple((item, item.value) for item in branch.then if isinstance(item, Assign))
    made = extremum(found, branch.condition, updates, len(branch.then))
    assert made is not None
    assert (made.operator, made.ties) == (operator, ties)
    assert [found.access(r).array for r in made.places] == ["k"]


def test_another_value_than_the_compared_one_is_none() -> None:
    found = statement("if (A[i] > x[0]) x[0] = A[i] + 1;")
    branch = found.body[0]
    assert isinstance(branch, If)
    update = branch.then[0]
    assert isinstance(update, Assign)
    assert extremum(found, branch.condition, ((update, update.value),), 1) is None


def test_further_conditions_leave_the_reads_of_the_comparison() -> None:
    found = statement("if (A[i] != 3) if (A[i] > x[0]) x[0] = A[i];")
    outer = found.body[0]
    assert isinstance(outer, If)
    inner = outer.then[0]
    assert isinstance(inner, If)
    update = inner.then[0]
    assert isinstance(update, Assign)
    made = guarded_extremum(found, (outer.condition, inner.condition), update)
    assert made is not None
    assert made.operator == "max"
    assert [found.access(r).array for r in made.reads] == ["x"]
    assert guarded_extremum(found, (outer.condition,), update) is None


def choices(found: Statement) -> tuple[tuple[Assign, Select], ...]:
    return tuple((item, item.value) for item in found.body
                 if isinstance(item, Assign) and isinstance(item.value, Select))


def test_selections_by_one_test_keep_the_place() -> None:
    (m, n), k = symbols("m n"), axis("k")
    x = placeholder("X", (m, n))
    program = build(compute((m,), lambda i: argmax(x[i, k], over=k), name="Y"))
    found, chosen = next((s, chosen) for s in program.statements
                         if len(chosen := choices(s)) == 2)
    made = place_by_selection(found, chosen, 2)
    assert made is not None
    assert (made.operator, made.ties) == ("argmax", "first")
    assert place_by_selection(found, chosen, 3) is None, "something else is computed beside"
    assert place_by_selection(found, chosen[::-1], 2) is None, "the place is set by the new value"
