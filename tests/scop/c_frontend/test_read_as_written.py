"""What people write: sparse rows, pragmas under `#ifdef`, several loops in a line, declarations without types."""

from pathlib import Path

import pytest

from tests.scop.c_frontend.same_output import same_output

ROWS = """
void multiply(int n, double *restrict y, const double *restrict v, const int *restrict p, const int *restrict c,
              const double *restrict x) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = p[i]; k < p[i + 1]; k++)
      s += v[k] * x[c[k]];
    y[i] = s;
  }
}
void scatter(int n, double *restrict w, const double *restrict v, const int *restrict p) {
  int k;
  for (int i = 0; i < n; i++)
    for (k = p[i]; k < p[i + 1]; k++)
      w[k] += 2 * v[k];
}
"""
CALL_ROWS = """
  double y[40], v[120], x[40], w[120];
  int p[41], c[120];
  for (int i = 0; i <= 40; i++) p[i] = i < 20 ? 4 * i : 80 + i - 20;
  for (int k = 0; k < 120; k++) c[k] = (k * 7) % 40;
  filled(v, 120), filled(x, 40), filled(w, 120), filled(y, 40);
  multiply(40, y, v, p, c, x), shown("y", y, 40);
  scatter(40, w, v, p), shown("w", w, 120);
"""


def test_rows_with_bounds_from_memory_run_in_parallel(tmp_path: Path) -> None:
    made = same_output(tmp_path, ROWS, CALL_ROWS)
    multiply, scatter = made.text.split("void scatter")
    assert "#pragma omp parallel for" in multiply
    assert "copies" not in made.text
    assert "#pragma omp parallel for" in scatter   # where a test finds that rows lie in order


CONDITIONAL = """
#define USED 1
void f(int n, double *restrict A, const double *restrict B) {
  int i;
#ifdef _OPENMP
#pragma omp parallel for
#endif
  for (i = 0; i < n; i++)
    A[i] = 2 * B[i];
#if USED
  #pragma omp parallel for
#else
  #pragma GCC ivdep
#endif
  for (i = 0; i < n; i++)
    A[i] += B[n - 1 - i];
}
"""


def test_pragmas_under_conditional_compilation_go_with_their_loop(tmp_path: Path) -> None:
    made = same_output(tmp_path, CONDITIONAL, "double A[40], B[40]; filled(B, 40); f(40, A, B); shown(\"A\", A, 40);")
    assert len(made.regions) == 2
    assert "#ifdef" not in made.text
    assert "ivdep" not in made.text


@pytest.mark.parametrize("pragma", ["omp for", "omp critical"])
def test_pragmas_of_other_threads_under_conditional_compilation_stay(tmp_path: Path, pragma: str) -> None:
    text = f"""
void f(int n, double *restrict A, const double *restrict B) {{
  int i;
  for (i = 0; i < n; i++)
    A[i] = B[i] + 1;
#ifdef _OPENMP
#pragma {pragma}
#endif
  for (i = 0; i < n; i++)
    A[i] *= B[i];
}}
"""
    made = same_output(tmp_path, text, "double A[40], B[40]; filled(B, 40); f(40, A, B); shown(\"A\", A, 40);")
    assert len(made.regions) == 1
    assert f"#pragma {pragma}" in made.text


ONE_LINE = """
void f(int n, double *restrict A, const double *restrict B) {
  int i, j;
  for (i = 0; i < n; i++) A[i] = 1; for (i = 0; i < n; i++) A[i] += B[i]; A[0] = 2;
  for (i = 0; i < n; i++) for (j = 0; j < 4; j++) A[i] += B[j];
  if (n > 3) for (i = 1; i < n; i++) { A[i] = A[i - 1] * B[i]; }
}
"""


def test_loops_that_share_a_line(tmp_path: Path) -> None:
    made = same_output(tmp_path, ONE_LINE, "double A[40], B[40]; filled(B, 40); f(40, A, B); shown(\"A\", A, 40);")
    assert sum(len(region.scop.statements) for region in made.regions) == 5


OLD = """
static count, total = 3;
f(n, A)
double *A;
{
  register i;
  const two = 2;
  for (i = 0; i < n; i++)
    A[i] = two * i + total;
  return 0;
}
g(n, A, B) int n; double *A, *B;
{
  int i;
  for (i = 0; i < n; i++)
    A[i] += 2 * B[i];
  return count;
}
"""


def test_declarations_without_a_type_are_of_int(tmp_path: Path) -> None:
    made = same_output(tmp_path, OLD, "double A[40], B[40]; filled(B, 40); f(40, A); g(40, A, B); shown(\"A\", A, 40);")
    assert [region.scop.name for region in made.regions] == ["f", "g"]
    assert [p.dtype.name for p in made.regions[0].scop.parameters][:1] == ["int32"]
