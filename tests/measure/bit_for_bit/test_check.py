"""Reports of checks read back: equal, one element that differs, or why there is no answer."""

from __future__ import annotations

import pytest

from polysched.measure.bit_for_bit.check import TRIALS, CheckOutcome, Difference, read_outcome

DIFFERENT = {"array": "C", "index": [2, 3], "expected": "7", "found": "8", "count": 5, "of": 100, "sizes": "i 10",
             "data": "corners"}


def test_all_that_were_equal() -> None:
    made = read_outcome([{"equal": "i 10"}, {"other": 1}, {"equal": "i 11"}], failure="")
    assert made == CheckOutcome(sizes=("i 10", "i 11"), trials=TRIALS)
    assert made.equal


def test_the_first_difference_counts() -> None:
    made = read_outcome([{"equal": "i 9"}, {"difference": DIFFERENT}, {"difference": DIFFERENT | {"array": "D"}}],
                        failure="")
    assert made.difference is not None
    assert str(made.difference) == ("C[2][3] has to be 7 and is 8 (5 of 100 elements differ; i 10; corners)")
    assert made.sizes == ("i 9",)
    assert not made.equal


@pytest.mark.parametrize(("reports", "failure", "why"), [
    ([], "", "no size that was tried reaches the code with the instruction"),
    ([], "the process hung", "the process hung"),
    ([{"equal": "i 9"}], "the process crashed", "the process crashed"),
    ([{"stray": {"which": "replaced", "array": "A", "sizes": "i 9"}}], "",
     "the replaced code writes beside the array A at i 9"),
])
def test_no_answer(reports: list, failure: str, why: str) -> None:
    made = read_outcome(reports, failure=failure)
    assert made.failure == why
    assert not made.equal


def test_an_element_of_a_scalar_has_no_subscript() -> None:
    scalar = Difference(array="s", index=(), expected="1", found="2", count=1, elements=1, sizes="n", data="d")
    assert str(scalar).startswith("s has to be 1 and is 2")
