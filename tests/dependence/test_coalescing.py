"""A private accumulator moves into the element that its result goes to, where nobody misses the old element."""

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.coalescing import Coalesced, in_place_of_result
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop

ARGUMENTS = "int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n]"


def program(body: str) -> Scop:
    return from_c_text(f"void f({ARGUMENTS}) {{\n double s;\n#pragma scop\n for (int i = 0; i < n; i++)\n"
                       f"  for (int j = 0; j < n; j++) {{ {body} }}\n#pragma endscop\n}}")


def coalesced(scop: Scop) -> Coalesced | None:
    """With all references of `s`, each iteration of the two outer loops having its own."""
    references = frozenset(a.reference for s in scop.statements for a in s.accesses if a.array == "s")
    counters = [{s.name: (loop, 0) for s in scop.statements} for loop in (0, 1)]
    return in_place_of_result(analyse(scop), "s", references, counters)


def results(scop: Scop) -> np.ndarray:
    rng = np.random.default_rng(3)
    a, b, c = (rng.integers(-9, 9, (5, 5)).astype("float64") for _ in range(3))
    arrays = {"A": a, "B": b, "C": c, "s": np.zeros(())}
    execute(scop, {"n": 5}, {x.name: arrays[x.name] for x in scop.arrays if x.name in arrays})
    return c


@pytest.mark.parametrize("body", [
    "s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s;",
    "s = C[i][j]; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s;",
    "s = 0; for (int k = 0; k < n; k++) s += A[i][k]; C[j][i] = 2 * s;"])
def test_the_accumulator_is_gone_and_the_result_stays(body: str) -> None:
    scop = program(body)
    made = coalesced(scop)
    assert made is not None
    assert made.array == "C"
    after = made.dependences.scop
    assert not any(a.array == "s" for s in after.statements for a in s.accesses)
    np.testing.assert_array_equal(results(after), results(scop))


def test_a_copy_to_itself_is_dropped() -> None:
    scop = program("s = C[i][j]; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s;")
    made = coalesced(scop)
    assert made is not None
    assert len(scop.statements) == 3
    assert len(made.dependences.scop.statements) == 1


@pytest.mark.parametrize("body", [
    "s = 0; for (int k = 0; k < n; k++) s += C[i][j] * B[k][j]; C[i][j] = s;",   # the old element is still read
    "s = 0; for (int k = 0; k < n; k++) s += A[i][k] * C[k][j]; C[i][j] = s;",   # so are its neighbours
    "s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] += s;"])
def test_where_a_value_would_be_lost_nothing_moves(body: str) -> None:
    assert coalesced(program(body)) is None
