"""`safe` kernels: every code gives the same results, the fastest is taken, and a slow original is given up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.kernel import Code, choosing
from polysched.measure.field import Verdict
from polysched.search.database import Database


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


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> dict[Code, float]:
    """Seconds of every code, instead of those that pass; which code a call runs is told by what it calls."""
    seconds = dict.fromkeys(Code, 2.0)
    compiled = choosing._compiled

    def called(kernel: Any, given: Any, sizes: Any) -> object:
        last.append(Code.AS_WRITTEN if kernel.key_parts["options"] == "as written" else Code.TRANSFORMED)
        return compiled(kernel, given, sizes)

    def timed(run: Any, values: Any) -> tuple[float, float]:
        last.clear()
        run({name: np.array(value) for name, value in values.items()})
        own = seconds[last[0] if last else Code.PYTHON]
        return own, own

    last: list[Code] = []
    monkeypatch.setattr(choosing, "_compiled", called)
    monkeypatch.setattr(choosing, "_seconds", timed)
    monkeypatch.setattr(choosing, "_finishes", lambda function, values, limit: True)
    return seconds


@pytest.mark.parametrize("fastest", list(Code))
def test_the_fastest_code_runs_and_measuring_leaves_the_arguments_alone(
        fastest: Code, recorded: dict[Code, float]) -> None:
    recorded[fastest] = 0.5
    kernel = polysched.kernel(safe=True)(row_sums)
    call(kernel, 5)
    assert kernel.choice is not None
    assert kernel.choice.code is fastest
    assert kernel.choice.seconds[fastest] == 0.5
    assert fastest.value in str(kernel.choice)
    if fastest is not Code.TRANSFORMED:
        assert kernel.choice.found[fastest].gain.median == pytest.approx(4.0)


def test_a_database_keeps_what_was_measured(recorded: dict[Code, float], tmp_path: Path) -> None:
    recorded[Code.AS_WRITTEN] = 0.5
    with Database(tmp_path / "tuned.db"):
        pass
    options = polysched.PipelineOptions(safe=True, database=str(tmp_path / "tuned.db"))
    call(polysched.kernel(options=options)(row_sums), 5)
    with Database(tmp_path / "tuned.db", read_only=True) as database:
        tasks = database.tasks()
        assert len(tasks) == 2
        assert all(key.place.is_of_client for key, _ in tasks)
        assert sum("NumPy" in key.place.compiler for key, _ in tasks) == 1
    recorded[Code.AS_WRITTEN] = 3.0
    again = polysched.kernel(options=options)(row_sums)
    call(again, 5)
    assert again.choice is not None
    assert again.choice.code is Code.AS_WRITTEN, "it is not measured again"
    assert all(found.repeated for found in again.choice.found.values())


def test_a_function_that_is_given_up_is_a_record(recorded: dict[Code, float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "_finishes", lambda function, values, limit: False)
    recorded[Code.PYTHON] = 0.1
    kernel = polysched.kernel(safe=True)(row_sums)
    call(kernel, 5)
    assert kernel.choice is not None
    assert kernel.choice.code is Code.TRANSFORMED
    (trial,) = kernel.choice.found[Code.PYTHON].trials
    assert trial.verdict is Verdict.HUNG
    assert "was given up" in trial.reason
    assert Code.PYTHON not in kernel.choice.seconds


def test_calls_with_nothing_to_do_are_not_measured() -> None:
    def inside(x, y):
        for i in range(1, x.shape[0] - 1):
            y[i] = 2 * x[i]

    kernel, y = polysched.kernel(safe=True)(inside), np.zeros(2)
    kernel(np.ones(2), y)
    assert not y.any()
    assert kernel.choice is not None
    assert (kernel.choice.code, kernel.choice.found) == (Code.TRANSFORMED, {})


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
