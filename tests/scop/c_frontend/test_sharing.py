"""Pointers that visibly meet: which arrays may share memory."""

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text


def test_pointers_that_visibly_meet():
    with pytest.raises(UnsupportedScopError, match="may point into the same memory") as caught:
        from_c_text("void f(int n, double *buf) {\n double *p = buf, *q = buf + n; if (n > 3) q = buf;\n#pragma scop\n"
                    "for (int i = 0; i < n; i++) p[i] = q[i];\n#pragma endscop\n}\n")
    assert "buf" in caught.value.witness
    assert "restrict" in caught.value.hint


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
