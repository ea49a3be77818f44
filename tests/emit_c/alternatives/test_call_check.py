"""Statements that became calls, beside the original: the check's two functions compute the same."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.alternatives.call_check import by_its_text, call_check, call_sizes
from polysched.emit_c.alternatives.checked_values import Equality
from tests.emit_c.alternatives.called_programs import called
from tests.emit_c.compiled import load

ONE = "for (int i = 0; i < n; i++) y[i] = 2 * x[i] + y[i];"
BOTH = ONE + " for (int i = 0; i < n; i++) z[i] = y[i] / 3;"


@pytest.mark.parametrize("whole", [False, True])
def test_both_functions_compute_the_same(whole: bool, tmp_path: Path) -> None:
    program = called(BOTH)
    given = program.match.dependences.scop if whole else None
    check = call_check(program, entry="e", sizes={"n": 13, "m": 1}, given=given)
    assert check.equality is Equality.BITS
    assert check.instruction == "doubled"
    original, replaced = (load(text, tmp_path, strict=False) for text in (check.original_text, check.replaced_text))
    results = []
    for function in (original.original_e, replaced.replaced_e):
        arrays = {a.name: np.arange(13, dtype=np.float32) if len(a.shape) == 1 else np.ones(a.shape, np.float32)
                  for a in check.arrays}
        function(*check.parameters, *(ctypes.c_void_p(a.ctypes.data) for a in arrays.values()))
        results.append(arrays)
    for name, values in results[0].items():
        np.testing.assert_array_equal(values, results[1][name])
    np.testing.assert_array_equal(results[0]["y"], 3 * np.arange(13))


def test_what_the_calls_compute_is_compared() -> None:
    check = call_check(called(BOTH), entry="e", sizes={"n": 13, "m": 1})
    assert [a.name for a in check.arrays if a.compared] == ["y"]
    assert check.sizes == "n = 13, m = 1"


def test_sizes_to_run_with_are_those_chosen_and_others_that_are_allowed() -> None:
    program = called(ONE)
    assert list(call_sizes(program, {"n": 5, "m": 1}, most_work=1 << 20)) == [{"n": 5}]
    free = list(call_sizes(program, {}, most_work=1 << 20))
    assert len(free) > 1
    assert all(sizes["n"] > 0 for sizes in free)
    assert list(call_sizes(program, {}, most_work=1)) == [], "too much to run"


def test_without_the_library_its_text_is_called() -> None:
    made = by_its_text(called(ONE))
    assert made.match.function.inline
    assert made.match.function.isa.machine == "library"
    assert made.match.variant.call == ""
