"""An lvalue is an array with subscripts, whatever C it is written in; extents mean what their declaration saw."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Array
from tests.scop.c_frontend.read_region import in_function
from tests.scop.c_frontend.same_output import same_output

HEAD = ("int n, int m, int *restrict A, double x[restrict n][m], struct s { int v, w[9]; struct { double u[4]; } in; } "
        "*restrict p, struct s q[restrict 9], double **restrict rows, double *restrict *restrict kept")


def written(lvalue: str, before: str = "", head: str = HEAD) -> tuple[Array, isl.Set]:
    """The array that `lvalue = 1;` writes for 0 <= i < n, and its elements."""
    scop = from_c_text(in_function(f"for (int i = 0; i < n; i++) {{ {lvalue} = 1; }}", before, head=head))
    access, = (a for s in scop.statements for a in s.writes)
    return scop.array(access.array), access.relation.range().reset_tuple_id()


@pytest.mark.parametrize(("lvalue", "spelling", "elements"), [
    ("A[i]", "A[{}]", "{ [i] : 0 <= i < n }"),
    ("*(A + i)", "A[{}]", "{ [i] : 0 <= i < n }"),
    ("*(i + A - 2)", "A[{}]", "{ [i] : -2 <= i < n - 2 }"),
    ("(A + 3)[i - 1]", "A[{}]", "{ [i] : 2 <= i < n + 2 }"),
    ("*&A[i + 1]", "A[{}]", "{ [i] : 1 <= i <= n }"),
    ("(&A[i])[2]", "A[{}]", "{ [i] : 2 <= i < n + 2 }"),
    ("x[i][2]", "x[{}][{}]", "{ [i, 2] : 0 <= i < n }"),
    ("*(x[i] + 2)", "x[{}][{}]", "{ [i, 2] : 0 <= i < n }"),
    ("(*(x + i))[2]", "x[{}][{}]", "{ [i, 2] : 0 <= i < n }"),
    ("*(*(x + i) + 2)", "x[{}][{}]", "{ [i, 2] : 0 <= i < n }"),
    ("p->w[i]", "p[{}].w[{}]", "{ [0, i] : 0 <= i < n }"),
    ("(*p).w[i]", "p[{}].w[{}]", "{ [0, i] : 0 <= i < n }"),
    ("p[i].v", "p[{}].v", "{ [i] : 0 <= i < n }"),
    ("(p + i)->in.u[3]", "p[{}].in.u[{}]", "{ [i, 3] : 0 <= i < n }"),
    ("q[i].w[i]", "q[{}].w[{}]", "{ [i, i] : 0 <= i < n }"),
    ("kept[i][5]", "kept[{}][{}]", "{ [i, 5] : 0 <= i < n }")])
def test_spellings(lvalue: str, spelling: str, elements: str) -> None:
    array, found = written(lvalue)
    assert array.c_element == spelling
    wanted = isl.Set(f"[n] -> {elements}")
    assert fix_parameters(found, {"n": 5, "m": 9}).is_equal(fix_parameters(wanted, {"n": 5}))


@pytest.mark.parametrize(("lvalue", "problem"), [
    ("i[A]", "no array or pointer"), ("(n ? A : A + 1)[i]", "no array"),
    ("((unsigned *)A)[i]", "elements of another type"),
    ("((int (*)[3])(A + 1))[i][0]", "no fixed layout"), ("int k = 4; ((int (*)[k])A)[i][1]", "no fixed layout"),
    ("int m = 4; ((int (*)[m])A)[i][1]", "no fixed layout"), ("m = 4; ((int (*)[m])A)[i][1]", "no fixed layout"),
    ("((int (*)[i + 2])A)[i][1]", "no fixed layout"), ("q[i]", "whole struct"),
    ("x[i]", "pointer or whole array"), ("n[i]", "no array or pointer")])
def test_refused(lvalue: str, problem: str) -> None:
    with pytest.raises(UnsupportedScopError, match=problem):
        written(lvalue)


def test_a_volatile_element_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="volatile"):
        written("A[i]", head="int n, volatile int *A")


def test_two_shapes_of_one_array_are_refused_and_two_members_are_not() -> None:
    with pytest.raises(UnsupportedScopError, match="`A` is reached in two shapes"):
        from_c_text(in_function("A[0] = 1; ((int (*)[4])A)[1][2] = 3;"))
    scop = from_c_text(in_function("p->a = 1; p->b = 2;", head="struct { int a, b; } *p"))
    assert [a.c_element for a in scop.arrays] == ["p[{}].a", "p[{}].b"]


HIDDEN = """
enum {{ N = 4 }};
typedef double row[N];
void f(int n, int m, double A[n][n], row *R) {{
  {{
    {inner}
#pragma scop
    for (int i = 0; i < 3; i++) {{ if (n >= 1) A[i][0] = 1; else A[i][0] = 2; R[i][1] = 3; }}
#pragma endscop
  }}
}}
"""


@pytest.mark.parametrize(("inner", "least", "lengths"), [
    ("int n = m - 5;", -2147483648, (None, None, None, "4")),
    ("int N = m;", 1, ("n", "n", None, None)),
    ("enum { N = 8 };", 1, ("n", "n", None, None)),
    ("typedef int n0;", 1, ("n", "n", None, "4"))])
def test_a_name_that_is_hidden_says_nothing_of_an_extent(
        inner: str, least: int, lengths: tuple[str | None, ...]) -> None:
    scop = from_c_text(HIDDEN.format(inner=inner))
    found = [e for name in ("A", "R") for e in scop.array(name).extents]
    assert [e is None for e in found] == [e is None for e in lengths]
    context = scop.context
    at = context.find_dim_by_name(isl.dim_type.param, "n")
    values = context.params().move_dims(isl.dim_type.set, 0, isl.dim_type.param, at, 1)
    assert values.dim_min_val(0).to_python() == least


def test_rows_of_a_cast_are_those_of_the_array_only_where_their_lengths_are() -> None:
    same = from_c_text(in_function("for (int i = 0; i < n; i++) ((double (*)[m])x)[i][0] = 1;", head=HEAD))
    assert [a.c_element for a in same.arrays] == ["x[{}][{}]"]
    hidden = from_c_text(in_function("for (int i = 0; i < n; i++) ((double (*)[m])x)[i][0] = 1;", "{ int m = 3;", "}",
                                     head=HEAD))
    assert [a.c_element for a in hidden.arrays] == ["((double (*)[m])x)[{}][{}]"]


FUNCTIONS = """
struct s { int v, w[3]; };
static void rows(int *A) {
  int (*R)[8] = (int (*)[8])A;
#pragma scop
  for (int i = 1; i < 8; i++) { int *r = R[i], *q = R[i - 1] + 1; for (int j = 0; j < 7; j++) r[j] += q[j]; }
  for (int i = 0; i < 8; i++) ((int (*)[8])A)[i][7 - i] *= 2;
#pragma endscop
}
static void moved(int n, int *A) {
#pragma scop
  for (int i = 0; i < n; i++) ((int (*)[3])(A + 1))[i][0] = i;
#pragma endscop
}
static void moved_rows(int n, int *A) {
  int (*R)[3] = (int (*)[3])(A + 1);
#pragma scop
  for (int i = 0; i < n; i++) R[i][1] = i;
#pragma endscop
}
static void structs(int *A) {
  struct s z[4];
#pragma scop
  for (int i = 0; i < 4; i++) {
    z[i].v = i;
    z[i].w[i % 3] = 2 * i;
    A[i] = (z + i)->v + *(z[i].w + i % 3);
  }
#pragma endscop
}
static void middles(int *A) {
  int *p = A + 9, k = 2;
#pragma scop
  for (int i = 0; i < 9; i++) { p[-i] = i; *(p + i) = i[p - 1] + 1; }
  for (int i = 0; i < 9; i++) (&A[i + 30])[k] = *(&A[k] + i);
#pragma endscop
}
"""


def test_pointers_and_rows_lead_where_c_leads(tmp_path: Path) -> None:
    same_output(tmp_path, FUNCTIONS, """
  static int a[64]; static double d[64];
  for (int k = 0; k < 64; k++) a[k] = k * 5 % 17;
  rows(a); moved(9, a); moved_rows(7, a); middles(a); structs(a);
  for (int k = 0; k < 64; k++) d[k] = a[k];
  shown("a", d, 64);""")
