"""Programs whose subscripts cannot be tested before they run are refused."""

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.construction.index_checks import index_checks
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop


def program(parameters: str, *statements: str) -> Scop:
    loops = "\n".join(f"  for (int i = 0; i < n; i++) {s}" for s in statements)
    return from_c_text(f"void f(int n, {parameters}) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")


def test_an_array_without_extents_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="whether the subscripts of x that are read from arrays lie inside "
                                                   "it cannot be tested") as caught:
        index_checks(program("const int index[n], double *x", "x[index[i]] += 1;"))
    assert "no extent is known" in str(caught.value)
    assert index_checks(program("const int index[n], double x[n]", "x[index[i]] += 1;")) is not None


@pytest.mark.parametrize(("statements", "source"), [
    (("index[i] = i;", "x[index[i]] += 1;"), "index"),
    (("x[index[i]] += 1; ", "index[i] += 1;"), "index"),
    (("second[i] = n - 1 - i;", "x[index[second[i]]] += 1;"), "second")])
def test_subscripts_that_the_program_writes_are_refused(statements: tuple[str, ...], source: str) -> None:
    scop = program("int index[n], int second[n], double x[n]", *statements)
    with pytest.raises(UnsupportedScopError, match=rf"are read from {source}, which is written as well"):
        index_checks(scop)


CALLED = ("void put(double *to, double v);\n#pragma polysched effects put(to, v) writes to[0:2]\n"
          "void fill(int n, double *to);\n#pragma polysched effects fill(n, to) reads to[0:n] writes to[0:n]\n")


@pytest.mark.parametrize(("row", "outside"), [(0, 0), (3, 0), (4, 1), (-1, 1)])
def test_rows_that_a_called_function_gets_are_counted(row: int, outside: int) -> None:
    """`fill` has declared effects; the row is chosen by data, and the run along it by sizes."""
    scop = from_c_text(f"{CALLED}void f(int n, const int index[n], double x[n][8]) {{\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) fill(8, x[index[i]]);\n#pragma endscop\n}\n")
    checks = index_checks(scop)
    assert checks is not None
    assert [(c.array, c.sources) for c in checks.checks] == [("x", ("index",))]
    values = np.array([3, 1, row, 2], dtype=np.int32)
    counters = {c.counter: np.zeros((), dtype=np.int64) for c in checks.checks}
    execute(checks.scop, {"n": 4}, {"index": values, **counters})
    assert {int(v) for v in counters.values()} == {outside}


def test_elements_behind_a_subscript_from_data_cannot_be_counted() -> None:
    scop = from_c_text(f"{CALLED}void f(int n, const int index[n], double x[n]) {{\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) put(&x[index[i]], 1.0);\n#pragma endscop\n}\n")
    with pytest.raises(UnsupportedScopError, match="how far a called function reaches in x"):
        index_checks(scop)
