"""Attributes say nothing about values, except those that make another type; these are refused where they matter."""

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.c_frontend.text.attributes import without_attributes

TYPES = """
typedef float four __attribute__((vector_size(16)));
typedef unsigned __attribute__((__mode__(__DI__))) wide;
typedef double aligned __attribute__((aligned(64)));
struct both { float x; float __attribute__((vector_size(16))) y; };
__attribute__((noinline)) void f(int n, four *a, wide *b, aligned *c, struct both *d) {
#pragma scop
  for (int i = 0; i < n; i++) {
    %s
  }
#pragma endscop
}
"""


@pytest.mark.parametrize("statement", ["c[i] = c[i] + n;", "d[i].x = i;"])
def test_attributes_that_change_no_type_are_dropped(statement):
    assert len(from_c_text(TYPES % statement).statements) == 1


@pytest.mark.parametrize("statement", ["a[i] = a[i] + a[i];", "b[i] = 1;", "d[i].y = d[i].y + d[i].y;",
                                       "four s = a[i]; c[i] = 0;"])
def test_a_type_that_an_attribute_makes_is_refused(statement):
    with pytest.raises(UnsupportedScopError, match="an attribute makes"):
        from_c_text(TYPES % statement)


@pytest.mark.parametrize(("text", "expected"), [
    ("int a; typedef int b __attribute__((vector_size(8)));", "int a; restrict typedef int b ;"),
    ("void f(int a, int b __attribute__((mode(DI))), int c);", "void f(int a, restrict int b , int c);"),
    ("{ int a[f(1, 2)], b __attribute__((vector_size(8))); }", "{ restrict int a[f(1, 2)], b ; }"),
    ("x = (__attribute__((mode(DI))) int)y;", "x = (restrict  int)y;"),
    ('int a __attribute__((section("(")\n# 4 "f.c"\n, unused));', 'int a \n# 4 "f.c"\n;'),
    ('s = "__attribute__((mode(DI)))";', 's = "__attribute__((mode(DI)))";'),
], ids=["typedef", "parameter", "several", "cast", "markers", "string"])
def test_what_is_left_of_attributes(text, expected):
    assert without_attributes(text) == expected


@pytest.mark.parametrize("declaration", [
    "double g(double) __attribute__((const));", "__attribute__((__const__)) double g(double v);",
    "extern double g(double v) __attribute__((nothrow, const));",
])
def test_a_const_function_only_computes(declaration: str) -> None:
    scop = from_c_text(f"{declaration}\nvoid f(int n, double *x) {{\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) x[i] = g(x[i]);\n#pragma endscop\n}\n")
    assert scop.statements[0].depth == 1


@pytest.mark.parametrize("declaration", [
    "double g(double) __attribute__((pure));",                                        # may read memory
    "double h(double) __attribute__((const)), g(double);",
    "double g(double); const double __attribute__((aligned(8))) h[2];",
])
def test_others_may_do_more(declaration: str) -> None:
    with pytest.raises(UnsupportedScopError, match="may have side effects"):
        from_c_text(f"{declaration}\nvoid f(int n, double *x) {{\n#pragma scop\n"
                    "for (int i = 0; i < n; i++) x[i] = g(x[i]);\n#pragma endscop\n}\n")
