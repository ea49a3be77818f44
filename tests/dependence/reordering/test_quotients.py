"""Values of loops as quotients and a rest."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.dependence.reordering.quotients import alike, have_quotients, quotients

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


def test_values_with_cases_have_those_that_are_alike() -> None:
    found = quotients(isl.PwAff("{ S[t] -> [(1 + floor(t/9))] : t < 4; S[t] -> [floor((4t)/9)] : t >= 4 }"))
    assert found is not None
    assert found.signs == ((1, 9),)
    assert found.dividends[0].is_equal(isl.PwAff("{ S[t] -> [(t)] : t < 4; S[t] -> [(4t)] : t >= 4 }"))
    assert found.rest.is_equal(isl.PwAff("{ S[t] -> [(1)] : t < 4; S[t] -> [(0)] : t >= 4 }"))
    assert quotients(isl.PwAff("{ S[t] -> [floor(t/2)] : t < 4; S[t] -> [floor(t/3)] : t >= 4 }")) is None
    assert quotients(isl.PwAff("{ S[t] -> [floor(t/2)] : t < 4; S[t] -> [(t)] : t >= 4 }")) is None


@pytest.mark.parametrize(("one", "other", "pairs"), [
    ("floor(t/8) + i", "floor((t + 1)/8)", [("t", "1 + t"), ("i", "0")]),
    ("floor(t/8)", "floor(t/4)", None), ("-floor(t/8)", "-floor(t/8)", None), ("t", "floor(t/8)", None)])
def test_what_decides_the_order_of_two_values(one: str, other: str, pairs: list[tuple[str, str]] | None) -> None:
    found = alike(isl.PwAff(SPACE.format(one)), isl.PwAff(SPACE.format(other)))
    assert (found is None) == (pairs is None)
    for got, wanted in zip(found or (), pairs or (), strict=True):
        assert all(value.is_equal(isl.PwAff(SPACE.format(text))) for value, text in zip(got, wanted, strict=True))


def test_some_value_has_quotients() -> None:
    plain, divided = isl.PwAff("{ S[t] -> [(t)] }"), isl.PwAff("{ R[t] -> [(floor(t/8))] }")
    assert not have_quotients({"S": plain})
    assert have_quotients({"S": plain, "R": divided})
    assert have_quotients({"S": isl.PwAff("{ S[t] -> [(0)] : t < 4; S[t] -> [(1)] : t mod 4 = 1 and t > 9 }")})
