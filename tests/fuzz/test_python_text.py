"""A program's Python beside its C: the same loops, bounds and elements, and the same numbers."""

from __future__ import annotations

from polysched.fuzz.affine import Affine
from polysched.fuzz.program import Guard, Loop, Program, Reference, Statement, Term
from polysched.fuzz.python_text import python_text
from tests.fuzz.loops import I_, N, assign, loop

S, A = Reference("s"), Reference("A", (I_,))


def test_bounds_steps_and_directions() -> None:
    body = (Loop("i", (Affine((), 1), Affine((("m", 1),))), (N, Affine((), 4)), 2, True, (
        Loop("j", (I_,), (N,), 3, False, (assign(S, Term("2", I_), Term("3.0f", None, True), op="+="),)),)),)
    assert python_text(Program("f", ("n", "m"), {"s": "double"}, body)).splitlines() == [
        "def f(n, m, s):", "    for i in range(min(n - 1, 4), max(1, m) - 1, -2):",
        "        for j in range(i, n - 1 + 1, 3):", "            s[0] += 2 * (i) - 3.0"]


def test_guards_products_and_choices() -> None:
    chosen = Statement(A, "=", (Term("1", A), Term("2.5f", A, True, times=S)), choose=True)
    body = (loop("i", Guard(((I_, 3), (I_.plus(N, -1), None)), "||", (chosen,), (assign(S, Term("1", I_)),))),)
    assert python_text(Program("f", ("n",), {"A": "double", "s": "double"}, body)).splitlines()[2:] == [
        "        if (i) % 3 == 0 or i - n + 1 >= 0:",
        "            A[i] = A[i] if A[i] > 1 * A[i] - 2.5 * A[i] * s[0] else 1 * A[i] - 2.5 * A[i] * s[0]",
        "        else:", "            s[0] = 1 * (i)"]
