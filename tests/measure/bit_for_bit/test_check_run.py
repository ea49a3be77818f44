"""What counts as a difference, element by element, and which functions a check finds wrong."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from polysched.measure.bit_for_bit.check_run import Check, differing, first_difference, inside, judge, shown
from polysched.measure.processes.child_side import Reporter
from tests.measure.bit_for_bit.one_sum import item, library
from tests.measure.told import Told

INF, NAN, MOST = np.inf, np.nan, float(np.finfo("float64").max)


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return library(tmp_path_factory.mktemp("sums"))


def judged(sums: ctypes.CDLL, entry: str, **other: Any) -> tuple[bool, list[dict[str, Any]]]:
    told = Told()
    good = judge(Check(item(entry, **other), sums, sums), cast(Reporter, told))
    return good, [r for r in told.reports if "phase" not in r]


@pytest.mark.parametrize(("equality", "unequal"), [
    ("bit for bit", [(0.0, -0.0), (1.0, 1.0 + 2**-52), (INF, -INF), (INF, MOST), (NAN, 1.0), (1.0, NAN)]),
    ("as numbers", [(1.0, 1.0 + 2**-52), (INF, -INF), (INF, MOST), (NAN, INF), (5e-324, 0.0)]),
    ("up to rounding", [(1.0, 1.0 + 1e-6), (INF, -INF), (INF, 1.0), (-INF, MOST), (1.0, INF), (NAN, INF), (2.0, NAN)])])
def test_every_other_pair_of_these_floats_differs(equality: str, unequal: Sequence[tuple[float, float]]) -> None:
    for left, right in unequal:
        assert differing(np.array([left]), np.array([right]), "float64", equality).tolist() == [True], (left, right)


@pytest.mark.parametrize(("equality", "equal"), [
    ("bit for bit", [(NAN, -NAN), (INF, INF), (-0.0, -0.0)]), ("as numbers", [(0.0, -0.0), (NAN, NAN), (-INF, -INF)]),
    ("up to rounding", [(0.0, -0.0), (1.0, 1.0 + 1e-12), (INF, INF), (NAN, NAN), (MOST, MOST * (1 - 1e-12))])])
def test_these_are_equal(equality: str, equal: Sequence[tuple[float, float]]) -> None:
    for left, right in equal:
        assert differing(np.array([left]), np.array([right]), "float64", equality).tolist() == [False], (left, right)


def test_what_cancels_is_held_to_the_digits_of_its_array() -> None:
    left, right = np.array([1e-12, 1.0, INF, NAN]), np.array([0.0, 1.0, INF, NAN])
    assert not differing(left, right, "float64", "up to rounding").any()
    assert differing(left[:1], right[:1], "float64", "up to rounding").all()


def test_short_floats_are_compared_as_the_numbers_that_they_are() -> None:
    zeros = np.array([0x0000, 0x8000, 0x7FC0], "uint16")
    others = np.array([0x8000, 0x8000, 0x7FFF], "uint16")
    assert differing(zeros, others, "bfloat16", "bit for bit").tolist() == [True, False, False]
    assert not differing(zeros, others, "bfloat16", "as numbers").any()
    assert differing(zeros, others, "uint16", "as numbers").tolist() == [True, False, True]


def test_an_element_is_shown_with_all_its_digits() -> None:
    assert shown(np.array([[0.1]]), (0, 0), "float64") == "0.1"
    assert shown(np.array([0x3FC0], "uint16"), (0,), "bfloat16") == "1.5"
    assert shown(np.array(2**64 - 1, "uint64"), (), "uint64") == "18446744073709551615"


def test_boxes_hold_their_ends() -> None:
    mask = inside([[[0, 1], [2, 2]], [[3, 3], [0, 4]]], (4, 5))
    expected = np.zeros((4, 5), bool)
    expected[0:2, 2] = expected[3] = True
    assert (mask == expected).all()


def test_equal_code_is_found_equal_on_every_trial(sums: ctypes.CDLL) -> None:
    assert judged(sums, "right") == (True, [{"equal": "i 7"}])
    assert judged(sums, "right", sampled=True) == (True, [{"equal": "i 7 (some elements)"}])


def test_one_wrong_element_is_named(sums: ctypes.CDLL) -> None:
    good, (report,) = judged(sums, "wrong")
    assert not good
    found = report["difference"]
    assert (found["array"], found["index"], found["count"], found["of"]) == ("C", (3,), 1, 7)
    assert (int(found["found"]) - int(found["expected"])) % 2**32 == 1
    assert found["data"] == "C random, A random"


@pytest.mark.parametrize("entry", ["beside", "wrong_and_beside"])
def test_a_write_beside_an_array_counts_before_its_values(sums: ctypes.CDLL, entry: str) -> None:
    assert judged(sums, entry) == (False, [{"stray": {"array": "C", "which": "replaced", "sizes": "i 7"}}])


def test_code_that_leaves_these_sizes_is_neither_equal_nor_wrong(sums: ctypes.CDLL) -> None:
    assert judged(sums, "skips") == (True, [{"skipped": "i 7"}])


def test_what_is_dead_or_outside_of_boxes_does_not_compare(sums: ctypes.CDLL) -> None:
    c, a = item("wrong")["arrays"]
    assert judged(sums, "wrong", arrays=[c | {"compared": False}, a])[0]
    assert judged(sums, "wrong", arrays=[c | {"boxes": [[[0, 2]], [[4, 6]]]}, a])[0]
    assert not judged(sums, "wrong", arrays=[c | {"boxes": [[[3, 3]]]}, a])[0]


def test_a_sampled_check_looks_at_what_the_original_changed(sums: ctypes.CDLL) -> None:
    check = Check(item("right", sampled=True), sums, sums)
    check.fill(0)
    before = [a.copy() for a in check.pristine]
    expected, found = [before[0].copy(), before[1]], [before[0] + 1, before[1]]
    assert first_difference(check, expected, found) is None
    expected[0][5] += 2
    different = first_difference(check, expected, found)
    assert different is not None
    assert (different["index"], different["count"]) == ((5,), 1)


def test_trials_mix_the_ways_of_the_arrays_and_repeat(sums: ctypes.CDLL) -> None:
    check = Check(item("right"), sums, sums)
    told = [check.fill(trial) for trial in range(6)]
    values = [a.copy() for a in check.pristine]
    assert told == ["C random, A random", "C corners, A corners", "C mixed, A mixed", "C small, A small",
                    "C random, A corners", "C corners, A small"]
    check.fill(5)
    assert all((a == b).all() for a, b in zip(values, check.pristine, strict=True))
    assert not (check.pristine[0] == check.pristine[1]).all()
