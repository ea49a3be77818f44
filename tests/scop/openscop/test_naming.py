"""Arrays that a file only numbers get the names that the bodies have for them."""

import re

import pytest

from polysched.dependence import analyse
from polysched.errors import UnsupportedScopError
from polysched.scheduling import original
from polysched.scop import all_from_openscop, from_c_text, from_openscop
from polysched.scop.openscop.naming import with_names
from polysched.scop.openscop.scoplib import regions_of

PROGRAM = """void f(int n, double b[n][n], double a[n][n], double x[n], double s[1]) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++) {
      b[i][j] = a[i-1][j] + x[j] * fabs(a[i][2 * j - j]);
      x[i] += b[i][j] / (a[i][j] + i);
    }
#pragma endscop
}"""


def without_names(text: str) -> str:
    """The same text as tools before OpenScop 0.8 wrote it."""
    return re.sub(r"<arrays>.*?</arrays>\n", "", text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def text() -> str:
    return original(analyse(from_c_text(PROGRAM))).to_text("openscop")


def test_the_names_are_those_of_the_bodies(text: str) -> None:
    (bare,) = regions_of(without_names(text))
    numbers = {array for statement in bare.statements for _, array, _ in statement.accesses}
    assert numbers
    assert not any(number.isidentifier() for number in numbers)
    (whole,) = regions_of(text)
    assert [[(kind, array) for kind, array, _ in s.accesses] for s in with_names(bare).statements] == [
        [(kind, array) for kind, array, _ in s.accesses] for s in whole.statements]
    assert with_names(whole) is whole


def test_such_a_file_is_read_as_the_same_program(text: str) -> None:
    types = {"x": "float"}
    bare, whole = from_openscop(without_names(text), types=types), from_openscop(text, types=types)
    assert [a.name for a in bare.arrays] == [a.name for a in whole.arrays]
    assert bare.array("x").dtype.name == "float32"
    assert [str(a.relation) for s in bare.statements for a in s.accesses] == [
        str(a.relation) for s in whole.statements for a in s.accesses]
    assert [scop.array("x").dtype.name for scop in all_from_openscop(without_names(text), types=types)] == ["float32"]


def test_the_type_of_a_cast_is_no_array() -> None:
    """It is read wherever the scalar behind it is, and stands before it in the alphabet."""
    program = PROGRAM.replace("x[j] * fabs", "(double)t * fabs").replace("double s[1]", "float t")
    text = without_names(original(analyse(from_c_text(program))).to_text("openscop"))
    assert "t" in [a.name for a in from_openscop(text, types={"t": "float"}).arrays]


def test_what_no_body_accesses_so_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedScopError, match="has no name\n  witness: no array of the bodies is accessed"):
        from_openscop(without_names(text).replace("b[i][j] / ", "b[i][j + 1] / "))
