"""What a search asks of a launch is computed once, and nothing is kept of an answer that a budget cut short."""

from __future__ import annotations

from functools import partial

import islpy as isl
import pytest

from polysched.gpu.known import Known
from polysched.scop.budget import with_budget


def test_equal_questions_have_one_answer() -> None:
    known, asked = Known(), []

    def compute() -> int:
        asked.append(1)
        return len(asked)

    one, other = isl.UnionSet("{ S[i] : 0 <= i < 4 }"), isl.UnionSet("{ S[i] : 0 <= i < 4 }")
    assert [known.once(("size", one, (8, 4)), compute) for _ in range(3)] == [1, 1, 1]
    assert known.once(("size", other, (8, 4)), compute) == 2   # told apart by identity
    assert known.once(("size", one, (8, 8)), compute) == 3


def test_values_of_questions_live_as_long_as_their_answers() -> None:
    known = Known()
    answers = [known.once(("n", isl.UnionSet(f"{{ S[{n}] }}")), partial(int, n)) for n in range(50)]
    assert answers == list(range(50))


def test_what_a_budget_cut_short_is_asked_again() -> None:
    known = Known()

    def hard() -> isl.Set:
        return isl.Set("{ [i, j, k] : 0 <= i, j, k < 1000 and (i + j + k) mod 7 = 2 }").subtract(
            isl.Set("{ [i, j, k] : i + 2 j <= 3 k }")).coalesce()

    assert with_budget(1, lambda: known.once(("hard",), hard)) is None
    assert known.once(("hard",), hard).is_equal(hard())


def test_an_error_is_no_answer() -> None:
    known = Known()
    with pytest.raises(ZeroDivisionError):
        known.once(("quotient",), lambda: 1 // 0)
    assert known.once(("quotient",), lambda: 1) == 1
