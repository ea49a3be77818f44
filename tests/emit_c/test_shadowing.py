"""A name that is declared anew inside of a declaration of the same name: what was known of it is forgotten."""

from __future__ import annotations

import islpy as isl

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Comparison, constant, variable
from polysched.emit_c.loop_ir.loops import Block, For, Let

ANYWHERE = Facts(context=isl.Set("{ : }"))


def test_a_declaration_hides_what_was_known_of_its_name() -> None:
    outer = ANYWHERE.where(Let("end", constant(4), Block(())))
    inner = outer.where(Let("end", constant(9), Block(())))
    assert outer.imply(Comparison("==", variable("end"), constant(4)))
    assert inner.imply(Comparison("==", variable("end"), constant(9)))
    assert not inner.imply(Comparison("<", constant(1), constant(0))), "the two contradict each other"


def test_a_loop_hides_what_was_known_of_its_variable() -> None:
    outer = ANYWHERE.where(Let("i", constant(4), Block(())))
    inner = outer.inside(For("i", constant(5), constant(8), 1, Block(())))
    assert not inner.imply(Comparison("<", constant(1), constant(0)))
    assert inner.imply(Comparison(">", variable("i"), constant(4)))
