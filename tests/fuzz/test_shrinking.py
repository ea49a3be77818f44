"""Shrinking keeps what fails and drops the rest."""

from __future__ import annotations

from polysched.fuzz.affine import Affine
from polysched.fuzz.generator import generate
from polysched.fuzz.program import Program, Reference, Statement, Term, walk
from polysched.fuzz.shrinking import shrink, smaller
from tests.fuzz.loops import I_, assign, loop


def test_shrinking_keeps_what_fails_and_drops_the_rest() -> None:
    program = generate(33)

    def fails(candidate: Program) -> bool:
        return any(isinstance(node, Statement) and node.op == "+=" for node in walk(candidate.body))

    assert fails(program)
    small = shrink(program, fails)
    assert fails(small)
    assert len(list(walk(small.body))) == 1
    assert not any(fails(candidate) for candidate in smaller(small))


def test_shrinking_stops_after_its_tries() -> None:
    program = generate(7)
    tried = []
    shrink(program, lambda candidate: tried.append(candidate) is not None, most_tries=5)
    assert len(tried) == 5


def test_a_loop_that_goes_leaves_its_first_iteration() -> None:
    body = assign(Reference("A", (I_,)), Term("1", I_))
    program = Program("f", ("n",), {"A": "int"}, (loop("i", body, lower=Affine((), 2)),))
    assert any("A[0] = 1 * (2);" in candidate.text() for candidate in smaller(program))
