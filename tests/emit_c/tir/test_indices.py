"""Index expressions as TVMScript."""

import pytest

from polysched.emit_c.loop_ir.index import Choice, Comparison, Extreme, Remainder, constant, of_atom, quotient, variable
from polysched.emit_c.tir import indices
from polysched.errors import UnsupportedScopError

ROW, N = variable("i"), variable("n")


def test_forms() -> None:
    assert indices.index(ROW * 2 + N + -1) == "i * T.int64(2) + n + T.int64(-1)"
    assert indices.index(quotient(ROW + N, 3, truncates=False)) == "((i + n) // T.int64(3))"
    assert indices.index(of_atom(Remainder(ROW, 4))) == "((i) % T.int64(4))"
    assert indices.index(of_atom(Extreme("min", (ROW, N, constant(3))))) == "T.min(T.min(i, n), T.int64(3))"
    assert indices.index(constant(0)) == "T.int64(0)"


def test_conditions() -> None:
    assert indices.test(Comparison(">=", ROW, N)) == "i >= n"


def test_refusals() -> None:
    with pytest.raises(UnsupportedScopError, match=r"no such index expression\n  witness: Choice"):
        indices.index(of_atom(Choice(Comparison(">=", ROW, N), ROW, N)))
