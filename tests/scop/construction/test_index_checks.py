"""Programs whose subscripts cannot be tested before they run are refused."""

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.construction.index_checks import index_checks
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
