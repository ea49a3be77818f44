"""Proofs from loop bounds: exact where the bounds are affine, and never from what is not known."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.loop_ir import facts as of_facts
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Choice, Comparison, Quotient, constant, extreme, of_atom, variable
from polysched.emit_c.loop_ir.loops import Block, For

CONTEXT = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n >= 1 }")
I, J, N = variable("i"), variable("floor"), variable("n")  # noqa: E741


def loop(name: str, lower: object, upper: object) -> For:
    return For(name, lower, upper, 1, Block(()))  # type: ignore[arg-type]


def test_bounds_of_loops_around() -> None:
    facts = Facts(context=CONTEXT).inside(loop("i", constant(0), extreme("min", [N, I * 0 + 7])))
    assert facts.imply(Comparison("<", I, N))
    assert facts.imply(Comparison("<=", I, constant(6)))
    assert not facts.imply(Comparison("<=", I, constant(5)))
    inner = facts.inside(loop("floor", I + 1, N))
    assert inner.imply(Comparison(">", J, I)), "a loop variable may have the name of an isl function"
    assert inner.exclude(Comparison("==", J, I))
    assert not inner.exclude(Comparison("==", J, I + 1))


def test_a_tile_loop_that_exists_has_points() -> None:
    tiles = loop("i", constant(0), of_atom(Quotient(N - 1, 32, True)) + 1)
    points = loop("p", I * 32, extreme("min", [N, I * 32 + 32]))
    assert Facts(context=CONTEXT).inside(tiles).runs(points)
    assert not Facts(context=CONTEXT).runs(points)


def test_what_has_no_affine_form_proves_nothing() -> None:
    odd = of_atom(Choice(Comparison(">", N, constant(3)), constant(1), constant(2)))
    facts = Facts(context=CONTEXT).given(Comparison("==", I, odd))
    assert not facts.imply(Comparison("<=", I, constant(2)))
    assert not facts.imply(Comparison("<=", odd, constant(2)))


def test_the_same_question_at_another_place_is_answered_without_isl(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Comparison("<=", I, N + 41)
    outer = Facts(context=CONTEXT).inside(loop("i", constant(0), N + 42))
    assert outer.imply(asked)
    before = of_facts._never_together.cache_info()
    monkeypatch.setattr(of_facts, "_together", None)
    assert Facts(context=CONTEXT).inside(loop("i", constant(0), N + 42)).imply(asked)
    assert of_facts._never_together.cache_info().hits == before.hits + 1


def test_an_answer_that_did_not_fit_its_budget_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts(context=CONTEXT).inside(loop("i", constant(17), N))
    monkeypatch.setattr(of_facts, "_MAX_OPERATIONS", 1)
    assert not facts.imply(Comparison(">=", N, constant(18)))
    monkeypatch.undo()
    assert facts.imply(Comparison(">=", N, constant(18)))


def test_more_loops_than_calls_inside_each_other() -> None:
    facts = Facts(context=CONTEXT)
    for k in range(3 * of_facts.DEEPEST):
        facts = facts.inside(loop(f"i{k}", variable(f"i{k - 1}") if k else constant(5), N))
    assert facts.imply(Comparison(">=", variable(f"i{3 * of_facts.DEEPEST - 1}"), constant(5)))
    assert not facts.imply(Comparison(">=", variable("i1"), constant(6)))
