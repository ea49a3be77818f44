"""Comparing arrays: tolerances, NaN, infinities, and the element that is named."""

import math

import numpy as np
import pytest

from polysched.measure.programs.comparison import CHUNK, TOLERANCE, ArrayComparison, compare


def compared(reference: list[float], result: list[float], dtype: str = "float64",
             pristine: list[float] | None = None, tolerance: float | None = None) -> ArrayComparison:
    kind = {"bfloat16": "uint16"}.get(dtype, dtype)
    arrays = [np.array(v, dtype=kind) for v in (reference, result, pristine or [0.0] * len(reference))]
    return compare("A", dtype, reference=arrays[0], result=arrays[1], pristine=arrays[2], tolerance=tolerance)


def test_equal_arrays_have_no_difference() -> None:
    same = compared([1.0, -2.0, 0.0], [1.0, -2.0, 0.0])
    assert (same.mismatches, same.largest_absolute, same.largest_relative, same.worst_index) == (0, 0, 0, None)
    assert same.changed


def test_the_worst_element_is_named() -> None:
    wrong = compared([1.0, 2.0, 3.0, 4.0], [1.0, 2.5, 3.1, 4.0])
    assert wrong.mismatches == 2
    assert (wrong.worst_index, wrong.expected, wrong.got) == ((1,), 2.0, 2.5)
    assert wrong.largest_absolute == 0.5
    assert wrong.largest_relative == pytest.approx(0.5 / 2.5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_tolerance_is_that_of_the_type(dtype: str) -> None:
    allowed = TOLERANCE[dtype]
    assert compared([1.0], [1.0 + allowed / 2], dtype).mismatches == 0
    assert compared([1.0], [1.0 + allowed * 2], dtype).mismatches == 1
    assert compared([1.0], [1.0 + allowed * 2], dtype, tolerance=3 * allowed).mismatches == 0


def test_cancelled_elements_are_judged_by_the_size_of_the_array() -> None:
    assert compared([1e-18, 1.0, 1.0], [2e-18, 1.0, 1.0]).mismatches == 0
    assert compared([1e-18], [2e-18]).mismatches == 1


def test_one_huge_element_does_not_hide_small_errors() -> None:
    reference = [1e12] + [1.0] * 10**6
    result = [1e12] + [1.0] * (10**6 - 1) + [1.1]
    assert compared(reference, result).mismatches == 1


@pytest.mark.parametrize(("reference", "result", "mismatches"), [
    (math.nan, math.nan, 0), (math.nan, 1.0, 1), (1.0, math.nan, 1), (math.inf, math.inf, 0),
    (math.inf, -math.inf, 1), (math.inf, 1.0, 1), (1.0, math.inf, 1), (0.0, -0.0, 0), (0.0, 1e-300, 1)])
def test_values_that_are_no_numbers(reference: float, result: float, mismatches: int) -> None:
    found = compared([reference], [result])
    assert found.mismatches == mismatches
    assert found.not_finite == int(not math.isfinite(reference))


def test_integers_differ_by_any_difference() -> None:
    wrong = compared([2**62, 5], [2**62 + 1, 5], "int64")
    assert (wrong.mismatches, wrong.largest_absolute, wrong.tolerance) == (1, 1.0, 0.0)
    assert compared([255, 0], [0, 0], "uint8").largest_absolute == 255


def test_bfloat16_is_compared_as_numbers() -> None:
    one, next_one, two = 0x3F80, 0x3F81, 0x4000
    assert compared([one], [next_one], "bfloat16").mismatches == 0
    wrong = compared([one], [two], "bfloat16")
    assert (wrong.mismatches, wrong.expected, wrong.got) == (1, 1.0, 2.0)


def test_changed_says_whether_the_reference_wrote() -> None:
    assert not compared([1.0, 2.0], [1.0, 2.0], pristine=[1.0, 2.0]).changed
    assert compared([1.0, 2.0], [1.0, 2.0], pristine=[1.0, 3.0]).changed


def test_large_arrays_are_compared_piece_by_piece() -> None:
    reference = np.ones((3, CHUNK))
    result = reference.copy()
    result[2, 17] = 1.5
    found = compare("A", "float64", reference=reference, result=result, pristine=reference * 0)
    assert (found.mismatches, found.worst_index) == (1, (2, 17))


def test_an_empty_array_is_equal() -> None:
    assert compared([], []).mismatches == 0
