"""What a size is set to in front of the region holds the variables that its own declaration saw, and no later ones."""

import pytest

from polysched.scop import from_c_text

LONG = " + ".join(["n"] * 150)


def definition(before: str, after: str = "") -> str:
    scop = from_c_text(f"int g = 3;\nvoid f(int n, int m, double d, float x[9]) {{ {before}\n#pragma scop\n"
                       f"for (int i = 0; i < rows; i++) x[i] = 0;\n#pragma endscop\n{after}}}")
    return next(p.definition for p in scop.parameters if p.name == "rows")


@pytest.mark.parametrize("before", [
    "int rows = n / 2; { int n = 3;",
    "int rows = n / 2; { int m = 3, n = m;",
    "int half = n / 2; int rows = half; { int n = 3;",
    "int rows = n / 2; { enum { n = 3 };",
    "int half = 4; { int rows = half; { int half = 8;"])
def test_a_name_that_means_something_else_later_is_not_used(before: str) -> None:
    assert definition(before, "}" * (before.count("{") - before.count("}"))) in ("", "4")


@pytest.mark.parametrize(("before", "expected"), [
    ("int n = 5; int rows = n;", "5"),
    ("int k = n; { int m = k; int rows = m + 1;", "n + 1"),
    ("{ int n = 3; m = n; } int rows = n - 1;", "n - 1"),
    ("int rows = -n + 7;", "(-n) + 7"),
    ("int rows = n < m ? n : m;", "(n < m) ? (n) : (m)")])
def test_the_value_is_over_the_parameters_of_the_function(before: str, expected: str) -> None:
    text = f"{{ {before}" if before.startswith("int n") else before
    assert definition(text, "}" * (text.count("{") - text.count("}"))) == expected


@pytest.mark.parametrize("before", [
    "int rows = g;", "int rows = d;", "int rows = (int)d;", "int rows = n++;", "int rows = !n;",
    "int rows = n; n = 3;", "int rows = n; int *p = &rows; *p = 4;", "int rows = n; int *p = &n; *p = 4;",
    f"int rows = {LONG};"])
def test_what_may_differ_from_the_value_or_is_long_is_left_out(before: str) -> None:
    assert definition(before) == ""


def test_a_name_in_its_own_initial_value_is_itself() -> None:
    assert definition("{ int rows = rows + n;", "}") == ""
