"""Integer points counted by polynomials: those of counting one by one, and of sets too large for that."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.measure.programs.point_count import count_points


def read(text: str) -> isl.Set:
    return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)


@pytest.mark.parametrize("text", [
    "{ [i] : 3 <= i < 17 }",
    "{ [i, j] : 0 <= i < 9 and 0 <= j <= i }",
    "{ [i, j, k] : 0 <= i < 7 and i <= j < 7 and j < k < 9 }",
    "{ [i, j] : 0 <= i < 10 and 0 <= j < 10 and i + j < 12 and j <= i + 3 }",
    "{ [i, j] : 0 <= i < 20 and i mod 3 = 1 and 0 <= j < i }",
    "{ [i, j] : 0 <= 2i + 3j < 30 and 0 <= i and 0 <= j }",
    "{ [i] : 0 <= i < 5; [i] : 3 <= i < 9 }",
    "{ [i, j] : i = 2j + 1 and 0 <= i < 30 }",
    "{ A[i, j] : 0 <= i < 4 and 0 <= j < 4; A[i, j] : 2 <= i < 6 and 2 <= j < 6 }",
    "{ [i] : 1 = 0 }",
    "{ [i, j] : floor(i/3) = floor(j/4) and 0 <= i < 11 and 0 <= j < 13 }",
])
def test_as_many_as_there_are(text: str) -> None:
    assert count_points(read(text)) == read(text).count_val().to_python()


@pytest.mark.parametrize(("text", "count"), [
    ("{ [i, j] : 0 <= i < 1000000 and 0 <= j < 1000000 }", 10**12),
    ("{ [i, j] : 0 <= i < 1000000 and 0 <= j <= i }", 10**6 * (10**6 + 1) // 2),
    ("{ [i, j, k] : 0 <= i <= j and j <= k and k < 100000 }", 100000 * 100001 * 100002 // 6),
])
def test_sets_that_nobody_visits(text: str, count: int) -> None:
    assert count_points(read(text)) == count


def test_a_set_without_an_end() -> None:
    with pytest.raises(ValueError, match="infinitely many"):
        count_points(read("{ [i] : i >= 0 }"))
