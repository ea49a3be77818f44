"""Loops, branches and continue do what Python does, for sizes and for data; names keep their values there."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop.python_frontend.statements import without_continue
from tests.scop.python_frontend.running import check, extracted


def continued(A):
    for i in range(A.shape[0]):
        if i % 3 == 0:
            if A[i] > 2:
                continue
            A[i] = 1
        elif A[i] > 4:
            A[i] = 2
            continue
        A[i] += 10


def continued_outside(A):
    for i in range(A.shape[0]):
        for j in range(i):
            if A[j] > 3:
                continue
            A[i] += 1
        if i > 4:
            continue
        A[i] -= 2


def wider_in_a_branch(A):
    x = 1
    if A[0] > 1:
        x = 2.5
    A[1] = x


def size_of_a_branch(A, n):
    x = 1
    if n > 3:
        x = 2
    A[x] = x


def value_of_a_branch(A, n):
    if n > 3:
        x = A[0]
    else:
        x = A[1]
    A[2] = x


def index_of_a_branch(A, n):
    k = 0
    for i in range(A.shape[0]):
        if i > 2:
            k = i
        A[i] = k


def index_by_data(A, n):
    k = 0
    for i in range(A.shape[0]):
        if A[i] > 2:
            k = i
        else:
            k = k + 1
        A[i] = k


def conditions_on_data(A):
    for i in range(A.shape[0]):
        if A[i] > 2 and i < A.shape[0] - 1 and A[i + 1] > 0:
            A[i] = A[i + 1]
        elif A[i] < 1 or i == 3:
            A[i] = -1


def loops_under_data(A):
    if A[0] > 0:
        for i in range(1, A.shape[0]):
            A[0] = A[0] - A[i]
            A[i] = A[0]
    else:
        A[:] = 3


def branch_changes_its_test(A):
    if A[0] > 0:
        A[0] = -1
        A[1:] += 1
    else:
        A[1:] -= 1


def nested_conditions(A):
    if A[0] > 0:
        if A[1] > 100:
            A[2:] = 0
        else:
            A[0] = -5
            A[2:] = 1
        A[1:] += A[0]


def reversed_loop(A):
    for i in reversed(range(0, A.shape[0], 3)):
        A[0] = A[0] * 2 + A[i]


def downwards(A):
    for i in range(A.shape[0] - 1, 0, -2):
        A[i] = A[i - 1] + i
    A[0] = i


def without_iterations(A):
    for i in range(3, 3):
        A[i] = 7
    for i in range(5, 0):
        A[i] = 7
    for j in range(2, -1, -1):
        A[j] += j


def loop_variable_later(A):
    i = 7
    for i in range(A.shape[0] - 20, 3):
        A[0] += i
    A[1] = i


def asserted(A, n):
    assert n > 2
    A[n - 3] = 1


def value_of_the_iteration_before(A):
    x = A[0]
    for i in range(1, A.shape[0]):
        y = x
        x = A[i]
        A[i] = y


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("function", [
    continued, continued_outside, wider_in_a_branch, size_of_a_branch, value_of_a_branch, index_of_a_branch,
    index_by_data, conditions_on_data, loops_under_data, branch_changes_its_test, nested_conditions,
    reversed_loop, downwards, without_iterations, loop_variable_later, asserted, value_of_the_iteration_before],
    ids=lambda f: f.__name__)
def test_statements_do_what_pythons_do(function: Any, dtype: str) -> None:
    for first in (np.arange(8) * 5 % 7, np.arange(8)[::-1] - 3):
        check(function, first.astype(dtype), *([5] if function.__code__.co_argcount == 2 else []))


LOOPS = """
for i in range(40):
    if i % 2 == 0:
        if i % 3 == 0:
            seen.append(("six", i))
            continue
        seen.append(("even", i))
    elif i > 30:
        continue
    elif i % 5 == 0:
        for j in range(3):
            if j == 1:
                continue
            seen.append((i, j))
        if i == 15:
            continue
        else:
            seen.append(("five", i))
    else:
        seen.append(("odd", i))
    seen.append(i)
    if i == 20:
        continue
    seen.append(-i)
"""


def test_loops_without_continue_run_the_same_statements() -> None:
    tree = ast.parse(LOOPS)
    changed = ast.parse(LOOPS)
    loop = changed.body[0]
    assert isinstance(loop, ast.For)
    loop.body = without_continue(loop.body)
    assert not any(isinstance(s, ast.Continue) for s in loop.body)
    found: list[list[object]] = [[], []]
    for module, seen in zip((tree, changed), found, strict=True):
        exec(compile(ast.fix_missing_locations(module), "loops", "exec"), {"seen": seen})
    assert found[0] == found[1]


def refused(body: str) -> str:
    """A function of an array and a size with a body that is refused, and why."""
    with pytest.raises(UnsupportedScopError) as raised:
        extracted(REFUSED[body], np.arange(6.0), 4)
    return str(raised.value)


def while_loop(A, n):
    while n > 0:
        A[n] = 1


def left_early(A, n):
    for i in range(n):
        if A[i] > 3:
            break


def returns_early(A, n):
    if n > 3:
        return
    A[0] = n


def assigned_counter(A, n):
    for i in range(n):
        i = i + 1
        A[i] = 0


def step_of_a_size(A, n):
    for i in range(0, 6, n):
        A[i] = 0


def over_elements(A, n):
    for a in A:
        n = a   # noqa: F841


def asserted_data(A, n):
    assert A[0] > n


def unused_value(A, n):
    A[0] + n


def unknown_behind_a_loop(A, n):
    for i in range(n):
        B = A[i:]
    B[0] = 1


REFUSED = {f.__name__: f for f in (while_loop, left_early, returns_early, assigned_counter, step_of_a_size,
                                   over_elements, asserted_data, unused_value, unknown_behind_a_loop)}


@pytest.mark.parametrize(("body", "problem"), [
    ("while_loop", "a while loop"), ("left_early", "a break"), ("returns_early", "a return before the end"),
    ("assigned_counter", "the loop variable i is assigned in its loop"),
    ("step_of_a_size", "not a constant other than 0"), ("over_elements", "something else than a range"),
    ("asserted_data", "an assertion about data"), ("unused_value", "whose value is not used"),
    ("unknown_behind_a_loop", "B")])
def test_other_statements_are_refused(body: str, problem: str) -> None:
    assert problem in refused(body)
