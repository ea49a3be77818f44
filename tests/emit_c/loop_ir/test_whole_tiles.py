"""Loops over tiles, once more for whole ones: where their bounds are known in front of them, and only there."""

from __future__ import annotations

from polysched.emit_c.loop_ir.index import Linear, constant, extreme, variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Node, StatementInstance
from polysched.emit_c.loop_ir.whole_tiles import with_whole_tiles

M, N, S = variable("M"), variable("N"), StatementInstance("S", ())


def loop(name: str, upper: Linear, body: Node = S) -> For:
    return For(name, constant(0), upper, 1, body)


def cut(size: int, other: Linear) -> Linear:
    return extreme("min", (constant(size), other))


def test_whole_tiles_have_constant_bounds() -> None:
    nest = loop("k", N, loop("i", cut(16, M), loop("j", cut(8, N - variable("k")))))
    found = with_whole_tiles(nest)
    assert isinstance(found, For)
    assert isinstance(found.body, If)
    assert found.body.then == loop("i", constant(16), loop("j", constant(8)))
    assert found.body.otherwise == nest.body
    assert str(found.body.condition).count(">=") == 2


def test_a_bound_that_the_nest_itself_sets_stays() -> None:
    triangle = loop("i", cut(16, M), loop("j", cut(8, N - variable("i"))))
    found = with_whole_tiles(triangle)
    assert isinstance(found, If)
    assert found.then == loop("i", constant(16), triangle.body)
    assert found.otherwise == triangle


def test_loops_that_share_a_variable_are_not_confused() -> None:
    both = loop("i", cut(16, M), Block((loop("j", cut(8, N)), loop("j", cut(4, N)))))
    found = with_whole_tiles(both)
    assert isinstance(found, If)
    assert found.then == loop("i", constant(16), both.body)


def test_other_loops_stay() -> None:
    for upper in (M, constant(7), cut(16, M) + variable("N"), extreme("max", (constant(3), M))):
        assert with_whole_tiles(loop("i", upper)) == loop("i", upper)
