"""Affine subscripts of random programs, moved into their arrays."""

from __future__ import annotations

from polysched.fuzz.affine import Affine
from polysched.fuzz.program import Program, Reference, Term
from tests.fuzz.loops import I_, assign, loop

J = Affine((("j", 1),))


def test_subscripts_are_moved_into_the_array() -> None:
    back = assign(Reference("A", (I_,)), Term("1", Reference("A", (I_.plus(Affine((), -2)),))))
    text = Program("f", ("n",), {"A": "double"}, (loop("i", back),)).text()
    assert "double A[n + 2]" in text
    assert "A[i + 2] = A[i];" in text


def test_a_difference_of_iterators_is_moved_by_a_parameter() -> None:
    difference = assign(Reference("A", (I_.plus(J, -1),)), Term("1"))
    text = Program("f", ("n",), {"A": "int"}, (loop("i", loop("j", difference)),)).text()
    assert "int A[2 * n + 1]" in text
    assert "A[i - j + n - 1] = 1;" in text
