from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.notebook.tutorial.answers import State, check
from polysched.notebook.tutorial.pairs import AccessIs, DistancesOf, KindsOf, LoopsThat, PairOf, RelationIs
from tests.notebook.tutorial.programs_asked_about import diagonal, program, steps, triangle

SIZES = {"T": 4, "n": 8}


def test_access_relations_count_on_instances_alone():
    scop = steps()
    question = AccessIs(scop=scop, access=scop.statement("S0").accesses[1])
    for answer in ("{ S0[t, i] -> a[i + 1] }", "[n] -> { S0[t, i] -> a[1 + i] : i > -5 }"):
        assert check(answer, question).state is State.RIGHT
    assert check("{ S0[t, i] -> a[i - 1] }", question).text.startswith("S0[0, 1] -> a[2] at T = 1, n = 3 touches")
    for answer in ("{ S0[t, i] -> b[i + 1] }", "{ S0[i] -> a[i + 1] }", "[k] -> { S0[t, i] -> a[i + k] }", "a[i + 1]",
                   2, "{ S0[t, i] -> a[i + 1]; S0[t, i] -> a[i] }"):
        assert check(answer, question).state is State.WRONG


def test_kinds_are_those_of_the_analysis():
    question = KindsOf(dependences=analyse(diagonal()))
    assert check({"flow"}, question).state is State.RIGHT
    assert "S0[1, 1] -> S0[2, 0] at n = 3" in check(set(), question).hint
    assert check({"flow", "output"}, question).text == "there is no output dependence"
    assert check({"read"}, question).state is State.WRONG
    assert check(set(), KindsOf(dependences=analyse(triangle()))).state is State.RIGHT


def test_relations_are_compared_by_isl():
    question = RelationIs(dependences=analyse(diagonal()))
    right = "[n] -> { S0[i, j] -> S0[i + 1, j - 1] : 1 <= i < n - 1 and 1 <= j < n - 1 }"
    assert check(right, question).state is State.RIGHT
    verdict = check("{ S0[i, j] -> S0[i + 1, j - 1] }", question)
    assert verdict.state is State.WRONG
    assert verdict.hint.startswith("not all instances run")
    assert check(right.replace("1 <= i", "2 <= i"), question).text.startswith("S0[1, 1] -> S0[2, 0] at n = 3 is a flow")


def test_pairs_are_looked_up():
    question = PairOf(dependences=analyse(steps()), sizes=SIZES, kinds=("anti",))
    for answer in ("S0[0, 1] -> S0[0, 2]", "{ S0[0, 3] -> S0[1, 2] }"):
        assert check(answer, question).state is State.RIGHT
    assert check("S0[0, 2] -> S0[0, 1]", question).hint.endswith("turn the pair around")
    assert check("S0[0, 7] -> S0[1, 6]", question).text == "S0[0, 7] does not run at T = 4, n = 8"
    for answer in ("S0[0, 1] -> S0[1, 1]", "S0[t, 1] -> S0[t, 2]", "S0[0, 1]", "S1[0, 1] -> S0[0, 2]", 3,
                   "S0[0, 1] -> S0[0, 2]; S0[0, 2] -> S0[0, 3]"):
        assert check(answer, question).state is State.WRONG


def test_distances_are_all_of_them():
    question = DistancesOf(dependences=analyse(steps()))
    assert check({(0, 1), (1, -1)}, question).state is State.RIGHT
    assert check({(0, 1)}, question).hint == "subtract the two instances of S0[0, 2] -> S0[1, 1] at T = 2, n = 4"
    assert check({(0, 1), (1, -1), (1, 0)}, question).text == "no pair of instances is (1, 0) apart"
    for answer in ({1}, {(1,)}, (0, 1), {(0, "x")}):
        assert check(answer, question).state is State.WRONG


def test_distances_without_bound_are_refused_in_words():
    sums = analyse(program("int n, double *s, double a[restrict n]", "for (int i = 0; i < n; i++) a[i] = s[0];\n"
                           "for (int j = 0; j < n; j++) s[0] = 1.0;"), value_based=False)
    verdict = check({(1,)}, DistancesOf(dependences=sums, kinds=("output",)))
    assert verdict.text == "the distances grow with the sizes, so nobody can list them"
    assert check({(1,)}, DistancesOf(dependences=sums, kinds=("anti",))).text.startswith("a dependence between two")


def test_no_pairs_have_no_distances():
    question = DistancesOf(dependences=analyse(triangle()))
    assert check(set(), question).state is State.RIGHT
    assert check({(0, 1)}, question).state is State.WRONG


@pytest.mark.parametrize(("carry", "right", "wrong"), [(True, {"i"}, {"i", "j"}), (False, {"j"}, {"i"})])
def test_loops_carry_what_the_analysis_says(carry, right, wrong):
    question = LoopsThat(dependences=analyse(diagonal()), carry=carry)
    assert check(right, question).state is State.RIGHT
    assert check(wrong, question).state is State.WRONG
    assert check(set(), question).state is State.WRONG
    assert check({"k"}, question).text == "'k' is none of i, j"
