"""Terms of an expression are raced with each other, and the fastest have recipes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from polysched.errors import RunFailedError
from polysched.measure.field import Ran, Verdict
from polysched.measure.paired import MeasureOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop.expression import placeholder
from polysched.search.building import Candidate
from polysched.search.database import Database
from polysched.search.rewriting import tuned_terms
from polysched.search.rewriting.rewriter import variants
from polysched.search.rewriting.rules import RULES
from polysched.search.rewriting.sketches import contains, stage, total
from polysched.search.rewriting.tuned_terms import least_work, term_of, tune_expression, work_of
from polysched.search.tuning import Budget
from tests.search.programs import OPTIONS
from tests.search.rewriting.programs import matrix_product


def chain(m: int = 64, k: int = 64, n: int = 64, p: int = 1):
    """(A B) C, of which A (B C) is far less work where C is a column."""
    a, b, c = placeholder("A", (m, k), "float64"), placeholder("B", (k, n), "float64"), placeholder(
        "C", (n, p), "float64")
    return matrix_product(matrix_product(a, b, "T"), c, "O")


CHAIN = [rule for rule in RULES if rule.name == "chain order"]


def one(choose, dependences) -> Recipe:
    return Recipe(flags=(choose.one_of("flag", ("-O2", "-funroll-loops")),))


def search(**arguments: Any):
    return tune_expression(chain(), **{
        "options": OPTIONS.but(reassociate=True), "threads": 1, "space": one, "strategy": "grid", "rules": CHAIN,
        "budget": Budget(trials=4), "measure": MeasureOptions(flags=("-O1",)), **arguments})


def test_the_cheaper_order_of_a_chain_is_found(tmp_path):
    found = search(database=tmp_path / "tuned.db")
    ratios = {str(found.terms[term_of(t)]): t.ratio for t in found.trials}
    assert max(ratios, key=ratios.get) == "chain order of O"
    assert ratios["chain order of O"] > 2
    assert {str(found.terms[number]) for number in found.searched} >= {"as written", "chain order of O"}
    value = found.to_json()
    assert {"trials", "rejected", "seconds", "gain", "recipe", "bound", "term"} <= set(value)
    assert f"term: {found.term}" in str(found)
    assert "recipes were searched for: none\n" in str(replace(found, searched={}))
    assert value["trials"] <= 4
    with Database(tmp_path / "tuned.db", read_only=True) as database:
        assert len(database.tasks()) == len(found.searched)


class Judge:
    """Made-up verdicts of terms, in the order of their races."""

    def __init__(self, wrong: int) -> None:
        self.wrong = wrong

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        for number, candidate in enumerate(candidates):
            if number == self.wrong:
                told(candidate, Ran(name=candidate.name, verdict=Verdict.WRONG, reason="O[0] is 1"))
            else:
                told(candidate, Ran(name=candidate.name, verdict=Verdict.TIMED, pairs=((1.0, 0.5),) * pairs))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch):
    def judge(wrong: int) -> None:
        @contextmanager
        def runner(*arguments: object):
            yield Judge(wrong)
        monkeypatch.setattr(tuned_terms, "local_runner", runner)
        monkeypatch.setattr(tuned_terms, "tune", lambda *a, **k: pytest.fail("no term may be searched"))
    return judge


def test_a_wrong_first_term_ends_the_search(judged):
    judged(0)
    with pytest.raises(RunFailedError, match="the model's pick has no times: wrong"):
        search()


def test_a_wrong_term_is_never_chosen(monkeypatch):
    @contextmanager
    def runner(*arguments: object):
        yield Judge(1)
    monkeypatch.setattr(tuned_terms, "local_runner", runner)
    found = search()
    (wrong,) = [term_of(t) for t in found.trials if t.verdict is Verdict.WRONG]
    assert wrong == 1
    assert wrong not in found.searched
    assert wrong not in {term_of(t) for t in found.confirmed}


def test_terms_of_less_work_come_first():
    terms = variants(chain(), reassociate=True)
    ranked = least_work(terms, 5)
    assert ranked[0] is terms[0]
    assert len(ranked) == 5
    assert str(ranked[1]) == "chain order of O"
    assert work_of(ranked[1].output) < work_of(terms[0].output) / 10
    a, b = placeholder("A", (3, 40)), placeholder("B", (40, 5))
    assert work_of(matrix_product(a, b, "O")) == 3 * 5 * 40 * (1 + 1 + 2)


def test_the_terms_are_those_of_a_sketch(monkeypatch):
    """The chain in its other order, and its long sum in parts: two rules, and no other term of as many."""
    @contextmanager
    def runner(*arguments: object):
        yield Judge(-1)
    monkeypatch.setattr(tuned_terms, "local_runner", runner)
    monkeypatch.setattr(tuned_terms, "tune", lambda *a, **k: pytest.fail("no term may be searched"))
    sketches = [contains(stage(total(extents=(64,)), shape=(1, 64))), contains(total(extents=(16,)))]
    found = search(rules=RULES, sketches=sketches, budget=Budget(trials=2))
    assert str(found.terms[0]) == "as written"
    assert [str(t).split(", then ")[0] for t in found.terms[1:]] == ["chain order of O"] * (len(found.terms) - 1)
    assert all("split reduction" in str(t) for t in found.terms[1:])
    assert term_of(found.confirmed[0]) > 0
