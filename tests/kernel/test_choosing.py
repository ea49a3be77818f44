"""`safe` kernels: every code gives the same results, the fastest is taken, and a slow original is given up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.kernel import Code, choosing


def row_sums(A, y):
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            y[i] += A[i, j]


def call(kernel, n: int) -> None:
    A, y = np.arange(12.0 * n).reshape(n, 12), np.ones(n)
    expected = y + A.sum(axis=1)
    kernel(A, y)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("fastest", list(Code))
def test_the_fastest_code_runs_and_measuring_leaves_the_arguments_alone(
        fastest: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = polysched.kernel(safe=True)(row_sums)
    turn: Iterator[Code] = iter(())

    def seconds(run: Any, values: Any) -> float:
        nonlocal turn
        given = {name: np.array(value) for name, value in values.items()}
        run(given)
        return 1.0 if (code := next(turn, None)) is None else (0.5 if code is fastest else 2.0)

    def finishes(function: Any, values: Any, limit: float) -> bool:
        nonlocal turn
        turn = iter(list(Code) * choosing.TURNS)
        return True

    monkeypatch.setattr(choosing, "_seconds", seconds)
    monkeypatch.setattr(choosing, "_finishes", finishes)
    call(kernel, 5)
    assert kernel.choice is not None
    assert kernel.choice.code is fastest
    assert kernel.choice.seconds[fastest] == 0.5
    assert fastest.value in str(kernel.choice)


def test_sizes_of_another_length_are_measured_anew() -> None:
    kernel = polysched.kernel(options=polysched.PipelineOptions(safe=True))(row_sums)
    for n in (5, 7, 9):
        call(kernel, n)
    assert set(kernel.specialise(np.ones((5, 12)), np.ones(5)).choices) == {(3, 4, 3), (4, 4, 4)}


def test_a_function_that_takes_too_long_is_given_up() -> None:
    A, y = np.ones((3, 4)), np.zeros(3)
    assert not choosing._finishes(row_sums, {"A": A, "y": y}, 0.0)
    assert choosing._finishes(row_sums, {"A": A, "y": y}, 60.0)
    assert not y.any()


def test_without_safe_nothing_is_measured() -> None:
    kernel = polysched.kernel(row_sums)
    call(kernel, 5)
    assert kernel.choice is None
