"""Integers that a function sets: the polynomial that they stand for, or a variable."""

import islpy as isl
import pytest

from polysched.scop import from_c_text
from tests.scop.c_frontend.one_region import one


def test_an_integer_stands_for_the_polynomial_that_it_is_set_to():
    scop = one("""
    for (int b = 0; b < n; b++) for (int t = 0; t < m; t++) {
      int row = (b * m + t) * k;
      for (int i = 0; i < k; i++) { long at = row + i; x[b] += y[at]; }
    }""", head="int n, int m, int k, float x[restrict n], float *restrict y")
    assert [a.name for a in scop.arrays] == ["x", "y"]
    assert len(scop.statements) == 1
    read, = (a for a in scop.statements[0].reads if a.array == "y")
    assert read.exact
    assert read.relation.range().is_subset(isl.Set(
        "[n, m, k] -> { y[b, t, i] : 0 <= b < n and 0 <= t < m and 0 <= i < k }"))


@pytest.mark.parametrize("setting", [
    "int at = i * m + j; at += 1;",                  # changes
    "unsigned at = i * m + j;",                      # could wrap around
    "short at = i * m + j;",                         # could be cut off
    "int at = i * m + d[j];",                        # reads memory
    "int at = s[i].at;"])                            # reads a member, whose name is no variable
def test_an_integer_that_is_no_fixed_polynomial_stays_a_variable(setting):
    scop = one(f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {setting} x[at] = 1; }}",
               head="int n, int m, int d[restrict m], struct { int at; } *restrict s, float *restrict x")
    assert "at" in {a.name for a in scop.arrays}


@pytest.mark.parametrize(("before", "definition"), [
    ("int rows = n / 2 + 1;", "(n / 2) + 1"),
    ("int half = n / 2; int rows = half * m;", "(n / 2) * m"),
    ("int rows = n; rows++;", ""),
    ("int rows; rows = n;", ""),
    ("m = 3; int rows = m;", ""),
    ("int rows = d[0];", ""),
    ("static int rows = 5;", "")])
def test_what_a_variable_of_the_function_is_set_to(before, definition):
    scop = from_c_text(f"void f(int n, int m, int d[9], float x[9]) {{ {before}\n#pragma scop\n"
                       "for (int i = 0; i < rows; i++) x[i] = 0;\n#pragma endscop\n}")
    assert [p.definition for p in scop.parameters if p.name == "rows"] == [definition]
