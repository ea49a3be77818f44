"""Functions whose declared effects are compared with what they do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polysched.measure.bit_for_bit.effects_check import CheckedEffects, check_effects


def checked(tmp_path: Path, text: str) -> CheckedEffects:
    path = tmp_path / "in.c"
    path.write_text(text)
    found, = check_effects(str(path), text, flags=("-O1",))
    return found


AXPY = "void axpy(int n, double a, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] += a * x[i]; }\n"


@pytest.mark.parametrize("text", [
    "#pragma polysched effects axpy(n, a, x, y) reads x[0:n], y[0:n] writes y[0:n]\n" + AXPY,
    "#pragma polysched effects g(n, x) reads x[1:n]\n"
    "float g(long n, float x[]) { float t = 0; for (long i = 1; i <= n; i++) t += x[i]; return t; }\n",
    "#pragma polysched effects g(m, k, B) writes B[0:m][1:k]\n"
    "void g(int rows, int k, short A[rows][k + 2]) { for (int i = 0; i < rows; i++) for (int j = 1; j <= k; j++)"
    " A[i][j] = i; }\n",
    "#pragma polysched effects g(x) writes *x\nvoid g(unsigned char *x) { *x = 7; }\nint main(void) { return 3; }\n",
    "#pragma polysched effects g() \nint g(void) { return 4; }\n",
    "#pragma polysched effects g(n, x, t) reads x[0:n], t[0:8] writes x[0:n]\n"
    "void g(int n, int *x, int *t) { for (int i = 0; i < n; i++) if (x[i] > 3) x[i] = t[x[i] & 7]; }\n",
    "#pragma polysched effects sqrt(x)\ndouble sqrt(double);\n",
    "#pragma polysched effects third(n)\nlong double third(int n) { return n / 3.0L; }\n",
    "#include <stdint.h>\n#pragma polysched effects g(n, x) writes x[0:n]\n"
    "void g(uint64_t n, double *x) { for (uint64_t i = 0; i < n; i++) x[i] = i; }\n",
])
def test_functions_that_do_what_is_declared(tmp_path: Path, text: str) -> None:
    found = checked(tmp_path, text)
    assert (found.problem, found.uncalled) == ("", "")
    assert found.calls > 8
    assert str(found).endswith(f"as declared in {found.calls} calls")


@pytest.mark.parametrize(("text", "problem"), [
    ("#pragma polysched effects axpy(n, a, x, y) reads x[0:n], y[0:n] writes y[0:n - 1]\n" + AXPY,
     r"it writes y\[\d+\] \(n=\d+ a="),
    ("#pragma polysched effects g(k, x)\nvoid g(int k, int *x) { if (k == 7) x[1000] = 77; }\n",
     r"it writes x\[1000\] \(k=7\)"),
    ("#pragma polysched effects axpy(n, a, x, y) reads x[0:n] writes y[0:n]\n" + AXPY,
     r"y\[\d+\] depends on memory"),
    ("#pragma polysched effects axpy(n, a, x, y) reads y[0:n] writes y[0:n]\n" + AXPY, r"y\[\d+\] depends on memory"),
    ("#pragma polysched effects g(n, x) reads x[0:n]\n"
     "long g(int n, long *x) { long t = 0; for (int i = 0; i <= n; i++) t += x[i]; return t; }\n",
     "its result depends on memory"),
    ("#pragma polysched effects g(n, x) writes x[0:n]\n"
     "void g(int n, int *x) { static int k; for (int i = 0; i < n; i++) x[i] = k++; }\n", "in a second call"),
    ("#pragma polysched effects g(n)\nint g(int n) { static int k; return n + k++; }\n", "gives another result"),
])
def test_functions_that_do_more(tmp_path: Path, text: str, problem: str) -> None:
    found = checked(tmp_path, text)
    assert found.problem
    assert re.search(problem, found.problem), found.problem


@pytest.mark.parametrize(("text", "why"), [
    ("#pragma polysched effects g(n, x) reads x[0:n]\nint g(int n, int *x);\n", "no library"),
    ("struct s { int k; };\n#pragma polysched effects g(n, x) reads x[0:n]\nint g(int n, struct s *x) { return n; }\n",
     "not numbers and arrays"),
    ("#pragma polysched effects g(n, x) reads x[0:n]\nint g(int n, int *x) { return *(int *)0; }\n", "end well"),
    ("#include <stdlib.h>\n#pragma polysched effects g(n)\nint g(int n) { if (n < 8) exit(0); return n; }\n",
     "end well"),
    ("#pragma polysched effects g(n, x) reads x[0:n * n + 99999]\nint g(int n, int *x) { return 0; }\n",
     "not small"),
])
def test_functions_that_cannot_be_called(tmp_path: Path, text: str, why: str) -> None:
    found = checked(tmp_path, text)
    assert why in found.uncalled
    assert not found.problem
    assert "taken for granted" in str(found)


def test_a_file_that_declares_nothing() -> None:
    assert check_effects("in.c", "void f(void) {}\n", flags=()) == ()


def test_effects_that_bodies_say_are_checked_too(tmp_path: Path) -> None:
    """Of the functions that regions call; those of a library have none, and `declared` stands for itself."""
    text = ("#include <math.h>\n#pragma polysched effects declared(x) writes *x\nvoid declared(double *x) { *x = 7; }\n"
            "static int found(int n, double *x) { for (int i = 0; i < n; i++) { if (x[i] > 9) return i; x[i] = 1; } "
            "return n; }\nstatic void unused(double *x) { *x = 7; }\n"
            "static void spread(int n, const double *x, double *y) "
            "{ for (int i = 0; i < n; i++) { if (x[i] > 90) return; y[(int)x[i] & 3] += 1; } }\n")
    path = tmp_path / "in.c"
    path.write_text(text)
    made = check_effects(str(path), text, flags=("-O1",), called=("found", "sqrt", "declared", "found", "spread"))
    assert [str(c) for c in made] == ["the declared effects of declared: as declared in 64 calls",
                                      "the effects in the body of found: as read there in 64 calls",
                                      "the effects in the body of spread are taken for granted: "
                                      "which elements it reaches is a matter of data"]
