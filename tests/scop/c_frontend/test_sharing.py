"""Pointers that visibly meet: which arrays may share memory."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import SANITIZED, same_output


def test_pointers_that_visibly_meet():
    with pytest.raises(UnsupportedScopError, match="may point into the same memory") as caught:
        from_c_text("void f(int n, double *buf) {\n double *p = buf, *q = buf + n; if (n > 3) q = buf;\n#pragma scop\n"
                    "for (int i = 0; i < n; i++) p[i] = q[i];\n#pragma endscop\n}\n")
    assert "buf" in caught.value.witness
    assert "restrict" in caught.value.hint


def test_pointers_that_are_only_read_may_meet(tmp_path: Path) -> None:
    text = ("void f(int n, double *restrict out, const double *buf) {\n const double *p = buf, *q = buf + n / 2;\n"
            " double s = 0; int k = n / 2;\n"
            " while (k--) { s += p[k] * q[k]; out[k] = q[k] - p[k]; }\n out[n] = s;\n}\n")
    main = ("static double a[101], b[101];\nfor (int n = 0; n < 100; n += 33) {\n filled(a, 101); filled(b, 101);\n"
            " f(n, b, a); shown(\"b\", b, 101);\n}\n")
    assert same_output(tmp_path, text, main).regions


@pytest.mark.parametrize("body", [
    "p = table + 4;\n#pragma scop\nfor (int i = 0; i < 50; i++) p[i] = table[i];",
    "q = p;\n#pragma scop\nfor (int i = 0; i < 50; i++) p[i] = q[i + 1];",
    "p = table;\n#pragma scop\nfor (int i = 0; i < 50; i++) q[i] = p[i];\n#pragma endscop\nq = table;",
])
def test_pointers_of_the_file_that_a_function_visibly_lets_meet(body):
    text = f"float table[99], *restrict p, *q;\nvoid f(void) {{\n{body}\n"
    with pytest.raises(UnsupportedScopError, match="may point into the same memory"):
        from_c_text(text + ("}\n" if "endscop" in body else "#pragma endscop\n}\n"))


def test_pointers_of_the_file_that_nothing_lets_meet():
    text = ("float table[99], other[99], *restrict p, *restrict q;\nvoid f(void) {\n p = table, q = other;\n"
            "#pragma scop\nfor (int i = 0; i < 50; i++) p[i] = q[i];\n#pragma endscop\n}\n")
    assert from_c_text(text).statements


@pytest.mark.parametrize("body", ["*p = n - 1; for (int i = 0; i < s; i++) x[i] = 0;", "s = 3; x[0] = *p;"])
def test_pointers_to_a_scalar_of_the_region(body):
    with pytest.raises(UnsupportedScopError, match="`p` may point to `s`") as caught:
        from_c_text(f"void f(int n, int x[n]) {{\n int s = 2, *p = &s;\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    assert "takes the address of `s`" in caught.value.witness
    assert "use `s` itself" in caught.value.hint


MEMBERS = "struct s {{ int n; double sum, *d, *e; }};\nvoid f(struct s *s, int o) {{ {} }}\n"


@pytest.mark.parametrize("body", [
    "double *d = s->d; for (int i = 0; i < s->n; i++) d[i] = s->e[i] * 2;",
    "double *d = s->d + o, *e = s->e; for (int i = 0; i < s->n; i++) d[i] += e[i] + s->sum;",
])
def test_members_hold_pointers_of_their_own(body: str, tmp_path: Path) -> None:
    """Also where they meet: what may overlap is tested at run time."""
    made = same_output(tmp_path, MEMBERS.format(body), """
      for (int n = 0; n < 40; n += 3) for (int at = 0; at < 3; at++) {
        double x[100], y[100]; filled(x, 100); filled(y, 100);
        struct s s = {n, 2, x, at == 0 ? y : at == 1 ? x : x + 1}; f(&s, n % 5);
        shown("x", x, 100); printf("%a\\n", s.sum); }""", SANITIZED)
    assert any(region.scop.assumptions for region in made.regions)


def test_numbers_lead_nowhere(tmp_path: Path) -> None:
    text = MEMBERS.format("double *d = s->d + o * s->n, *e = s->e + s->n; for (int i = 0; i < s->n; i++) d[i] = e[i];")
    assert same_output(tmp_path, text, """
      double x[100], y[100]; filled(x, 100); filled(y, 100); struct s s = {20, 2, x, y};
      for (int o = 0; o < 3; o++) { f(&s, o); shown("x", x, 100); }""", SANITIZED).regions


def test_members_in_an_index_that_is_set_once(tmp_path: Path) -> None:
    text = MEMBERS.format("double *d = s->d; for (int i = 0; i < o; i++) for (int j = 0; j < s->n; j++) {"
                          " const int at = i * (s->n + 1) + (j + 1); d[at] += i; }")
    assert same_output(tmp_path, text, """
      double x[100], y[100]; filled(x, 100); filled(y, 100); struct s s = {20, 2, x, y};
      for (int o = 0; o < 4; o++) { f(&s, o); shown("x", x, 100); }""", SANITIZED).regions


def test_one_member_by_two_names_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="may point into the same memory"):
        from_c_text(MEMBERS.format("double *d = s->d + o;\n#pragma scop\n"
                                   "for (int i = 0; i < s->n; i++) d[i] += s->d[i];\n#pragma endscop\n"))
