"""Values of loops as quotients and a rest."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.dependence.reordering.quotients import have_quotients, quotients

SPACE = "[n] -> {{ S[t, i] -> [({})] }}"


@pytest.mark.parametrize(("value", "signs", "dividends", "rest"), [
    ("floor(t/32)", ((1, 32),), ("t",), "0"),
    ("floor((t + 1)/32) + floor((2t + i)/16) - 3", ((1, 16), (1, 32)), ("2t + i", "1 + t"), "-3"),
    ("2*floor((n - i)/8) - floor(t/4) + i", ((-1, 4), (2, 8)), ("t", "n - i"), "i"),
    ("floor((i + 2*floor(t/3))/5)", ((1, 5),), ("i + 2*floor(t/3)",), "0"),
])
def test_quotients_of_a_value(value: str, signs: tuple[tuple[int, int], ...], dividends: tuple[str, ...],
                              rest: str) -> None:
    found = quotients(isl.PwAff(SPACE.format(value)))
    assert found is not None
    assert found.signs == signs
    for dividend, wanted in zip((*found.dividends, found.rest), (*dividends, rest), strict=True):
        assert dividend.is_equal(isl.PwAff(SPACE.format(wanted)))


@pytest.mark.parametrize("value", ["t + i", "0", "floor(t/2)/3"])
def test_values_without_quotients_of_whole_factors(value: str) -> None:
    assert quotients(isl.PwAff(SPACE.format(value))) is None


def test_values_with_cases_have_none() -> None:
    assert quotients(isl.PwAff("{ S[t] -> [floor(t/2)] : t < 4; S[t] -> [floor(t/3)] : t >= 4 }")) is None


def test_some_value_has_quotients() -> None:
    plain, divided = isl.PwAff("{ S[t] -> [(t)] }"), isl.PwAff("{ R[t] -> [(floor(t/8))] }")
    assert not have_quotients({"S": plain})
    assert have_quotients({"S": plain, "R": divided})
