"""Points of sets counted nearly: against the formula, where counting one by one would take as long as running."""

import islpy as isl
import pytest

from polysched.tiling.footprints.point_count import point_count


@pytest.mark.parametrize(("text", "expected"), [
    ("{ [i, j] : 0 <= i < 100000 and 2 <= j < 5 }", 300_000),
    ("{ [i, j] : 0 <= i < 1000 and 0 <= j <= i }", 500_500),
    ("{ [i, j] : 0 <= i < 1000 and 0 <= j < 500 and (i + j) mod 3 = 0 }", 166_667),
    ("{ [i, j, k] : 0 <= i < 400 and j = i + 2 and i <= k < 400 }", 80_200),
    ("{ [k, i] : 0 <= k < i < 350; [k, i] : 0 <= i < k < 350 }", 350 * 349),
    ("{ [i, j] : exists a : 24a <= j < 24a + 24 and 24a > i and 24a + 23 < 480 and 0 <= i < 480 }",
     sum(24 * 24 * a for a in range(20))),
])
def test_nearly_as_many_points(text: str, expected: int) -> None:
    assert point_count(isl.Set(text)) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(("text", "expected"), [
    ("{ [i] : 0 <= i < 10000000000 }", 10**10), ("{ [i] : 2i = 7 }", 0), ("{ [] }", 1), ("{ [i] : i = 3 }", 1),
    ("{ [i, j] : 0 <= j <= i < 60 }", 1830),
])
def test_boxes_and_small_sets_are_counted_exactly(text: str, expected: int) -> None:
    assert point_count(isl.Set(text)) == expected
