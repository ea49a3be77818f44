"""Calls of functions whose effects through pointers are declared."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.scop import AccessKind, Scop
from tests.scop.c_frontend.same_output import SANITIZED, same_output

HEAD = """
void axpy(int n, double a, const double *x, double *y);
double total(long n, const double *x);
void both(double v, double *high, double *low);
void fill(int m, int n, double A[m][n], double by);
#pragma polysched effects axpy(n, a, x, y) reads x[0:n], y[0:n] writes y[0:n]
#pragma polysched effects total(n, x) reads x[0:n]
#pragma polysched effects both(v, high, low) writes *high, low[0]
#pragma polysched effects fill(m, n, A, by) writes A[0:m][0:n]
"""
FUNCTION = "void f(int n, int m, double *restrict x, double *restrict y, double A[restrict n][m], double *restrict s)"
OTHERS = """
void axpy(int n, double a, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] += a * x[i]; }
double total(long n, const double *x) { double t = 0; for (long i = 0; i < n; i++) t += x[i]; return t; }
void both(double v, double *high, double *low) { *high = v * 2; *low = v / 2; }
void fill(int m, int n, double A[m][n], double by) {
  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) A[i][j] = by + i - j;
}
"""
MAIN = """
  static double x[4000], y[4000], A[4000], s[64];
  for (int n = -2; n < 36; n += 1 + n / 7) for (int m = -1; m < 34; m += 5) {
    filled(x, 4000); filled(y, 4000); filled(A, 4000); filled(s, 64);
    f(n, m, x + 40, y + 40, (double (*)[m > 0 ? m : 1])A, s);
    shown("x", x, 1400); shown("y", y, 1400); shown("A", A, 1400); shown("s", s, 64);
  }
"""


def text(body: str) -> str:
    return f"{HEAD}{FUNCTION} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def region(body: str) -> Scop:
    return from_c_text(text(body), path="in.c")


def reached(scop: Scop, kind: AccessKind, array: str) -> isl.UnionMap:
    return isl.UnionMap.from_map(next(a.relation for s in scop.statements for a in s.accesses
                                      if a.kind is kind and a.array == array)).intersect_params(scop.context)


@pytest.mark.parametrize(("body", "array", "writes"), [
    ("axpy(n, 2.0, x, y);", "y", "[n, m] -> { S0[] -> y[k] : 0 <= k < n }"),
    ("axpy(n, 2.0, x, &y[3]);", "y", "[n, m] -> { S0[] -> y[k] : 3 <= k < n + 3 }"),
    ("for (int i = 0; i < n; i++) axpy(m, 2.0, x, A[i]);", "A",
     "[n, m] -> { S0[i] -> A[i, k] : 0 <= i < n and 0 <= k < m }"),
    ("for (int i = 0; i < n; i++) axpy(m - 1, 2.0, x, A[i] + 1);", "A",
     "[n, m] -> { S0[i] -> A[i, k] : 0 <= i < n and 1 <= k < m }"),
    ("for (int i = 0; i < n; i++) axpy(m, 2.0, x, y + i * m);", "y",
     "[n, m] -> { S0[i] -> y[i, k] : 0 <= i < n and 0 <= k < m }"),
    ("both(x[0], &s[1], &s[n]);", "s", "[n, m] -> { S0[] -> s[1] }"),
    ("fill(n, m, A, 1.5);", "A", "[n, m] -> { S0[] -> A[i, k] : 0 <= i < n and 0 <= k < m }"),
    ("axpy(n * n, 2.0, x, &A[0][0]);", "A", "[n, m] -> { S0[] -> A[i, k] : 0 <= i < n and 0 <= k < m }"),
])
def test_what_a_call_reaches(body: str, array: str, writes: str) -> None:
    scop = region(body)
    wanted = isl.UnionMap(writes).intersect_params(scop.context)
    found = reached(scop, AccessKind.MAY_WRITE, array)
    assert wanted.is_subset(found)
    if "n * n" not in body:
        assert found.is_subset(wanted), "no more than is declared"


def test_a_prototype_need_not_say_how_long_rows_are() -> None:
    scop = from_c_text(text("for (int i = 0; i < 4; i++) fill(1, m, A + i, 1.5);").replace("A[m][n], double by", (
        "A[*][*], double by")), path="in.c")
    assert reached(scop, AccessKind.MAY_WRITE, "A").is_equal(isl.UnionMap(
        "[n, m] -> { S0[i] -> A[j, k] : 0 <= i < 4 and 0 <= j < n and 0 <= k < m }").intersect_params(scop.context))


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) axpy(m, 2.0, x, A[i]);",
    "for (int i = 0; i < n; i++) axpy(m, x[i], x + 1, y + i * m);",
    "for (int i = 0; i < n; i++) { s[i] = total(m, A[i]); x[i] += s[i]; }",
    "for (int i = 0; i < n; i++) { double t = total(m, A[i]); t += total(m, x); s[i] = t; }",
    "for (int i = 0; i < n; i++) if (x[i] > 2) axpy(m, 1.0, x, A[i]); else s[i] += total(i, x);",
    "for (int i = 0; i < n; i++) { double high = 0, low = 0; both(x[i], &high, &low); s[i] = high - low; }",
    "for (int i = 1; i < n; i++) axpy(m, 0.5, A[i - 1], A[i]);",
    "fill(n, m, A, 1.5); for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] += x[j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] *= 2; for (int i = 0; i < n; i++)"
    " s[i] = total(m, A[i]);",
    "double *p = y; for (int i = 0; i < n; i++) { axpy(m, 2.0, x, p); p += m; }",
    "for (int i = 0; i < n; i++) { double t[8]; for (int k = 0; k < 8; k++) t[k] = x[i + k];"
    " s[i] = total(8, t); }",
    "for (int i = 0; i < n; i++) { double t[2][4]; fill(2, 4, t, x[i]); s[i] = total(4, t[1]); }",
    "for (int i = 0; i < n; i++) { double t[8]; for (int k = 0; k < 3; k++) t[k] = x[i + k];"
    " for (int k = 0; k < 8; k++) if (k >= 3) t[k] = k; axpy(8, 1.0, x, t); s[i] = t[0] + t[2]; }",
])
def test_programs_print_what_they_printed(tmp_path: Path, body: str) -> None:
    same_output(tmp_path, text(body), MAIN + "}\n" + OTHERS + "static int nothing(void) {", SANITIZED)


def test_rows_run_on_threads_and_a_chain_does_not(tmp_path: Path) -> None:
    rows = same_output(tmp_path, text("for (int i = 0; i < n; i++) axpy(m, 2.0, x, A[i]);"),
                       MAIN + "}\n" + OTHERS + "static int nothing(void) {")
    chain = same_output(tmp_path, text("for (int i = 1; i < n; i++) axpy(m, 0.5, A[i - 1], A[i]);"),
                        MAIN + "}\n" + OTHERS + "static int nothing(void) {")
    assert "#pragma omp parallel for" in rows.text
    assert "#pragma omp parallel for" not in chain.text


def test_members_of_what_a_counter_of_its_own_selects(tmp_path: Path) -> None:
    """The counter is replaced by a function of the loop's, in the address and in what is reached, once in each."""
    program = text("int k = 1; for (int i = 0; i < 8; i++) { both(x[i], &s[k].a, &s[k].b); k += 2; }")
    program = "struct pair { double a, b; };\n" + program.replace("double *restrict s", "struct pair *restrict s")
    main = MAIN.replace("A, s);", "A, (void *)s);")
    same_output(tmp_path, program, main + "}\n" + OTHERS + "static int nothing(void) {", SANITIZED)


def test_memory_that_may_overlap_is_all_that_a_function_reaches(tmp_path: Path) -> None:
    """Sections that no sizes tell begin at their pointer, and go on."""
    program = ("void put(int n, double *to, double v);\n"
               "#pragma polysched effects put(n, to, v) reads to[0:n * n] writes to[0:n * n]\n"
               "void f(int n, double *x, double *y) {\nfor (int t = 0; t < 2; t++) {\n"
               "for (int i = 0; i < 200; i++) x[i] = 2 * x[i];\nput(n, y, 1.0);\n"
               "for (int i = 0; i < 200; i++) x[i] *= 3;\n}\n}\n")
    main = """
  static double x[4000];
  for (int n = -1; n < 12; n++) for (int at = 0; at < 300; at += 37) {
    filled(x, 4000); f(n, x + at, x + 150); shown("x", x, 600);
  }
"""
    others = "void put(int n, double *to, double v) { for (int i = 0; i < n * n; i++) to[i] += v; }\n"
    same_output(tmp_path, program, main + "}\n" + others + "static int nothing(void) {")


@pytest.mark.parametrize("row", ["m * m", "s[0]"])
def test_rows_whose_length_is_no_sum_of_sizes_may_be_left(row: str) -> None:
    scop = from_c_text(f"{HEAD}void f(int n, int m, int *s, double *restrict x, double A[restrict n][{row}]) {{\n"
                       "#pragma scop\nfor (int i = 0; i < n; i++) axpy(9, 2.0, x, A[i]);\n#pragma endscop\n}\n",
                       path="in.c")
    others = isl.UnionMap("[n, m] -> { S0[i] -> A[k, 0] : 0 <= i < n and 0 <= k < n }")
    assert others.intersect_params(scop.context).is_subset(reached(scop, AccessKind.MAY_WRITE, "A"))


def test_a_function_without_parameters() -> None:
    scop = from_c_text("int answer(void);\n#pragma polysched effects answer()\nvoid f(int *s) {\n#pragma scop\n"
                       "s[0] = answer();\n#pragma endscop\n}\n", path="in.c")
    assert [a.kind for a in scop.statements[0].accesses] == [AccessKind.MUST_WRITE]


def test_a_function_with_any_number_of_parameters_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="another number of parameters"):
        from_c_text("void g(int n, ...);\n#pragma polysched effects g(n, more)\nvoid f(int *s) {\n#pragma scop\n"
                    "g(1, 2);\n#pragma endscop\n}\n", path="in.c")


@pytest.mark.parametrize(("body", "message"), [
    ("for (int i = 0; i < n; i++) s[i] = 1 + total(m, A[i]);", "is part of an expression"),
    ("axpy(n, 2.0, x);", "another number of parameters"),
    ("axpy(n, x[0]++, x, y);", "a side effect or a call inside an argument"),
    ("double t = 0; axpy(n, 2.0, x, &t); s[0] = t;", "is the address of one variable"),
    ("unknown(n, x);", "say what it reaches through its pointers"),
])
def test_calls_that_are_refused(body: str, message: str) -> None:
    with pytest.raises(UnsupportedScopError) as caught:
        region(body)
    assert message in f"{caught.value}"
