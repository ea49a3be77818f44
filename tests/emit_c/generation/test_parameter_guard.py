"""What is tested around a region: that it has something to do."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.generation.parameter_guard import parameter_guard
from polysched.emit_c.loop_ir.index import Comparison, Condition, constant, variable
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

N, M = variable("n"), variable("m")


def program(loops: str) -> Scop:
    return from_c_text(f"void f(int n, int m, double A[n + m]) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}")


def holds(condition: Condition | None, n: int, m: int) -> bool:
    """Of a condition over n and m."""
    if condition is None:
        return True
    if isinstance(condition, Comparison):
        left, right = (form.constant + sum(factor * {"n": n, "m": m}[atom.name] for atom, factor in form.terms)
                       for form in (condition.left, condition.right))
        return bool(eval(f"{left} {condition.op} {right}"))
    return (all if condition.op == "&&" else any)(holds(arm, n, m) for arm in condition.arms)


@pytest.mark.parametrize(("loops", "busy"), [
    ("for (int i = 2; i < n; i++) A[i] = 0;", "[n, m] -> { : n >= 3 }"),
    ("for (int i = m; i < n; i++) A[i] = 0;", "[n, m] -> { : n > m }"),
    ("for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) A[i] += j;", "[n, m] -> { : n >= 1 and m >= 2 }"),
])
def test_the_condition_holds_where_something_runs(loops: str, busy: str) -> None:
    guard = parameter_guard(program(loops), wanted=True)
    assert guard.condition is not None
    for n in range(5):
        for m in range(5):
            runs = not isl.Set(busy).intersect(isl.Set(f"[n, m] -> {{ : n = {n} and m = {m} }}")).is_empty()
            assert holds(guard.condition, n, m) is runs
    assert guard.context.is_subset(isl.Set(busy))


def test_nothing_is_tested_where_nobody_asks_or_something_always_runs() -> None:
    loops = "for (int i = 2; i < n; i++) A[i] = 0;"
    assert parameter_guard(program(loops), wanted=False).condition is None
    assert parameter_guard(program("A[0] = 1;"), wanted=True).condition is None


def test_limits_of_types_are_left_out_on_request() -> None:
    guard = parameter_guard(program("for (int i = 2; i < n; i++) A[i] = 0;"), wanted=True)
    assert "2147483647" in str(guard.context)
    assert "2147483647" not in str(guard.without_type_limits)
    assert guard.context.is_subset(guard.without_type_limits)


def test_one_comparison_reads_as_one() -> None:
    guard = parameter_guard(program("for (int i = 2; i < n; i++) A[i] = 0;"), wanted=True)
    assert guard.condition == Comparison(">=", N, constant(3))
