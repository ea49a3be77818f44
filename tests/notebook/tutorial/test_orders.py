from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.notebook.tutorial.answers import State, check
from polysched.notebook.tutorial.orders import BrokenPair, IllegalOrder, IsLegal, LeastSkew, OrderThat, StepsBefore
from polysched.scheduling import original
from polysched.scheduling.primitives import Interchange, Reverse, Skew
from tests.notebook.tutorial.programs_asked_about import diagonal

SWAP = Interchange(outer="i", inner="j")


@pytest.fixture(scope="module")
def dependences():
    return analyse(diagonal())


def test_an_order_is_legal_and_has_what_was_wanted(dependences):
    question = OrderThat(dependences=dependences, first="S0[3, 1]", then="S0[1, 5]", sizes={"n": 7})
    assert check("{ S0[i, j] -> [i + j, i] }", question).state is State.RIGHT
    assert check("{ S0[i, j] -> [i, j] }", question).text == "it is legal, but S0[1, 5] runs before S0[3, 1]"
    assert "S0[1, 1] must run before S0[2, 0]" in check("{ S0[i, j] -> [j, i] }", question).hint
    for answer in ("{ S0[i] -> [i] }", "nonsense", "{ S0[i, j] -> [i, j] : i > 2 }", 4):
        assert check(answer, question).state is State.WRONG


def test_an_illegal_order_is_refused_with_a_witness(dependences):
    question = IllegalOrder(dependences=dependences)
    for answer in ("{ S0[i, j] -> [j, i] }", "{ S0[i, j] -> [-i, j] }", "{ S0[i, j] -> [0] }"):
        assert check(answer, question).text.startswith("it is refused: S0[1, 1] must run before")
    for answer in ("{ S0[i, j] -> [i, -j] }", "{ S0[i] -> [i] }", "nonsense"):   # what is no order is not illegal
        assert check(answer, question).state is State.WRONG


def test_a_broken_pair_is_a_dependence_that_changes_places(dependences):
    question = BrokenPair(dependences=dependences, order="{ S0[i, j] -> [j, i] }", sizes={"n": 7})
    assert check("S0[1, 5] -> S0[2, 4]", question).text.endswith("the dates are (5, 1) and (4, 2)")
    assert check("S0[1, 5] -> S0[2, 5]", question).text == "the second does not depend on the first"
    kept = BrokenPair(dependences=dependences, order="{ S0[i, j] -> [i, j] }", sizes={"n": 7})
    assert check("S0[1, 5] -> S0[2, 4]", kept).state is State.WRONG


@pytest.mark.parametrize("answer", [Skew(loop="j", by="i", factor=1), (Skew(loop="j", by="i", factor=3),),
                                    Reverse(loop="j")])
def test_steps_that_make_another_one_legal(dependences, answer):
    assert check(answer, StepsBefore(start=original(dependences), then=SWAP)).state is State.RIGHT


@pytest.mark.parametrize(("answer", "said"), [
    ((), "the step interchange is still refused"), (Reverse(loop="i"), "the steps themselves are refused"),
    (Skew(loop="q", by="i", factor=1), "no loop is called 'q'"), ("skew", "should be a step"),
    (Skew, "should be a step")])
def test_other_steps_are_wrong(dependences, answer, said):
    verdict = check(answer, StepsBefore(start=original(dependences), then=SWAP))
    assert verdict.state is State.WRONG
    assert said in verdict.text


def test_the_least_factor_is_the_least(dependences):
    question = LeastSkew(start=original(dependences), loop="j", by="i", then=SWAP)
    assert check(1, question).state is State.RIGHT
    assert check(2, question).text == "2 will do, and so will 1"
    assert "is refused" in check(0, question).text


def test_legality_is_true_or_false(dependences):
    question = IsLegal(start=original(dependences), steps=(SWAP,))
    assert check(False, question).state is State.RIGHT
    assert check(True, question).state is State.WRONG
    assert check(0, question).state is State.WRONG
    legal = IsLegal(start=original(dependences), steps=(Reverse(loop="j"),))
    assert check(True, legal).state is State.RIGHT
    assert check(False, legal).state is State.WRONG
