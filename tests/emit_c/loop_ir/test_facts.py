"""Proofs from loop bounds: exact where the bounds are affine, and never from what is not known."""

from __future__ import annotations

import islpy as isl

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
