"""What branches leave, in terms of the values before them."""

from __future__ import annotations

import pytest

from polysched.scop.body import Load, Select, walk
from polysched.tensorize.preparing.branch_values import values_behind
from tests.tensorize.preparing.kept import program

ARRAYS = "int32_t P[5], int32_t Q[5], int32_t A[5]"
KNOWN = {   # body, how many choices each value has, which elements all ways write
    "a swap": ("if (P[i] < Q[i]) { int32_t t = P[i]; P[i] = Q[i]; Q[i] = t; }", {"P": 1, "Q": 1}, ""),
    "both ways": ("if (A[i]) { P[i] = A[i]; Q[i] = P[i]; } else { Q[i] = P[i]; P[i] = 2; }", {"P": 1, "Q": 1}, "PQ"),
    "in one another": ("if (A[i]) { if (A[i] > 3) P[i] = 1; else P[i] = 2; } else P[i] = A[i];", {"P": 2}, "P"),
    "the same both ways": ("if (A[i]) P[i] = Q[i]; else P[i] = Q[i];", {"P": 0}, "P"),
    "written twice": ("if (A[i]) { P[i] = A[i]; P[i] += 3; }", {"P": 1}, ""),
}
UNKNOWN = {
    "may be one": "if (A[i]) { P[i] = 3; Q[i] = P[2]; }",
    "written as two": "if (A[i]) { P[i] = 3; P[2] = 4; }",
    "at a place that data choose": "if (A[i]) P[A[i] & 3] = 3;",
}


@pytest.mark.parametrize("name", KNOWN)
def test_values_are_in_terms_of_those_before(name: str) -> None:
    body, choices, always = KNOWN[name]
    scop = program(ARRAYS, f"for (int i = 0; i < 4; i++) {{ {body} }}")
    (statement,) = scop.statements
    found = values_behind(scop, statement)
    assert found is not None
    written = {n: statement.access(n).array for n in found.values}
    assert {a: sum(isinstance(e, Select) for e in walk(found.values[n])) for n, a in written.items()} == choices
    assert {written[n] for n in found.always} == {*always}
    loads = {e.reference for v in found.values.values() for e in walk(v) if isinstance(e, Load)}
    assert {statement.access(r).array for r in loads} <= {"P", "Q", "A"}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_may_be_one_element_is_not_told(name: str) -> None:
    scop = program(ARRAYS, f"for (int i = 0; i < 4; i++) {{ {UNKNOWN[name]} }}")
    assert values_behind(scop, scop.statements[0]) is None
