"""`typeof`: names of types stand for themselves, and of expressions no object is used; the rest of a file is read."""

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.c_frontend.text.typeofs import without_typeof


@pytest.mark.parametrize(("given", "made"), [
    ("__typeof__(unsigned long) n;", "unsigned long n;"),
    ("typeof (x + f(1)) *m;", "__typeof__ *m;"),
    ("y = (__typeof(const int)) x;", "y = (const int) x;"),
    ("__typeof__(\n  x\n) z;", "__typeof__\n\n z;"),
    ("int typeof; typeof = 3; f(typeof);", "int typeof; typeof = 3; f(typeof);"),
    ("y = typeof(3) + 1;", "y = typeof(3) + 1;"),   # a function of C11
    ('s = "typeof(int) x";', 's = "typeof(int) x";'),
])
def test_rewrites(given: str, made: str) -> None:
    assert without_typeof(given) == made


BODY = """
#define SWAP(a, b) do {{ __typeof__(a) t_ = (a); (a) = (b); (b) = t_; }} while (0)
typedef __typeof__(unsigned char) byte;
extern __typeof__(1 + 2) total;
enum {{ SIZE = sizeof(__typeof__(1 + 2)) }};
static void swap(double *a, double *b) {{ SWAP(*a, *b); }}
void f(int n, byte *restrict a, const float x) {{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = {value};
#pragma endscop
}}
"""


def test_a_file_with_macros_that_use_it_is_read() -> None:
    scop = from_c_text(BODY.format(value="a[i] + 1"))
    assert scop.array("a").dtype.c_name == "unsigned char"


@pytest.mark.parametrize(("value", "problem"), [
    ("(__typeof__(x)) i", "a cast to a type that is no number"), ("total", "the type of the expression in `typeof`"),
    ("SIZE", "the value of the enumeration constant `SIZE` is not known")])
def test_what_has_such_a_type_is_refused(value: str, problem: str) -> None:
    with pytest.raises(UnsupportedScopError, match=problem):
        from_c_text(BODY.format(value=value))
