"""Steps that are parameters: the loop counts its iterations; steps that are not positive run the original."""

from pathlib import Path

import pytest

from polysched.scop import from_c_text
from polysched.scop.scop import STEP_ROWS
from tests.scop.c_frontend.same_output import same_output

HEAD = "int f(int n, int s, double *restrict a, double *restrict b)"
MAIN = """  static const int sizes[] = {-1, 0, 1, 2, 3, 7, 8, 9, 31, 64}, steps[] = {1, 2, 3, 5, 8, 100};
  for (int t = 0; t < 10; t++) for (int u = 0; u < 6; u++) {
    double a[300], b[300]; filled(a, 300); filled(b, 300);
    int r = f(sizes[t], steps[u], a, b); shown("a", a, 300); shown("b", b, 300); printf("%d\\n", r); }
  { double a[300], b[300]; filled(a, 300); filled(b, 300);   /* a step of 0 that is never taken */
    printf("%d\\n", f(-5, 0, a, b)); shown("a", a, 300); }"""

STEPPED = {
    "groups": "for (int j = 0; j <= n - s; j += s) for (int k = 0; k < s; k++) a[j + k] = 2 * b[j + k]; return 0;",
    "open end": "for (int j = 3; j < n; j += s) a[j] += b[j]; return 1;",
    "sum on the left": "int j; for (j = 0; j + s <= n; j += s) a[j] = j; return j;",
    "declared outside": "int j; for (j = 0; j < n; j += s) a[j] = b[j] + j; return j;",
    "down": "int j; for (j = n; j > 0; j -= s) a[j] = b[j] + 1; return j;",
    "down to and with": "int j; for (j = n - 1; j >= 0; j -= s) { a[j] = b[j]; } return j;",
    "twice the step": "for (int j = 0; j < n; j += 2 * s) a[j] = b[j] + n; return 0;",
    "sum of a group": "double t = 0; for (int j = 0; j <= n - s; j += s) { double u = 0; "
                      "for (int k = 0; k < s; k++) u += a[j + k] * b[j + k]; t += u; } return (int)t;",
    "a while loop": "int j = 0; while (j < n) { a[j] = b[j] + j; j += s; } return j;",
    "a while loop down": "int j; j = n - 1; while (j >= 0) { a[j] += b[j]; j -= s; } return j;",
    "a while loop inside another": "for (int i = 0; i < 4; i++) { int j = 1; "
                                   "while (j < n) { a[j] += b[j + i]; j += s; } } return 0;",
    "inside another": "for (int i = 0; i < 4; i++) for (int j = 0; j < n; j += s) a[j + i] += b[j]; return 0;",
}


@pytest.mark.parametrize("name", STEPPED)
def test_parameter_steps_compute_the_same(name: str, tmp_path: Path) -> None:
    made = same_output(tmp_path, f"{HEAD} {{ {STEPPED[name]} }}\n".replace(" for (", "\nfor ("), MAIN)
    (region,) = made.regions
    assert any(a.kind == "terminates" for a in region.scop.assumptions)
    assert any(s.depth for s in region.scop.statements)
    assert region.scop.notes == ()


@pytest.mark.parametrize("loop", [
    "for (int j = 1; j < n; j += s) a[j] = a[j - 1] + 1;",
    "for (int j = n - 1; j > 0; j -= s) a[j] = a[j - 1] + 1;",
    "for (int j = 0; j < n; j += s) for (int k = 0; k < 3; k++) a[j + k] = 3 * a[j + k] + j + k;",
    "for (int j = 0; j < n; j += s) for (int k = 0; k < 7; k++) if (j + k < n) a[j + k] = 3 * a[j + k] + j;",
])
def test_what_lies_beyond_a_step_is_looked_at_in_marked_regions_too(loop: str, tmp_path: Path) -> None:
    made = same_output(tmp_path, f"{HEAD} {{\n#pragma scop\n{loop}\n#pragma endscop\nreturn 0; }}\n", MAIN,
                       flags=(), vector_bits=512)
    (region,) = made.regions
    assert [a.kind for a in region.scop.assumptions if a.kind not in ("terminates", "no-alias")].count(STEP_ROWS) >= 1


@pytest.mark.parametrize("loop", [
    "for (int j = 0; j < n; j += s) { a[j] = 1; s++; }",
    "for (int j = 0; j < n; j += s) { a[j] = 1; j++; }",
    "for (int j = 0; j != n; j += s) a[j] = 1;",
    "for (int i = 1; i < n; i++) for (int j = 0; j < n; j += i) a[j] = 1;",
    "for (unsigned j = 0; j < n; j += s) a[j] = 1;",
])
def test_other_steps_are_kept_whole(loop: str) -> None:
    scop = from_c_text(f"{HEAD} {{\n#pragma scop\n{loop}\n#pragma endscop\nreturn 0; }}\n")
    assert "is kept whole" in scop.notes[0]


@pytest.mark.parametrize("bound", ["n * m", "n * m - 1", "n / m + 1", "(n + m - 1) / m", "n % m", "n > m ? n * n : m"])
def test_bounds_may_be_products_and_quotients_of_parameters(bound: str, tmp_path: Path) -> None:
    text = f"void f(int n, int m, double *restrict a) {{ for (int i = 0; i < ({bound}); i++) a[i] = 2 * a[i] + i; }}\n"
    main = """  for (int n = -2; n < 9; n++) for (int m = 1; m < 7; m++) {
    double a[100]; filled(a, 100); f(n, m, a); shown("a", a, 100); }
  double a[100]; filled(a, 100); f(3, 2, a); shown("a", a, 100);"""
    (region,) = same_output(tmp_path, text, main).regions
    assert [s.depth for s in region.scop.statements] == [1]


def test_a_quotient_by_zero_that_the_program_does_not_compute_is_not_computed(tmp_path: Path) -> None:
    text = "void f(int n, int m, double *restrict a) {\n  for (int t = 0; t < 2; t++)\n    if (m > 0)\n" \
           "      for (int i = 0; i < n / m; i++)\n        a[i] += i;\n}\n"
    same_output(tmp_path, text, "double a[99]; filled(a, 99); f(9, 0, a); f(90, 2, a); shown(\"a\", a, 99);")
