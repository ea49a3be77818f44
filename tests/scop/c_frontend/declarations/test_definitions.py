"""What a size is set to in front of the region holds the variables that its own declaration saw, and no later ones."""

import subprocess

import pytest

from polysched.measure.programs.c_integers import evaluate
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


TYPED = [
    ("long rows = n - 8u;", "((unsigned int) n) - 8u"),
    ("unsigned k = n; long rows = k - 8;", "((unsigned int) n) - 8"),
    ("unsigned k = 8; long rows = -k + n;", "(-((unsigned int) 8)) + ((unsigned int) n)"),
    ("long rows = u - 8;", "((unsigned int) u) - 8"),
    ("long rows = u - 8L;", "u - 8L"),
    ("unsigned char k = n; int rows = k + m;", "((unsigned char) n) + m"),
    ("int rows = l;", "(int) l"),
    ("int rows = l / 2;", "(int) (l / 2)"),
    ("long k = 3; long rows = k * n;", "((long) 3) * n"),
    ("long rows = c - 8;", "c - 8"),
    ("int rows = n < 8u;", "((unsigned int) n) < 8u"),
    ("long rows = n > 3 ? 1u : m;", "(n > 3) ? (1u) : ((unsigned int) m)"),
    ("long rows = u << 31;", "((unsigned int) u) << 31"),
    ("unsigned long rows = u;", "u"),
    ("double d = n; int rows = d;", "")]
VALUES = ((4, 1, 5, -3, 200), (100, 30, 100, 5000000000, 7), (-9, -1, 4000000000, 12, 0))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """What gcc computes: a line per value of the parameters, with a number per case."""
    path = tmp_path_factory.mktemp("definitions") / "sizes.c"
    functions = "".join(f"static void f{k}(int n, int m, unsigned u, long l, unsigned char c) {{ {before} "
                        f'printf("%ld ", (long)rows); }}\n' for k, (before, _) in enumerate(TYPED))
    calls = "".join(f"  f{k}({', '.join(map(str, given))});\n" + ('  puts("");\n' if k == len(TYPED) - 1 else "")
                    for given in VALUES for k in range(len(TYPED)))
    path.write_text(f"#include <stdio.h>\n{functions}int main(void) {{\n{calls}}}\n")
    subprocess.run(["gcc", "-w", str(path), "-o", str(path.with_suffix(""))], check=True)
    output = subprocess.run([str(path.with_suffix(""))], check=True, capture_output=True, text=True).stdout
    return [[int(number) for number in line.split()] for line in output.splitlines()]


@pytest.mark.parametrize("case", range(len(TYPED)), ids=[before for before, _ in TYPED])
def test_a_value_wraps_as_in_c(case: int, printed: list[list[int]]) -> None:
    before, expected = TYPED[case]
    scop = from_c_text(f"void f(int n, int m, unsigned u, long l, unsigned char c, float x[9]) {{ {before}\n"
                       "#pragma scop\nfor (int i = 0; i < 9 && i < rows; i++) x[i] = 0;\n#pragma endscop\n}")
    (found,) = (p.definition for p in scop.parameters if p.name == "rows")
    assert found == expected
    for given, numbers in zip(VALUES, printed, strict=True):
        assert not found or evaluate(found, dict(zip("nmulc", given, strict=True))) == numbers[case]
