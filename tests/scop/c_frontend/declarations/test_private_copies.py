"""Clauses that give threads copies of a variable, where its own value is read later."""

from __future__ import annotations

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

PROGRAM = """
double f(int n, double a[n], double b[n]) {
  double t = 5;
  int j;
#pragma scop
LOOPS
#pragma endscop
  return RESULT;
}
"""
LOOP = """#pragma omp parallel for CLAUSE
  for (int i = 0; i < n; i++) { t = b[i]; a[i] = 2 * t; }"""
INNER = """#pragma omp parallel for private(j)
  for (int i = 0; i < n; i++)
    for (j = 0; j < n; j++) a[i] += b[j];"""
AGAIN = """  for (int k = 0; k < 3; k++) {
    a[0] += t;
#pragma omp parallel for private(t)
    for (int i = 1; i < n; i++) { t = b[i]; a[i] = 2 * t; }
  }"""


BRANCH = """  if (n > 3) {
#pragma omp parallel for private(t)
    for (int i = 1; i < n; i++) { t = b[i]; a[i] = 2 * t; }
  } else { t = 0; }
  a[0] = t;"""
NEXT = """  for (t = 0, j = 0; j < 3; j++) {
    a[j] += t;
#pragma omp parallel for private(t)
    for (int i = 1; i < n; i++) { t = b[i]; a[i] = 2 * t; }
  }"""
BREAK = """  for (int k = 0; k < 3; k++) {
#pragma omp parallel for private(t)
    for (int i = 1; i < n; i++) { t = b[i]; a[i] = 2 * t; }
    if (a[0] > 0) break;
    t = 1;
  }
  a[0] = t;"""
BREAK_ELSEWHERE = "\n  for (int k = 0; k < n; k++) { if (k > 5) break; a[k] += 1; }"
NESTED = """#pragma omp parallel for private(t)
  for (int k = 0; k < n; k++) {
    for (t = 0, j = 0; j < 3; j++) {
#pragma omp parallel for private(t)
      for (int i = 1; i < n; i++) { t = b[i]; a[i] = 2 * t; }
      if (a[k] > 0) break;
      t = 1;
    }
    a[k] = t;
  }"""


def read(loops: str, result: str = "0") -> Scop:
    return from_c_text(PROGRAM.replace("LOOPS", loops).replace("RESULT", result))


@pytest.mark.parametrize("clause", ["private(t)", "firstprivate(t)", "private(j, t) schedule(static)"])
def test_a_copied_variable_that_is_read_later_is_refused(clause: str) -> None:
    with pytest.raises(UnsupportedScopError, match="copies of t, whose own value is read behind it") as refusal:
        read(LOOP.replace("CLAUSE", clause), "t")
    assert refusal.value.witness == f"#pragma omp parallel for {clause}"


def test_so_is_one_that_the_region_reads() -> None:
    for loops in (LOOP.replace("CLAUSE", "private(t)") + "\n  a[0] = t;", AGAIN, BRANCH, NEXT, BREAK, NESTED):
        with pytest.raises(UnsupportedScopError, match="copies of t"):
            read(loops)


@pytest.mark.parametrize(("loops", "result"), [
    (LOOP.replace("CLAUSE", "private(t)"), "0"), (LOOP.replace("CLAUSE", "lastprivate(t)"), "t"),
    (LOOP.replace("CLAUSE", "private(t)") + "\n  t = 1;", "t"), (INNER, "0"), (INNER + "\n" + INNER, "a[0]"),
    (f"{LOOP}\n{LOOP}{BREAK_ELSEWHERE}".replace("CLAUSE", "private(t)"), "0")])
def test_one_that_is_set_again_or_copied_back_is_read(loops: str, result: str) -> None:
    assert read(loops, result).statements
