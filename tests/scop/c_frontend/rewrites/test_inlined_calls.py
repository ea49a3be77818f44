"""Calls of functions of the file: what they do stands in the place of the call, or the loop is left with the reason."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import same_output

HELPERS = """
static int padded(int r, int pad, const double *x, int n) {
  r -= pad;
  if (r < 0 || r >= n) return 0;
  return (int)x[r];
}
static int wrapped(short r, int n) { int k; r += 32767; k = r; if (k < 0) { k = -k; } else k++; return k % n; }
static double dot(int n, const double *a, const double *b) {
  double s = 0; int k;
  for (k = 0; k < n; k++) s += a[k] * b[k];
  return s;
}
static int scaled(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2; return n; }
static double first(int n, const double *a) { if (n > 3) { return a[0]; } return 7; }
static void clear(int n, double *a) { if (n < 2) return; for (int i = 0; i < n; i++) a[i] = 0; }
static double found(int n, const double *a) { for (int i = 0; i < n; i++) if (a[i] > 3) return a[i]; return 0; }
typedef double triple[3];
static void shifted(triple a, const triple b) { for (int k = 0; k < 3; k++) a[k] += b[k]; a[0] = 1; }
static double kind(int k, double v) {
  switch (k % 4) {
    case 0: return v; case 1: if (v > 2) return 2; else return -v; case 2: k = 9; break; default: return 1; }
  return v * k;
}
static int sign(const double *a) { if (a[0] > 3) return 1; else if (a[1] < 2) { return -1; } else return a[2] > 0; }
static int shared_total;
static int counted(int k) { shared_total += k; return k; }
"""
HEAD = "void f(int n, int m, const double *restrict x, double *restrict y)"
MAIN = """  static const int sizes[] = {0, 1, 2, 3, 4, 7, 8, 9, 31};
  for (int t = 0; t < 9; t++) for (int u = 0; u < 5; u++) {
    double x[2000], y[2000]; filled(x, 2000); filled(y, 2000);
    f(sizes[t], sizes[u], x, y); shown("y", y, 100); printf("%d\\n", shared_total); }"""

CALLS = {
    "changed parameter": "for (int i = 0; i < n; i++) y[i] = padded(i, 1, x, n);",
    "narrow parameter": "for (int i = 0; i < n; i++) y[i] = wrapped((short)i, 5);",
    "result with a loop": "for (int i = 0; i < n; i++) y[i] = dot(m, x + i * m, x);",
    "added result": "for (int i = 0; i < n; i++) y[i] += dot(m, x + i, x);",
    "declared result": "for (int i = 0; i < n; i++) { double t = dot(m, x + i, x); y[i] = t * t; }",
    "unused result": "for (int i = 0; i < n; i++) scaled(m, y + i * m);",
    "return on a condition": "for (int i = 0; i < n; i++) y[i] = first(i, x + i);",
    "unused result on a condition": "for (int i = 0; i < n; i++)\nif (x[i] > 0) clear(i, y + 1);",
    "body alone": "for (int i = 0; i < n; i++)\ny[i] = dot(m, x + i, x);",
    "parameter of an array's type": "for (int i = 0; i < n; i++) shifted(y + 3 * i, x + i);",
    "switch with returns": "for (int i = 0; i < n; i++) y[i] = kind(i + m, x[i]);",
    "returns in both branches": "for (int i = 0; i < n; i++) y[i] += sign(x + i);",
    "same twice": "for (int i = 0; i < n; i++) { y[i] = dot(m, x, x + i); y[i] -= dot(i, x, x); }",
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_compute_the_same(name: str, tmp_path: Path) -> None:
    made = same_output(tmp_path, f"{HELPERS}{HEAD} {{\n#pragma scop\n{CALLS[name]}\n#pragma endscop\n}}\n", MAIN)
    assert made.regions[0].scop.notes == ()
    assert all(s.depth for s in made.regions[0].scop.statements)


@pytest.mark.parametrize(("body", "problem"), [
    ("for (int i = 0; i < n; i++) y[i] = 1 + found(i, x);", "`found` may have side effects"),
    ("for (int i = 0; i < n; i++) y[i] = counted(i) + 1;", "`counted` may have side effects"),
    ("for (int i = 0; i < n; i++) unknown(y);", "a call whose result is not used must have side effects"),
])
def test_other_calls_are_refused(body: str, problem: str) -> None:
    text = f"void unknown(double *);\n{HELPERS}{HEAD} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    with pytest.raises(UnsupportedScopError, match=problem):
        from_c_text(text)


def test_effects_on_memory_of_the_file_are_kept(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) { int k = counted(i); y[i] = k; counted(1); }"
    same_output(tmp_path, f"{HELPERS}{HEAD} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", MAIN)
