"""What functions of the same file reach through their pointers, found by reading them."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.measure.bit_for_bit.effects_check import check_effects
from polysched.scop import from_c_text
from polysched.scop.scop import AccessKind, Scop
from tests.scop.c_frontend.same_output import SANITIZED, same_output

HELPERS = """
static double table[4] = {1, 2, 3, 4};
int calls = 0;
static int solve(int n, const double *d, double *x) {
  for (int i = 0; i < n; i++) {
    if (d[i] == 0) return i + 1;
    x[i] = x[i] / d[i] - (i > 0 ? x[i - 1] : 0);
  }
  return 0;
}
static void until(long n, double limit, double *x) {
  for (long i = 2; i < n; i++) { if (x[i] > limit) return; x[i - 1] += x[i] * 0.5; }
}
static void block(int m, int n, double A[m][n], double v) {
  for (int i = 0; i < m; i++) for (int j = 1; j < n; j++) { if (A[i][j] > 90) return; A[i][j] = v + A[i][j - 1]; }
}
static void spread(int n, const double *x, double *y) {
  for (int i = 0; i < n; i++) { if (x[i] > 90) return; y[(int)x[i] & 3] += 1; }
}
static void twice(int n, const double *d, double *x) {
  int k = 0;
  for (int t = 0; t < 2; t++) { k += solve(n, d, x); if (x[0] < -1e6) return; }
}
static void looks(int n, double *x) { for (int i = 0; i < n; i++) { if (x[i] > 9) return; x[i] += table[i & 3]; } }
static void counts(int n, double *x) { for (int i = 0; i < n; i++) { if (x[i] > 9) return; calls++; x[i] = 1; } }
static void keeps(int n, double *x) {
  static int at; for (int i = 0; i < n; i++) { if (x[i] > 9) return; x[i] = at++; }
}
static void itself(int n, double *x) { for (int i = 0; i < n; i++) { if (x[i] > 9) return; itself(i, x); } }
static void prints(int n, double *x) { for (int i = 0; i < n; i++) { if (x[i] > 9) return; printf("%g", x[i]); } }
static void rows(int n, double **x) { for (int i = 0; i < n; i++) { if (x[i][0] > 9) return; x[i][0] = 2; } }
static void ends(int *n, double *x) { for (int i = 0; i < *n; i++) { if (x[i] > 9) return; x[i] = 2; } }
static void wraps(unsigned n, double *x) { for (int i = 0; i < 9; i++) { if (x[i] > 9) return; x[n - 5 + i] = 2; } }
static int named(double *p, int a) { enum { K = 3 }; p[K] = a + K; return 0; }
static void put(double *p, int *q) { *q = 5; p[0] = 7; }
static void bytes(int n, float *x) { for (int i = 0; i < n; i++) { if (x[i] > 9) return; x[i] = 2; } }
"""
HEAD = "int printf(const char *, ...);\n" + HELPERS
FUNCTION = ("void f(int n, int m, double *restrict x, double *restrict y, double A[restrict n][m], double *restrict s, "
            "double **restrict r, float *restrict z)")
MAIN = """
  static double x[4000], y[4000], A[4000], s[64], *r[64]; static float z[64];
  for (int n = -2; n < 36; n += 1 + n / 5) for (int m = -1; m < 34; m += 7) {
    filled(x, 4000); filled(y, 4000); filled(A, 4000); filled(s, 64);
    f(n, m, x + 40, y + 40, (double (*)[m > 0 ? m : 1])A, s, r, z);
    shown("x", x, 1400); shown("y", y, 1400); shown("A", A, 1400); shown("s", s, 64);
  }
"""


def text(body: str) -> str:
    return f"{HEAD}{FUNCTION} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def reached(scop: Scop, kind: AccessKind, array: str) -> isl.UnionMap:
    found = isl.UnionMap("{}")
    for statement in scop.statements:
        for access in statement.accesses:
            if access.kind is kind and access.array == array:
                found = found.union(isl.UnionMap.from_map(access.relation))
    return found.intersect_params(scop.context).coalesce()


@pytest.mark.parametrize(("body", "array", "writes"), [
    ("for (int i = 0; i < n; i++) s[i] = solve(m, x, A[i]);", "A",
     "[n, m] -> { S0[i] -> A[i, k] : 0 <= i < n and 0 <= k < m }"),
    ("until(n, 3.0, y + 2);", "y", "[n, m] -> { S0[] -> y[k] : 3 <= k < n + 1 }"),
    ("block(n, m, A, 1.5);", "A", "[n, m] -> { S0[] -> A[i, k] : 0 <= i < n and 1 <= k < m }"),
    ("spread(n, x, y);", "y", "[n, m] -> { S0[] -> y[k] }"),
    ("twice(m, x, y);", "y", "[n, m] -> { S0[] -> y[k] : 0 <= k < m }"),
])
def test_what_a_call_writes(body: str, array: str, writes: str) -> None:
    scop = from_c_text(text(body), path="in.c")
    assert reached(scop, AccessKind.MAY_WRITE, array).is_equal(isl.UnionMap(writes).intersect_params(scop.context))


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) s[i] = solve(m, x, A[i]);",
    "for (int i = 0; i < n; i++) { int k = solve(m, A[i], y + i * m); s[i] += k; until(m, 2.0, A[i]); }",
    "for (int i = 1; i < n; i++) { until(m, 4.0, A[i - 1]); for (int j = 0; j < m; j++) A[i][j] += A[i - 1][j]; }",
    "for (int i = 0; i < n; i++) { spread(m, A[i], y); twice(4, x, y); s[i] = y[1]; }",
    "int K = 10; for (int i = 0; i < 20; i++) named(s + i, K);",
    "int k = 2; for (int i = 0; i < 9; i++) { put(s + k, &k); s[k] += k; }",
    "block(n, m, A, 1.5); for (int i = 0; i < n; i++) until(m + 3, 1e9, y + i);",
])
def test_programs_print_what_they_printed(tmp_path: Path, body: str) -> None:
    same_output(tmp_path, text(body), MAIN, SANITIZED)


def test_rows_run_on_threads(tmp_path: Path) -> None:
    made = same_output(tmp_path, text("for (int i = 0; i < n; i++) s[i] = solve(m, x, A[i]);"), MAIN)
    assert "#pragma omp parallel for" in made.text


@pytest.mark.parametrize(("body", "message"), [
    ("looks(n, x);", "a call whose result is not used"),
    ("counts(n, x);", "a call whose result is not used"),
    ("keeps(n, x);", "a call whose result is not used"),
    ("itself(n, x);", "a call whose result is not used"),
    ("prints(n, x);", "a call whose result is not used"),
    ("rows(n, r);", "a call whose result is not used"),
    ("ends(&n, x);", "a call whose result is not used"),
    ("wraps(n, x);", "a call whose result is not used"),
    ("bytes(n, (float *)x);", "cast|another type|reinterpreted"),
    ("bytes(n, x);", "sees elements of another type"),
    ("double t = 0; until(n, 2.0, &t); s[0] = t;", "is the address of one variable"),
])
def test_calls_that_stay_refused(body: str, message: str) -> None:
    with pytest.raises(UnsupportedScopError, match=message):
        from_c_text(text(body), path="in.c")


def test_a_name_that_a_variable_has_is_no_function_of_the_file() -> None:
    body = "for (int i = 0; i < n; i++) until(m, 2.0, A[i]);"
    shadowed = text(body).replace("float *restrict z)", "float *restrict z, void (*until)(long, double, double *))")
    with pytest.raises(UnsupportedScopError, match="result is not used"):
        from_c_text(shadowed, path="in.c")


DECLARED = ("#pragma polysched effects solve(n, d, x) reads d[0:n], x[0:n] writes x[0:n]\n"
            "#pragma polysched effects until(n, limit, x) reads x[1:n - 1] writes x[1:n - 2]\n")


@pytest.mark.parametrize("body", ["for (int i = 0; i < n; i++) s[i] = solve(m, x, A[i]);", "until(n, 3.0, y + 2);"])
def test_what_is_found_is_what_is_declared(body: str) -> None:
    found, declared = (from_c_text(head + text(body), path="in.c") for head in ("", DECLARED))
    for kind in AccessKind:
        for array in "xyAs":
            assert reached(found, kind, array).is_equal(reached(declared, kind, array))


def test_calling_the_functions_agrees(tmp_path: Path) -> None:
    """The sections that are declared, as they are found, are what a call does."""
    path = tmp_path / "in.c"
    path.write_text(DECLARED + HEAD)
    found = check_effects(str(path), DECLARED + HEAD, flags=("-O1",))
    assert [(c.problem, c.uncalled) for c in found] == [("", "")] * 2


def test_what_runs_for_no_elements_counts() -> None:
    scop = from_c_text("""static void first(int n, const double x[n], double *y) {
  if (n < 1) { y[1] = -1; return; }
  for (int i = 0; i < n; i++) { if (x[i] > 90) { y[0] = i; return; } }
  y[0] = -1;
}
void f(int k, int m, double x[restrict 100], double y[restrict k][2]) {
#pragma scop
  for (int i = 0; i < k; i++) first(m, x, y[i]);
#pragma endscop
}""")
    (written,) = [a.relation for s in scop.statements for a in s.accesses if a.is_write]
    assert written.range().intersect_params(isl.Set("[k, m] -> { : m = 0 < k }")).coalesce().is_equal(
        isl.Set("[k, m] -> { y[i, 1] : 0 <= i < k and m = 0 }"))


ROWS = """enum { K = 8 };
typedef double row[8];
static void put(int n, double a[][PARAMETER], double v) {
  for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) { if (a[i][j] > 90) return; a[i][j] = v; }
}
static void puts8(int n, row *a, double v) {
  for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) { if (a[i][j] > 90) return; a[i][j] = v; }
}
void f(int n, int m, double b[restrict 40][ARGUMENT], double s[restrict 40]) {
  HIDING
#pragma scop
  for (int i = 0; i < 20; i++) { FUNCTION(3, b + i, i + 1.0); s[i] = b[i + 1][7] + b[i + 2][3]; }
#pragma endscop
}"""
EACH, ALL = "i <= o0 <= i + 2 and 0 <= o1 < 8", "0 <= o0 < 40 and 0 <= o1 < "


@pytest.mark.parametrize(("function", "parameter", "argument", "hiding", "written"), [
    ("put", "8", "8", "", EACH), ("put", "K", "8", "", EACH), ("put", "8", "K", "", EACH),
    ("put", "8", "12", "", f"{ALL} 12"), ("put", "12", "8", "", f"{ALL} 8"), ("put", "8", "m", "", f"{ALL} m"),
    ("put", "K", "8", "enum { K = 9 };", f"{ALL} 8"), ("puts8", "8", "12", "", f"{ALL} 12")])
def test_rows_that_may_be_of_another_length_are_written_anywhere(function: str, parameter: str, argument: str,
                                                                 hiding: str, written: str) -> None:
    scop = from_c_text(ROWS.replace("PARAMETER", parameter).replace("ARGUMENT", argument).replace(
        "HIDING", hiding).replace("FUNCTION", function), path="in.c")
    assert reached(scop, AccessKind.MAY_WRITE, "b").is_equal(isl.UnionMap(
        f"[m] -> {{ S0[i] -> b[o0, o1] : 0 <= i < 20 and {written} }}").intersect_params(scop.context))
