"""Prepared programs against what the user wrote, in slices: some elements of the result and all that they need."""

from __future__ import annotations

import ctypes
from pathlib import Path

import islpy as isl
import numpy as np

from polysched.emit_c.alternatives.checked_values import Equality
from polysched.emit_c.alternatives.preparation_check import preparation_check, union_of
from tests.emit_c.alternatives.matched_programs import integers
from tests.emit_c.compiled import load


def test_the_slices_compute_the_wanted_elements(tmp_path: Path) -> None:
    program = integers(200, 9)
    found = program.match
    check = preparation_check(found, found.fragment.scop, entry="e", most_work=1 << 20)
    assert check is not None
    assert check.equality is Equality.BITS
    original, prepared = (load(text, tmp_path, strict=False) for text in (check.original_text, check.replaced_text))
    A, x = np.ones((200, 9), np.int16), np.ones(9, np.int16)
    results = []
    for function in (original.original_e, prepared.replaced_e):
        y = np.zeros(200, np.int32)
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (y, A, x)))
        results.append(y)
    (y_array,) = [a for a in check.arrays if a.name == "y"]
    assert y_array.compared
    for (low, high), in y_array.boxes:
        assert results[0][low:high + 1].tolist() == [9] * (high + 1 - low)
        np.testing.assert_array_equal(results[0][low:high + 1], results[1][low:high + 1])
    assert {box[0][0] for box in y_array.boxes} >= {0}
    assert max(box[0][1] for box in y_array.boxes) == 199


def test_only_results_are_compared() -> None:
    found = integers(200, 9).match
    check = preparation_check(found, found.fragment.scop, entry="e", most_work=1 << 20)
    assert check is not None
    assert [a.name for a in check.arrays if a.compared] == ["y"]


def test_slices_that_take_too_long_are_none() -> None:
    found = integers(200, 9).match
    assert preparation_check(found, found.fragment.scop, entry="e", most_work=3) is None


def test_the_union_of_no_sets_is_none() -> None:
    sets = [isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ A[{k}] }}") for k in range(3)]
    assert union_of([]) is None
    total = union_of(sets)
    assert total is not None
    assert total.is_equal(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ A[i] : 0 <= i < 3 }"))
