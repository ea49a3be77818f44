"""Points of nearly boxes, against those that isl finds one by one."""

from __future__ import annotations

import random

import islpy as isl
import pytest

from polysched.scop.box_points import LEAST_BOX, in_every_box
from polysched.scop.points import points_of


def one_by_one(domain: isl.Set) -> list[tuple[int, ...]]:
    """As isl gives them."""
    points: list[isl.Point] = []
    domain.foreach_point(points.append)
    return [tuple(int(p.get_coordinate_val(isl.dim_type.set, d).to_python())
                  for d in range(domain.dim(isl.dim_type.set))) for p in points]


@pytest.mark.parametrize("text", [
    "{ S[i, j] : 0 <= i, j < 20 }", "{ S[i, j] : -20 <= i < 5 and i <= j <= 3i + 40 }",
    "{ [i, j, k] : 0 <= i < 9 and i <= j < 9 and k = i + 2j - 7 }",
    "{ [i, j] : 0 <= i < 15 and 0 <= j < 15; [i, j] : 7 <= i < 25 and 3 <= j <= i }",
    "{ [i, j] : 0 <= i < 15 and 0 <= j < 15 and i + j != 14 }",
    "{ [i] : 10 <= i < 200; [i] : i = -300 }", "{ [i, j] : 0 <= i <= 400 and 3i = 5j }"])
def test_the_points_are_those_of_isl(text: str) -> None:
    domain = isl.Set(text)
    found = in_every_box(domain)
    assert found is not None
    assert len(set(found)) == len(found)
    assert sorted(found) == sorted(one_by_one(domain))


def test_random_sets() -> None:
    numbers = random.Random(5)
    found = 0
    for _ in range(60):
        terms = [" + ".join(f"{numbers.randint(-3, 3)}{name}" for name in "ijk") for _ in range(4)]
        pieces = [f"[i, j, k] : -4 <= i, j, k <= 5 and {terms[at]} <= {numbers.randint(-2, 9)} and "
                  f"{terms[at + 1]} >= -7" for at in (0, 2)]
        domain = isl.Set("{ " + "; ".join(pieces) + " }")
        points = in_every_box(domain)
        found += points is not None
        assert sorted(points_of(domain)) == sorted(one_by_one(domain))
    assert found > 40


@pytest.mark.parametrize("text", [
    "{ [i] : 0 <= i < 3 }", "{ [i, j] : 0 <= i < 90000 and i <= j <= i + 1 }", "{ [] : }", "{ [i] : 1 = 0 }",
    "{ [i] : 0 <= i < 1000 and i mod 3 = 0 }", f"{{ [i] : {2**70} <= i < {2**70 + 500} }}",
    f"{{ [i, j] : 0 <= i < 20 and 0 <= j < 20 and {2**61} i + {2**61} j <= {2**63} }}"])
def test_others_are_left_to_isl(text: str) -> None:
    domain = isl.Set(text)
    assert in_every_box(domain) is None
    if "90000" not in text:
        assert sorted(points_of(domain)) == sorted(one_by_one(domain))


def test_a_set_as_large_as_the_least_box() -> None:
    assert in_every_box(isl.Set(f"{{ [i] : 0 <= i < {LEAST_BOX - 1} }}")) is None
    assert in_every_box(isl.Set(f"{{ [i] : 5 <= i < {LEAST_BOX + 5} }}")) == [(i,) for i in range(5, LEAST_BOX + 5)]


@pytest.mark.parametrize("first", [2**31 - 10, 2**62 - 30, 2**63 - 10, 2**70, -2**63 - 3])
@pytest.mark.parametrize("factor", [1, 2**31, 2**61, 2**65])
def test_large_numbers(first: int, factor: int) -> None:
    domain = isl.Set(f"{{ [i, j] : {first} <= i < {first + 20} and 0 <= j < 9 and {factor}j <= {factor}i - "
                     f"{factor * (first - 3)} }}")
    assert sorted(points_of(domain)) == sorted(one_by_one(domain))


def test_more_coordinates_than_arrays_have_dimensions() -> None:
    names = [f"i{d}" for d in range(70)]
    domain = isl.Set(f"{{ [{', '.join(names)}] : 0 <= i0 < 200 and {' and '.join(f'{n} = 0' for n in names[1:])} }}")
    assert in_every_box(domain) is None
    assert len(points_of(domain)) == 200
