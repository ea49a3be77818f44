"""What a region declares for the code behind it is declared at its start, with the meaning that it has in C."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.c_frontend.declarations.outliving import at_start, outliving, without_declarations
from tests.scop.c_frontend.read_region import in_function, region_in
from tests.scop.c_frontend.same_output import same_output


def kept(inside: str, after: str, before: str = "", ahead: str = "") -> list[str]:
    _, region, scope = region_in(ahead + in_function(inside, before, after))
    return [at_start(d) for d in outliving("in.c", scope, region)]


@pytest.mark.parametrize(("inside", "after", "expected"), [
    ("int t = n; x[0] = t;", "A[0] = t;", ["int t;"]),
    ("const int t = n; x[0] = t;", "A[0] = t;", ["int t;"]),
    ("int const s = 1, t = n;", "A[0] = t;", ["int t;"]),
    ("const double t[3][n]; x[0] = 1;", "A[0] = t[1][0];", ["double t[3][n];"]),
    ("{ int t = 2; x[0] = t; } int u = 3;", "A[0] = u;", ["int u;"]),
    ("for (int t = 0; t < n; t++) A[t] = 1;", "{ int t = 3; A[0] = t; }", []),
    ("int t = n; x[0] = t;", "A[0] = s.t;", []),     # a member of the same name
    ("int t = n; x[0] = t;", "A[0] = sizeof(t);", ["int t;"]),
    ("int t = n; x[0] = t;", "", [])])
def test_what_is_declared_at_the_start(inside: str, after: str, expected: list[str]) -> None:
    assert kept(inside, after) == expected


@pytest.mark.parametrize(("inside", "after", "name"), [
    ("static int t; t = n;", "A[0] = t;", "t"),
    ("int t[2] = {n};", "A[0] = t[0];", "t"),
    ("int *t = A; *t = n;", "A[0] = *t;", "t"),
    ("struct { int v; } t; t.v = n;", "A[0] = t.v;", "t"),
    ("m = 3; int t[m]; t[0] = n;", "A[0] = t[0];", "t"),
    ("for (; m < 9; m++) A[m] = 1; int t[m]; t[0] = n;", "A[0] = t[0];", "t"),
    ("int k = 3; int t[k]; t[0] = n;", "A[0] = t[0];", "t"),
    ("typedef int t; t k = n;", "A[0] = (t)x[0];", "t"),
    ("x[0] = n; int n = 3; A[0] = n;", "A[0] = n;", "n")])
def test_what_cannot_stand_there_is_refused(inside: str, after: str, name: str) -> None:
    before, inside = ("{", inside) if inside.startswith("x[0] = n; int n") else ("", inside)
    with pytest.raises(UnsupportedScopError, match=f"`{name}` is declared inside the region and used after it"):
        kept(inside, after + "}" * len(before), before)


def test_the_original_code_assigns_where_it_declared() -> None:
    _, region, scope = region_in(in_function("int t = n + 1, u; for (int i = 0; i < t; i++)\n  A[i] = 1;",
                                             after="A[0] = t + u;"))
    assert without_declarations(region, outliving("in.c", scope, region)) == (
        "t = n + 1;\nfor (int i = 0; i < t; i++)\n  A[i] = 1;\n\n")


FUNCTIONS = """
static double hidden(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++) { double t = a[i]; a[i] = t * 2; }
  double t = n;
  for (int i = 0; i < n; i++) a[i] += t;
#pragma endscop
  return t;
}
static int counter(int n, double *a) {
#pragma scop
  int i;
  for (i = 0; i < n; i += 2) a[i] = i;
  { int i = 5; a[i] += 1; for (i = 1; i < n; i++) a[i] += a[i - 1]; }
#pragma endscop
  return i;
}
static int constant(int n, double *a) {
#pragma scop
  const int last = n - 1;
  int of[4];
  for (int i = 0; i < 4; i++) of[i] = last * i;
  for (int i = 0; i <= last; i++) a[i] = of[i & 3];
#pragma endscop
  return last + of[3];
}
"""


def test_the_code_behind_reads_the_values_that_c_gives(tmp_path: Path) -> None:
    same_output(tmp_path, FUNCTIONS, """
  static double a[40];
  for (int n = 6; n < 40; n += 11) {
    filled(a, 40);
    double results[] = {hidden(n, a), counter(n, a), constant(n, a)};
    shown("results", results, 3); shown("a", a, 40);
  }""")


def test_a_declaration_that_nothing_reads_later_is_the_regions_own() -> None:
    scop = from_c_text(in_function("int t = n; for (int i = 0; i < t; i++) x[i] = t;"))
    assert scop.source is not None
    assert scop.source.declarations == ()
