from __future__ import annotations

from dataclasses import dataclass

import pytest

from polysched.errors import UsageError
from polysched.notebook.tutorial.answers import (
    State,
    Verdict,
    as_number,
    as_text,
    as_words,
    check,
    right,
    sizes_text,
    wrong,
)


@dataclass(frozen=True)
class Three:
    """What is three?"""

    expects = "a whole number"

    def judge(self, answer: object) -> Verdict:
        return right("<3>") if as_number(answer) == 3 else wrong("no", "count & see")


def test_no_answer_is_neither_right_nor_wrong():
    for answer in (..., None):
        verdict = check(answer, Three())
        assert verdict.state is State.OPEN
        assert str(verdict) == "no answer yet: replace the three dots by a whole number\n"


def test_right_and_wrong_say_so_in_text_and_page():
    assert str(check(3, Three())) == "right: <3>\n"
    assert str(check(4, Three())) == "wrong: no\n  hint: count & see\n"
    assert repr(check(3, Three())) == "<Verdict right: <3>>"
    assert "<b>right</b>: &lt;3&gt;</div>" in check(3, Three())._repr_html_()
    assert "<i>hint:</i> count &amp; see" in check(4, Three())._repr_html_()


@pytest.mark.parametrize("answer", ["3", 3.0, True, [3]])
def test_an_answer_of_another_kind_is_wrong_with_what_it_is(answer):
    verdict = check(answer, Three())
    assert verdict.state is State.WRONG
    assert verdict.hint == f"it is {answer!r}"


def test_an_error_that_is_no_refusal_is_not_swallowed():
    class Broken(Three):
        def judge(self, answer: object) -> Verdict:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        check(3, Broken())


def test_words_are_known_names_in_any_collection():
    for answer in ({"a"}, ["a"], ("a", "a"), frozenset("a")):
        assert as_words(answer, "ab") == {"a"}
    assert as_words(set(), "ab") == set()
    for answer in ("a", {"c"}, {1}, 5, {"a": 1}):
        with pytest.raises(UsageError):
            as_words(answer, "ab")


def test_text_is_text():
    assert as_text("x", "y") == "x"
    with pytest.raises(UsageError, match="quotation marks"):
        as_text(5, "y")


def test_sizes_are_told_only_where_there_are_some():
    assert sizes_text([]) == ""
    assert sizes_text([("n", 3), ("m", 4)]) == " at n = 3, m = 4"
