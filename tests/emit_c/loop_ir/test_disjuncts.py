"""Intersections that are looked at only as far as a question needs: the same answers as those of isl."""

from __future__ import annotations

import random

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.disjuncts import Intersection
from polysched.scop.budget import with_budget


def set_of(text: str) -> isl.Set:
    return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)


def chain(*texts: str) -> Intersection:
    made = None
    for text in texts:
        made = Intersection(set_of(text), made)
    assert made is not None
    return made


EITHER = "[a] -> { : a <= 3 or a >= 7 }"


def test_one_disjunct_is_enough() -> None:
    made = chain(EITHER, *(f"[a, b{k}] -> {{ : b{k} <= a or b{k} > 2a }}" for k in range(12)))
    assert not made.is_empty()
    assert len(made.found) == 1   # of 2 to the power of 13
    assert not made.is_whole


def test_others_are_looked_at_where_the_first_are_empty() -> None:
    assert not chain(EITHER, "[a, b] -> { : b <= a or b >= a + 10 }", "[b] -> { : b = 12 or b = 17 }",
                     "[a] -> { : a > 6 }").is_empty()
    made = chain(EITHER, "[a, b] -> { : 2b = a or 2b = a + 2 }", "[a] -> { : 4 <= a <= 7 }")
    assert made.is_empty()   # a is 7 and even, which one has to look into the disjuncts to know
    assert made.is_whole


@pytest.mark.parametrize("texts", [
    ("{ : }",), ("{ : false }",), (EITHER,), ("{ : false }", EITHER), (EITHER, "{ : false }"), (EITHER, EITHER),
    ("[a] -> { : a = 5 }", EITHER), ("[a] -> { : 2 * floor(a / 2) = a }", "[a] -> { : 2 * floor(a / 2) + 1 = a }")])
def test_of_nothing_and_of_everything(texts: tuple[str, ...]) -> None:
    whole = set_of(texts[0])
    for text in texts[1:]:
        whole = whole.intersect(set_of(text))
    assert chain(*texts).is_empty() == whole.is_empty()


def test_random_conditions() -> None:
    """Unions of a few intervals of sums, over more and more variables; asked again and again on the way."""
    drawn = random.Random(4)
    answers = []
    for _ in range(60):
        whole, made = set_of("{ : }"), Intersection(set_of("{ : }"))
        for _ in range(8):
            names = drawn.sample("abc", drawn.randint(1, 3))
            form = " + ".join(f"{drawn.randint(-2, 3)} {name}" for name in names)
            pieces = [f"{low} <= {form} <= {low + drawn.randint(0, 9)}" for low in (
                drawn.randint(-20, 20) for _ in range(drawn.randint(1, 3)))]
            more = set_of(f"[a, b, c] -> {{ : {' or '.join(pieces)} }}")
            whole, made = whole.intersect(more), Intersection(more, made)
            if drawn.random() < 0.6:
                answers.append(bool(whole.is_empty()))
                assert made.is_empty() is answers[-1], whole
    assert {True, False} == set(answers)


def test_more_conditions_than_calls_inside_each_other() -> None:
    made = chain("[a] -> { : a >= 0 }", *("[a] -> { : a <= 5 or a >= 8 }" for _ in range(1500)))
    assert not made.is_empty()


def test_what_does_not_fit_its_budget_is_no_answer() -> None:
    made = chain(EITHER, *(f"[a, b] -> {{ : {k} <= 3b + 2a <= {k + 1} or a + b > {k} }}" for k in range(9)))
    assert with_budget(1, made.is_empty) is None
    assert not made.is_empty()
