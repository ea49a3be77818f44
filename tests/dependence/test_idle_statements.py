"""Which statements are of no use to the program: those on which nothing but temporaries depends."""

import pytest

from polysched.dependence.idle_statements import without_idle_statements
from polysched.pipeline import optimize
from polysched.scop import from_c_text

HEAD = "double f(int n, double A[100], double B[100]) {\n  int i, j, i1, count;\n  double s, last;\n#pragma scop\n"
BEHIND = "\n#pragma endscop\n  return last;\n}\n"


@pytest.mark.parametrize(("body", "kept"), [
    ("for (i = 0; i < n; i++) { i1 = i + 1; A[i] = A[i1]; }", 1),
    ("i1 = 0; for (i = 0; i < n; i++) { i1 = i1 + 1; A[i] = 1; }", 1),
    ("count = 0; for (i = 0; i < n; i++) { if (B[i] > 0) count += 1; A[i] = 1; }", 3),      # a branch on data
    ("count = 0; for (i = 0; i < n; i++) { count += B[i] > 0; A[i] = 1; }", 1),
    ("s = 0; for (i = 0; i < n; i++) { s += B[i]; A[i] = 1; } last = 2;", 2),
    ("s = 0; for (i = 0; i < n; i++) { s += B[i]; A[i] = 1; } last = s;", 4),
    ("for (i = 0; i < n; i++) { s = B[i]; A[i] = s; }", 2),
    ("for (i = 0; i < n; i++) { s = B[i]; s = 2 * s; }", 2),                                 # nothing would be left
])
def test_what_is_left(body: str, kept: int) -> None:
    scop = from_c_text(HEAD + body + BEHIND)
    left = without_idle_statements(scop)
    assert len(left.statements) == kept
    assert left.schedule.get_domain().is_equal(left.domain)
    assert (left is scop) == (len(left.statements) == len(scop.statements))


def test_counters_of_the_function_get_no_loops_of_their_own() -> None:
    body = """
for (i = 0; i < n; i++) {
  i1 = i + 1;
  for (j = 0; j < i1; j++)
    A[i] += B[j];
}
for (i = 0; i < n; i++)
  for (j = i; j < n; j++)
    B[i] += A[j];"""
    text = optimize(from_c_text(HEAD + body + BEHIND)).text
    assert "i1" not in text
    assert "j_" not in text
