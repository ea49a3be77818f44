"""Elements that are accessed under a condition on data: which of them exist without it."""

from __future__ import annotations

import pytest

from polysched.scop import from_c_text
from polysched.scop.body import If
from polysched.tensorize.software.conditional_reads import may_always_be_accessed, may_always_be_written

CASES = {   # parameters, body, whether A may be read in every instance of the first statement
    "extents": ("int A[n]", "O[i] = M[i] ? A[i] : 0;", True),
    "beyond the extents": ("int A[n]", "O[i] = M[i] ? A[i + 1] : 0;", False),
    "no more than four": ("int A[4]", "O[i] = M[i] ? A[i] : 0;", False),
    "no more than four run": ("int A[4], int X[4]", "O[i] = M[i] > X[i] ? A[i] : 0;", True),
    "unknown": ("int *A", "O[i] = M[i] ? A[i] : 0;", False),
    "read without a condition": ("int *A", "{ O[i] = M[i] ? A[i] : 0; O[i] += A[i]; }", True),
    "read in part": ("int *A", "{ O[i] = M[i] ? A[i] : 0; if (i > 0) O[i] += A[i]; }", False),
    "read under another condition": ("int *A", "{ O[i] = M[i] ? A[i] : 0; O[i] += M[i] > 3 ? A[i] : 1; }", False),
    "chosen by data": ("int A[n]", "O[i] = M[i] ? A[M[i]] : 0;", False),
    "not at the first iteration": ("int A[n]", "O[i] = M[i] && i > 0 ? A[i - 1] : 0;", False),
}


@pytest.mark.parametrize("name", CASES)
def test_what_exists(name: str) -> None:
    parameters, body, expected = CASES[name]
    scop = from_c_text(f"void f(int n, int O[n], int M[n], {parameters}) {{\n#pragma scop\n"
                       f"for (int i = 0; i < n; i++) {body}\n#pragma endscop\n}}\n")
    statement = scop.statements[0]
    read = next(a for a in statement.reads if a.array == "A")
    assert may_always_be_accessed(scop, statement, read) == expected


@pytest.mark.parametrize(("body", "written"), [
    ("if (M[i]) O[i] = A[i];", False), ("if (M[i]) O[i] = A[i]; M[i] = O[i];", False),
    ("if (O[i] < A[i]) O[i] = A[i];", False), ("O[i] = 0; if (M[i]) O[i] = A[i];", True),
    ("if (M[i]) O[i] = A[i]; O[i] += 1;", True), ("if (i > 0) O[i] = 0; if (M[i]) O[i] = A[i];", False),
    ("int T[n]; if (M[i]) T[i] = A[i]; M[i] = 0;", True)])
def test_what_may_be_written_back(body: str, written: bool) -> None:
    scop = from_c_text("void f(int n, int O[n], int M[n], int A[n]) {\n#pragma scop\n"
                       f"for (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}\n")
    statement = next(s for s in scop.statements if isinstance(s.body[0], If))
    assert may_always_be_written(scop, statement, statement.writes[0]) == written
