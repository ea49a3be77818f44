"""How long an array has to be whose subscripts are no affine functions."""

import pytest

from polysched.errors import UsageError
from polysched.measure.programs.bounds import extents_at
from polysched.scop import from_c_text

SIZES = {"n": 5, "m": 7, "k": 3}


def length(body: str, head: str = "int n, int m, int k, float *restrict x, int *restrict d") -> int:
    """The elements that x needs at SIZES."""
    scop = from_c_text(f"void f({head})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", path="f.c")
    return extents_at(scop, scop.array("x"), {p.name: SIZES[p.name] for p in scop.parameters})[0]


@pytest.mark.parametrize(("body", "elements"), [
    ("for (int i = 0; i < n; i++) x[i * i] = 0;", 17),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i * j + k] = 0;", 4 * 6 + 3 + 1),
    ("for (int i = 1; i < n; i++) x[n / i] = 0;", 6),
    ("for (int i = 0; i < n; i++) x[i * i % k] = 0;", 3),
    ("for (int i = 0; i < n; i++) x[n * n - i * i] = 0;", 26),
    ("for (int i = 0; i < n; i++) { int at; at = i * i; if (d[i]) at = n * n; x[at] = 0; }", 26),
    ("for (int i = 0; i < n; i++) x[d[i] ? i * i : 40] = 0;", 41),
    ("x[0] = 0; for (int i = 9; i < n; i++) x[i * i] = 0;", 1)])
def test_the_largest_value_of_a_polynomial(body: str, elements: int) -> None:
    assert length(body) == elements


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) x[d[i]] = 0;",
    "int at = 0; for (int i = 0; i < n; i++) { at += i * i; x[at] = 0; }",
    "int at = 1; for (int i = 0; i < n; i++) { x[at] = 0; at = 2 * at; }"])
def test_what_data_decides_is_not_known(body: str) -> None:
    with pytest.raises(UsageError, match="how many elements x needs is not known"):
        length(body)


CALLS = """void set(int n, float *x);
void pick(int n, int *at);
#pragma polysched effects set(n, x) writes x[0:n]
#pragma polysched effects pick(n, at) writes *at
"""


def test_what_a_function_reaches_behind_an_address_is_not_its_first_element() -> None:
    head = "int n, int m, int k, float *restrict x, int *restrict d"
    scop = from_c_text(f"{CALLS}void f({head})\n{{\n#pragma scop\nset(n * n, x);\n#pragma endscop\n}}\n", path="f.c")
    with pytest.raises(UsageError, match="how many elements x needs is not known"):
        extents_at(scop, scop.array("x"), {p.name: SIZES[p.name] for p in scop.parameters})
    scop = from_c_text(f"{CALLS}void f({head})\n{{\n#pragma scop\nset(n + m, x);\n#pragma endscop\n}}\n", path="f.c")
    assert extents_at(scop, scop.array("x"), {p.name: SIZES[p.name] for p in scop.parameters}) == (12,)


def test_a_variable_that_a_function_sets_is_not_known() -> None:
    scop = from_c_text(f"{CALLS}void f(int n, float *restrict x)\n{{\n#pragma scop\n"
                       "int at = 2; pick(n, &at); x[at] = 0;\n#pragma endscop\n}\n", path="f.c")
    with pytest.raises(UsageError, match="how many elements x needs is not known"):
        extents_at(scop, scop.array("x"), {p.name: SIZES[p.name] for p in scop.parameters})
