"""Pointers that are set outside of where they are used, several into one array, and what `restrict` says of others."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import same_output

SIZES = "static const int sizes[] = {0, 1, 2, 3, 7, 8, 9, 31};\n" \
        "for (int t = 0; t < 8; t++) for (int u = 0; u < 8; u++) {\n"
FLAT = SIZES + "double *a = malloc(8 * 4000); filled(a, 4000);\n" \
       "f(sizes[t], sizes[u], a); shown(\"a\", a, 1000); free(a); }"
ROWS = SIZES + ("double *a[40], *all = malloc(8 * 4000); filled(all, 4000);\n"
                "for (int k = 0; k < 40; k++) a[k] = all + 40 * k;\n"
                "f(sizes[t], sizes[u], a); shown(\"a\", all, 1600); free(all); }")
ON_ONE_ROW = ROWS.replace("all + 40 * k", "all + 40 * (k / 2)")

ROW_POINTERS = {
    "row": "double *r; int i, j; for (i = 0; i < n; i++) { r = a[i];\nfor (j = 0; j < m; j++) r[j] = 2 * r[j] + i; }",
    "rows": "double *r, *q; int i, j; for (i = 1; i < n; i++) { r = a[i]; q = a[i - 1];\n"
            "for (j = 0; j < m; j++) r[j] += 0.5 * q[j]; }",
    "set twice": "double *r; for (int i = 0; i < n; i++) { r = a[i];\nfor (int j = 0; j < m; j++) r[j] = j; "
                 "r = a[0];\nr[1] = i; }",
}
FLAT_POINTERS = {
    "rows of a flat array": "double *p, *q; for (int i = 1; i < n; i++) { p = a + i * m; q = &a[(i - 1) * m];\n"
                            "for (int j = 0; j < m; j++) p[j] = 2 * q[j]; }",
    "forward": "double *lo = a, *hi = a + 1;\nfor (int i = 0; i < n; i++) hi[i] = lo[i] + 1;",
    "backward": "double *lo = a, *hi = a + 1;\nfor (int i = 0; i < n; i++) lo[i] = hi[i] + 1;",
    "by a parameter": "double *hi = a + n;\nfor (int i = 0; i < n; i++) hi[i] = 2 * a[i];",
    "set once later": "double *hi; hi = &a[m];\nfor (int i = 0; i < n; i++) hi[i] = 2 * a[i];",
    "of another pointer": "double *p = a + 2, *q = p + m;\nfor (int i = 0; i < n; i++) q[i] = p[i] + a[i];",
}


@pytest.mark.parametrize("main", [ROWS, ON_ONE_ROW], ids=["apart", "shared"])
@pytest.mark.parametrize("name", ROW_POINTERS)
def test_row_pointers_compute_the_same(name: str, main: str, tmp_path: Path) -> None:
    made = same_output(tmp_path, f"void f(int n, int m, double **a) {{\n{ROW_POINTERS[name]}\n}}\n", main)
    assert any(s.depth == 2 for region in made.regions for s in region.scop.statements)


@pytest.mark.parametrize("name", FLAT_POINTERS)
def test_pointers_into_one_array_compute_the_same(name: str, tmp_path: Path) -> None:
    made = same_output(tmp_path, f"void f(int n, int m, double *a) {{\n{FLAT_POINTERS[name]}\n}}\n", FLAT)
    assert {a.name for region in made.regions for a in region.scop.arrays if not a.is_scalar} == {"a"}


@pytest.mark.parametrize(("body", "problem"), [
    ("double *p = a; if (n > 2) p = a + 1;\n#pragma scop\nfor (int i = 0; i < n; i++) p[i] = a[i + 1];",
     "may point into the same memory"),
    ("double *p;\n#pragma scop\nfor (int i = 0; i < n; i++) { if (i > 2) p = a + i; p[i] = 1; }",
     "the pointer `p` is changed"),
    ("double *p = a;\n#pragma scop\nfor (int i = 0; i < n; i++) { p[i] = 1; p = a + 1; }",
     "the pointer `p` is changed"),
    ("double *p;\n#pragma scop\nfor (int i = 0; i < n; i++) { p = a + i; p[0] = 1; }\n#pragma endscop\np[0] = 2;\n"
     "#pragma scop",
     "the pointer `p` is changed"),
    ("double *p = a; double **h = &p; h[0] = a + 1;\n#pragma scop\nfor (int i = 0; i < n; i++) p[i] = a[i];",
     "may point into the same memory"),
])
def test_other_pointers_are_refused(body: str, problem: str) -> None:
    with pytest.raises(UnsupportedScopError, match=problem):
        from_c_text(f"void f(int n, int m, double *a) {{\n{body}\n#pragma endscop\n}}\n")


MEMBERS = """struct grid {{ int n; double *d, *e; }};
void f(struct grid *g) {{
  double *d = g->d, *e = g->e; int n = g->n;
  {body}
}}
"""
MEMBERS_MAIN = """  for (int n = 0; n < 12; n++) for (int shift = 0; shift < 3; shift++) {
    double v[100]; filled(v, 100);
    struct grid apart = {n, v, v + 50}, close = {n, v + shift, v}, other = {n, v, v + shift};
    f(&apart); shown("apart", v, 100); f(&close); shown("close", v, 100); f(&other); shown("other", v, 100); }"""


def test_members_are_pointers_that_may_overlap(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++)\n    d[i] = 2 * e[i] + i;"
    (region,) = same_output(tmp_path, MEMBERS.format(body=body), MEMBERS_MAIN).regions
    assert any(a.kind == "no-alias" for a in region.scop.assumptions)
    assert "(const char *)&" in region.text


@pytest.mark.parametrize("body", ["for (int i = 0; i < n; i++)\n d[i] = g->d[i + 1];",
                                  "double *p = g->d + 1;\nfor (int i = 0; i < n; i++)\n d[i] = p[i];"])
def test_one_member_by_two_names_is_refused(body: str) -> None:
    with pytest.raises(UnsupportedScopError, match="may point into the same memory"):
        from_c_text(MEMBERS.format(body=body), autodetect=True)


@pytest.mark.parametrize(("parameters", "assumed"), [
    ("double *restrict y, const double *x", False),
    ("double *y, const double *restrict x", False),
    ("double *y, const double *x", True),
    ("double *restrict y, double *x", False),
])
def test_one_restrict_is_enough(parameters: str, assumed: bool) -> None:
    text = f"void f(int n, {parameters}) {{\n#pragma scop\nfor (int i = 0; i < n; i++) y[i] = x[i];\n" \
           "#pragma endscop\n}\n"
    assert any(a.kind == "no-alias" for a in from_c_text(text).assumptions) == assumed


def test_a_pointer_that_the_function_changes_may_come_from_the_restricted_one() -> None:
    text = "void f(int n, double *restrict y, double *x) {\n if (n > 3) x = y + 1;\n#pragma scop\n" \
           "for (int i = 0; i < n; i++) y[i] = x[i];\n#pragma endscop\n}\n"
    with pytest.raises(UnsupportedScopError, match="may point into the same memory"):
        from_c_text(text)
