"""OpenScop as programs: what is written and read back computes the same, and bodies access what is listed."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.errors import BudgetExceededError, PolyschedError
from polysched.scheduling import original, steps
from polysched.scheduling.primitives import Skew, Tile
from polysched.scop import all_from_openscop, from_c_text, from_openscop
from polysched.scop.budget import with_budget
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.openscop import openscop_text, read_openscop
from polysched.scop.openscop.program import c_program, from_region
from tests.scop.openscop.example import PRODUCT

WHOLE = PRODUCT.replace("A[i][j] = B[i-1]", "A[i][j] = B[i]").replace(
    "1    0    0   -1    ## [1]", "1    0    0    0    ## [1]")
PROGRAMS = {
    "strided": "for (int i = 1; i < n - 1; i += 2) { b[i] = a[i - 1] * 2.0; if (i % 5 != 1) s += a[i % 7]; }",
    "triangle": "for (int i = 0; i < n; i++) { b[i] = a[i]; for (int j = 0; j < i; j++) b[i] -= a[j] * (double)j; }",
    "stencil": "for (int t = 0; t < 4; t++) for (int i = 1; i < n - 1; i++) a[i] = 0.5 * (a[i - 1] + a[i + 1]);",
    "backward": "for (int i = n - 1; i >= 1; i--) a[i] = a[i - 1] + b[i] - s;",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [3, 16])
def test_a_program_that_is_written_and_read_computes_the_same(name: str, n: int) -> None:
    text = f"double s;\nvoid f(int n, double a[n], double b[n]) {{\n#pragma scop\n{PROGRAMS[name]}\n#pragma endscop\n}}"
    scop = from_c_text(text)
    read = from_openscop(openscop_text(scop))
    draw = np.random.default_rng(1)
    given = {"a": draw.random(n), "b": draw.random(n), "s": np.array(0.25)}
    wanted = {array: value.copy() for array, value in given.items()}
    execute(scop, {"n": n}, {a.name: wanted[a.name] for a in scop.arrays})
    sizes = {parameter.name: n for parameter in read.parameters}
    execute(read, sizes, {a.name: given[a.name][(*map(slice, extents_of(a, sizes)), ...)] for a in read.arrays})
    assert all(np.array_equal(given[array], wanted[array]) for array in given)


def test_the_order_is_that_of_the_scattering() -> None:
    """Skewed tiles of a stencil: the loops are those of another schedule, and bodies are written for its values."""
    text = f"void f(int n, double a[n]) {{\n#pragma scop\n{PROGRAMS['stencil']}\n#pragma endscop\n}}"
    dependences = analyse(from_c_text(text))
    tiled = steps.apply(original(dependences), Skew(loop="i", by="t", factor=2), Tile(loops=("t", "i"), sizes=(2, 4)))
    read = from_openscop(tiled.to_text("openscop"))
    given = np.random.default_rng(2).random(17)
    wanted = given.copy()
    execute(dependences.scop, {"n": 17}, {"a": wanted})
    execute(read, {"n": 17}, {"a": given})
    assert np.array_equal(given, wanted)


def test_a_region_of_clan() -> None:
    scop = from_openscop(WHOLE, types={"B": "float"})
    assert [(array.name, array.dtype.name, len(array.extents)) for array in scop.arrays] == [
        ("B", "float32", 1), ("A", "float64", 2)]
    (statement,) = scop.statements
    assert statement.iterators == ("j", "i")
    assert c_program(read_openscop(WHOLE)).text.splitlines()[1] == "void region(long N, double B[N], double A[N][N])"


def test_extents_that_are_no_one_function_are_parameters() -> None:
    text = "void f(int n, int m, double a[100]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1.0;\n" \
           "for (int i = 0; i < m; i++) a[i] = 2.0;\n#pragma endscop\n}"
    read = from_openscop(openscop_text(from_c_text(text)))
    assert [parameter.name for parameter in read.parameters] == ["n", "m", "a_size0"]


def test_all_regions_of_a_file() -> None:
    assert [scop.name for scop in all_from_openscop(WHOLE + WHOLE)] == ["region1", "region2"]


@pytest.mark.parametrize(("old", "new", "message"), [
    ("A[i][j] = B[i]", "A[i][j] = B[j]", "statement 1 of the OpenScop region reads an element of B that"),
    ("A[i][j] = B[i]", "A[j][i] = B[i]", "writes an element of A that it does not list"),
    ("A[i][j] = B[i]", "A[i][j] = B[i] + N * x", "uses x, which is neither a parameter"),
    ("A[i][j] = B[i];", "%1", r"as C:\d+"),
    ("A[i][j] = B[i];", "if (i > 3) continue;", "uses continue, which is neither"),
    ("A[i][j] = B[i];", "{ A[i][j] = B[i];", "statement 1 of the OpenScop region is no whole statement of C"),
    ("A[i][j] = B[i];", "} A[i][j] = B[i]; {", "is no whole statement of C"),
    ("A[i][j] = B[i];", "A[i][j] = B[i]; /*", "is no whole statement of C"),
    ("A[i][j] = B[i];", "<% A[i][j] = B[i];", "is no whole statement of C"),
    ("A[i][j] = B[i];", "else A[i][j] = B[i];", "is no whole statement of C"),
    ("\ni j\n", "\ni 1j\n", "the iterators of statement 1 of the OpenScop region have no different names"),
    ("\ni j\n", "\ni i\n", "the iterators of statement 1 of the OpenScop region have no different names"),
    ("1    0    0    0    ## [1] == i - 1", "1    0    0   -1    ##",
     r"B is accessed below its first element\s+witness: B\[-1\] where N = \d+\s"),
    ("   1   -1    0    1   -1    ## -i", "   1   -1    0    0   -9    ## -i", "is accessed by no instance"),
    ("   1   -1    0    1   -1    ## -i", "   1    1    0    0    0 ## -i",
     r"runs without end\s+witness: iterator 1 has no least or no greatest value"),
    ("   0    0   -1    1    0    0    0    ## c2 == i", "   0    0    0    0    0    0    0",
     r"several dates\s+witness: S1\[\d+, \d+\] where N = \d+\s"),
    ("   0    0   -1    1    0    0    0    ## c2 == i", "   0    0   -1    0    0    0    0", "the order of some"),
    ("2 B", "2 A", "A has accesses of different dimensions"),
    ("1 A", "1 N", "writes its parameter N"),
    ("# List of original iterators\ni j\n", "i\n", "no names for its iterators"),
    ("</OpenScop>\n", "</OpenScop>\n" + WHOLE, "2 regions where one was asked for"),
])
def test_refusals(old: str, new: str, message: str) -> None:
    assert old in WHOLE
    with pytest.raises(PolyschedError, match=message):
        from_openscop(WHOLE.replace(old, new, 1))


def test_isl_works_on_a_region_within_a_budget() -> None:
    region = read_openscop(WHOLE)
    with pytest.raises(BudgetExceededError, match="reading the function takes more than"):
        with_budget(50, lambda: from_region(region))


def test_a_type_is_of_an_array() -> None:
    with pytest.raises(PolyschedError, match="no array Q in the OpenScop region"):
        from_openscop(WHOLE, types={"Q": "int"})
