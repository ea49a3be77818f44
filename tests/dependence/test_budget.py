"""Budgets of isl operations: the value, None, or the error that has nothing to do with the budget."""

import islpy as isl
import pytest

from polysched.dependence.budget import with_budget


def costly() -> isl.Set:
    result = isl.Set("[n] -> { [i, j] : 0 <= i < n }")
    for k in range(20):
        result = result.subtract(isl.Set(f"[n] -> {{ [i, j] : {k} <= j - i <= n - {k} }}")).coalesce()
    return result


def test_value_or_none() -> None:
    assert with_budget(10_000_000, costly) is not None
    assert with_budget(50, costly) is None
    assert costly().is_equal(costly()), "isl works again after a budget was used up"


def test_other_errors_pass_through() -> None:
    with pytest.raises(isl.Error):
        with_budget(1_000_000, lambda: isl.Set("{ [i] : 0 <= }"))


def test_the_smaller_of_two_budgets_holds_inside() -> None:
    assert with_budget(10_000_000, lambda: (with_budget(50, costly), costly())[0]) is None
    assert with_budget(50, lambda: with_budget(10_000_000, costly)) is None
    assert with_budget(10_000_000, lambda: (with_budget(50, costly), costly())) is not None
