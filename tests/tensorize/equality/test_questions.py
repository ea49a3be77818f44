"""One budget and one memory for all that the ladder is asked in a match."""

import pytest

from polysched.scop.body import Expr
from polysched.tensorize.equality import Verdict, ladder, same_function
from polysched.tensorize.equality.questions import Questions, asked_here, one_budget
from tests.tensorize.equality.test_ladder import expression


def rounding(spelt: str) -> tuple[Expr, Expr]:
    """Two spellings of a rounding shift that only trying every value proves in time."""
    return expression(spelt), expression("($u >> 1) + ($u & 1)")


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The combinations of every exhaustive comparison."""
    counts: list[int] = []
    plain = ladder._exhaustive

    def counted(left: Expr, right: Expr, *rest: object) -> ladder.Outcome:
        before = len(counts)
        outcome: ladder.Outcome = plain(left, right, *rest)   # type: ignore[arg-type]
        counts[before:] = [ladder._nodes(left) + ladder._nodes(right)]
        return outcome

    monkeypatch.setattr(ladder, "_exhaustive", counted)
    return counts


def test_equal_questions_are_tried_once(tried: list[int]) -> None:
    with one_budget() as asked:
        answers = [same_function(*rounding(text)) for text in ("($u + 1) >> 1", "($u + 1) >> 1", "(1 + $u) >> 1")]
        assert asked.spent == 256 * sum(tried)
    assert {a.rung for a in answers} == {"exhaustive"}
    assert len(tried) == 1


def test_questions_about_other_types_or_ranges_are_other_ones() -> None:
    left, right = expression("$u % 8 == $u ? 1 : 0"), expression("1")
    with one_budget():
        assert same_function(left, right).verdict is Verdict.DIFFERENT
        assert same_function(left, right, ranges={"u[0]": (0, 7)}).verdict is Verdict.EQUAL
        assert same_function(expression("$s < 0 ? 0 : 1"), right).verdict is Verdict.DIFFERENT


def test_a_spent_budget_is_named_and_does_not_keep_what_is_cheaper_from_an_answer() -> None:
    asked: Questions[ladder.Outcome] = Questions(operations=100)
    hard = expression("$u * $u * $s % 3"), expression("($u % 3) * ($u % 3) * ($s % 3) % 3")
    outcome = same_function(*hard, conflicts=1, asked=asked)
    assert outcome.verdict is Verdict.UNKNOWN
    assert "ran out of 100 operations of exhaustive comparison" in outcome.witness
    assert (asked.spent, asked.refused) == (0, 1)
    assert same_function(expression("$u + 1"), expression("1 + $u"), asked=asked).verdict is Verdict.EQUAL
    assert same_function(expression("$u + 1"), expression("2 + $u"), asked=asked).verdict is Verdict.DIFFERENT
    assert same_function(*hard, conflicts=1).verdict is Verdict.EQUAL   # alone it has a budget of its own


def test_budgets_inside_are_the_one_around() -> None:
    with one_budget() as outer:
        with one_budget() as inner:
            assert inner is outer is asked_here()
        assert asked_here() is outer
    assert asked_here() is not outer
