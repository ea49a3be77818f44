"""Sizes for which a function's arrays have no elements: the original code runs, or nothing does."""

from pathlib import Path

import pytest

from polysched.scop import from_c_text
from polysched.scop.points import with_sizes
from polysched.scop.scop import SOME_ELEMENTS, Assumption, Scop
from tests.scop.c_frontend.same_output import SANITIZED, same_output

PRODUCT = """void f(int N, int M, int K, float A[N][K], float B[M][K], float C[N][M]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[j][k];
    }
#pragma endscop
}
"""


def region(head: str, body: str) -> Scop:
    return from_c_text(f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def assumed(scop: Scop) -> Assumption | None:
    found = [a for a in scop.assumptions if a.kind == SOME_ELEMENTS]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(("head", "body", "condition", "idle"), [
    ("int n, double A[n]", "for (int i = 0; i < n; i++) A[i] = 1;", "n >= 1", True),
    ("int n, double A[n]", "for (int i = n - 1; i >= 0; i--) A[i] = 1;", "n >= 1", True),
    ("int n, double A[n], double B[9]", "for (int i = 0; i < 9; i++) B[i] = 1;", None, None),
    ("int n, double A[n], double B[9]", "for (int i = 0; i < 9; i++) B[i] = A[0];", "n >= 1", False),
    ("int n, double A[n], double B[9]", "for (int i = 0; i < n + 1; i++) B[i] = A[0];", "n >= 1", False),
    ("int n, double A[n]", "for (int i = 0; i <= n / 2; i++) A[i] = 1;", "n >= 1", False),
    ("unsigned n, double A[n], double B[9]", "for (unsigned i = 0; i < n - 1; i++) B[i] = A[0];", "n >= 1", False),
    ("int n, int m, double A[n][m]", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = 1;",
     "m >= 1 && n >= 1", True),
    ("int n, int m, double A[n][m]", "for (int i = 0; i < n; i++) A[i][0] = 1;", "m >= 1 && n >= 1", False),
    ("int n, double A[n + 2]", "for (int i = 0; i < n; i++) A[i] = 1;", "n >= -1", True),
    ("int n, int m, double A[n - m]", "for (int i = 0; i < n - m; i++) A[i] = 1;", "(long)n >= (long)m + 1", True),
    ("int n, double A[n], double *last", "int i; for (i = 0; i < n; i++) A[i] = 1; *last = i;", "n >= 1", False),
    ("int n, double A[n]", "__builtin_assume(n > 0);\nfor (int i = 0; i < n; i++) A[i] = 1;", None, None),
    ("int n, double A[9]", "for (int i = 0; i < n; i++) A[i] = 1;", None, None),
])
def test_what_is_assumed(head: str, body: str, condition: str | None, idle: bool | None) -> None:
    found = assumed(region(head, body))
    assert (None if found is None else found.condition) == condition
    assert (None if found is None else found.idle) == idle


def test_the_region_is_for_arrays_with_elements_and_callable_with_others() -> None:
    scop = from_c_text(PRODUCT)
    sizes = {"N": 0, "M": 5, "K": -3}
    assert with_sizes(scop.context, sizes).is_empty()
    assert not with_sizes(scop.callable_with, sizes).is_empty()


SIZES = "int sizes[] = {-70, -1, 0, 1, 2, 17}; double *none = 0;\n"


@pytest.mark.parametrize("options", [{}, {"safe": True}, {"guard": True}, {"tile": 4}, {"scheduler": "original"}])
def test_a_product_of_any_sizes(tmp_path: Path, options: dict[str, object]) -> None:
    same_output(tmp_path, PRODUCT, SIZES + """
      for (int a = 0; a < 6; a++) for (int b = 0; b < 6; b++) for (int c = 0; c < 6; c++) {
        int N = sizes[a], M = sizes[b], K = sizes[c], k; double sum = 0;
        int some = N > 0 && M > 0, both = some && K > 0;
        float *A = both ? malloc(N * K * 4) : 0, *B = both ? malloc(M * K * 4) : 0, *C = some ? malloc(N * M * 4) : 0;
        for (k = 0; both && k < N * K; k++) A[k] = k % 7 - 3;
        for (k = 0; both && k < M * K; k++) B[k] = k % 5 - 2;
        for (k = 0; some && k < N * M; k++) C[k] = 99;
        f(N, M, K, (void *)A, (void *)B, (void *)C);
        for (k = 0; some && k < N * M; k++) sum = sum * 0.5 + C[k];
        printf("%d %d %d %a\\n", N, M, K, sum); free(A); free(B); free(C); }""", SANITIZED, **options)


@pytest.mark.parametrize(("head", "body", "call"), [
    ("int n, double *s, double A[n]", "*s = 3; for (int i = 0; i < n; i++) *s += A[i];", "f(n, &s, a)"),
    ("int n, double *s, double A[n][n]",
     "for (int i = 0; i < n; i++) { A[i][i] += 1; for (int j = 0; j < i; j++) A[i][j] += A[j][i]; } *s = n;",
     "f(n, &s, (void *)a)"),
    ("int n, double *s, double A[n]", "int i; for (i = 1; i < n - 1; i++) A[i] += A[i - 1] + A[i + 1]; *s = i;",
     "f(n, &s, a)"),
    ("int n, double *s, double A[n]", "for (int i = 0; i <= n / 2; i++) *s += i < n ? A[i] : 5;", "f(n, &s, a)"),
    ("int n, double *s, double A[n]", "double *p = A; for (int i = 0; i < n; i++) *s += *p++;",
     "f(n, &s, a)"),
])
def test_other_regions_of_any_size(tmp_path: Path, head: str, body: str, call: str) -> None:
    text = f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    same_output(tmp_path, text, """
      for (int n = -40; n < 40; n++) {
        double s = 0.5, *a = n > 0 ? malloc(n * n * 8) : 0;
        if (n > 0) filled(a, n * n);
        CALL;
        if (n > 0) shown("a", a, n * n);
        printf("%d %a\\n", n, s); free(a); }""".replace("CALL", call), SANITIZED)


def test_many_sizes_of_their_own_are_read() -> None:
    """26 extents, as swim's in OpenScop has: their disjoint complement took isl more than the 10 s of a reading."""
    sizes = range(26)
    scop = from_c_text("void f({}, {}) {{\n#pragma scop\n{}\n#pragma endscop\n}}".format(
        ", ".join(f"int n{k}" for k in sizes), ", ".join(f"double a{k}[n{k}]" for k in sizes),
        "\n".join(f"a{k}[0] = 1;" for k in sizes)))
    assert len(scop.statements) == len(sizes)
