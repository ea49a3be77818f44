"""Calls through pointers to functions that are declared pure."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import SANITIZED, same_output

HEAD = """static double halved(double v) { return v / 2; }
static double scaled(double v, int by) { return v * by; }
static int larger(int a, int b) { return a > b ? a : b; }
struct layer { int n; double (*act)(double); double (*two[2])(double, int); };
#pragma polysched pure act exp min l->act l->two[1]
void f(int n, double (*act)(double), double (*exp)(double), int (*min)(int, int), struct layer *l,
       double A[n], char *c) {
#pragma scop
"""


def text(body: str) -> str:
    return f"{HEAD}{body}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) A[i] = act(A[i]) + (*act)(2) + (**act)(i);",
    "for (int i = 0; i < n; i++) A[i] = exp(A[i]);",
    "for (int i = 0; i < n; i++) A[i] = l->act(A[i]) + l->two[1](A[i], i);",
    "for (int i = 0; i < n - 1; i++) A[min(i, 3)] += A[min(3, i)] + min(i, 3);",
])
def test_pointers_that_are_declared_pure(tmp_path: Path, body: str) -> None:
    same_output(tmp_path, text(body), """
      struct layer l = {3, halved, {0, scaled}};
      for (int n = 0; n < 40; n++) {
        double a[40]; filled(a, 40);
        f(n, halved, halved, larger, &l, a, 0);
        shown("a", a, 40); }""", SANITIZED)


@pytest.mark.parametrize(("body", "message"), [
    ("for (int i = 0; i < n; i++) A[i] = l->two[0](A[i], 1);", r"`l->two\[0\]` may have side effects"),
    ("for (int i = 0; i < n; i++) A[i] = l[i].act(A[i]);", "a call through a pointer"),
    ("for (int i = 0; i < n; i++) { A[i] = l->act(A[i]); l->act = act; }", "the region changes `l->act`"),
    ("for (int i = 0; i < n; i++) A[i] = act(A[i], 3);", "takes 1 arguments"),
])
def test_other_pointers_are_refused(body: str, message: str) -> None:
    with pytest.raises(UnsupportedScopError, match=message):
        from_c_text(text(body))


def test_a_pointer_of_the_name_of_a_function_of_the_library_is_a_pointer() -> None:
    with pytest.raises(UnsupportedScopError, match="`sin` may have side effects"):
        from_c_text("void f(int n, double (*sin)(double), double A[n]) {\n#pragma scop\n"
                    "for (int i = 0; i < n; i++) A[i] = sin(A[i]);\n#pragma endscop\n}\n")
