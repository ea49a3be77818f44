"""Rewrites of programs: named in the order in which they were done, and none that reads beside a table."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from polysched.fuzz.matches import words
from polysched.fuzz.matches.c_tree import Assign, Binary, Element, Expr, Function, Looked, Number
from polysched.fuzz.matches.loop_words import embedded
from polysched.fuzz.matches.units import unit
from polysched.fuzz.matches.words import WORDS, keeps_tables, reworded

AGAIN = {"expression", "scalar", "unrolled", "sum joined"}


def test_so_many_are_done_at_most_and_few_of_them_twice() -> None:
    for seed in range(60):
        source = random.Random(seed)
        function, _ = embedded(source, unit(seed))
        new, done = reworded(source, function, 5)
        assert len([d for d in done if d != "sum joined"]) <= 5
        assert {n for n, count in Counter(done).items() if count > 1} <= AGAIN
        assert set(done) <= set(WORDS)
        assert done or new == function   # two may undo one another


def test_none_is_done_where_none_is_asked_for() -> None:
    function = unit(4).function
    assert reworded(random.Random(1), function, 0) == (function, ())


def test_names_say_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that each put their own name into the function's."""
    def word(name: str) -> words.Word:
        return lambda source, function: replace(function, name=f"{function.name} {name}")

    monkeypatch.setattr(words, "WORDS", {"a": (word("a"), 1), "expression": (word("expression"), 1),
                                         "never": (lambda source, function: None, 1),
                                         "nothing": (lambda source, function: function, 1)})
    for seed in range(30):
        function, done = reworded(random.Random(seed), replace(unit(4).function, name="f"), 6)
        assert function.name.split() == ["f", *done]
        assert done.count("a") <= 1
        assert set(done) <= {"a", "expression"}


def looked(index: Expr, extent: int) -> Function:
    body = (Assign(Element("C"), "=", Looked("T", index, extent)),)
    return Function("f", (("C", "int32_t"), ("T", "int32_t"), ("A", "uint8_t")), body)


@pytest.mark.parametrize(("index", "kept"), [
    (Binary("&", Element("A"), Number("7")), True), (Binary("&", Element("A"), Number("0x7u")), True),
    (Binary("&", Element("A"), Number("15")), False), (Binary("&", Number("7"), Element("A")), False),
    (Binary("|", Element("A"), Number("7")), False), (Element("A"), False), (Number("3"), False)])
def test_an_index_is_masked_to_its_table(index: Expr, kept: bool) -> None:
    assert keeps_tables(looked(index, 8)) == kept


def test_a_word_that_unmasks_a_table_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "WORDS", {"bad": (lambda source, function: looked(Element("A"), 8), 1)})
    own = looked(Binary("&", Element("A"), Number("7")), 8)
    assert reworded(random.Random(0), own, 3) == (own, ())
