"""The statement that a function's factor of the old result stands for: exactly a product with one number, once."""

from __future__ import annotations

import pytest

from polysched.scop.body import Literal, Load
from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.scaling import clearing_statement, inside_kept, keeps_old_value, scaling_statement
from tests.tensorize.described import matched, programs_of, unit

MATRICES = "double C[6][5], double A[6][4], double B[4][5], double beta, double b[3]"
ALL = "for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) "
PRODUCT = "for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 4; k++) " \
    "C[i][j] += A[i][k] * B[k][j];"
TWICE = "for (int t = 0; t < 2; t++) "
FACTORS: dict[str, tuple[str, str | float | None]] = {   # the array that the factor comes from, its value, or none
    "a variable": (ALL + "C[i][j] *= beta;", "beta"),
    "written out, on the other side": (ALL + "C[i][j] = beta * C[i][j];", "beta"),
    "an element that nobody writes": (ALL + "C[i][j] = C[i][j] * b[1];", "b"),
    "a constant": (ALL + "C[i][j] *= 2.5;", 2.5),
    "an integer": (ALL + "C[i][j] *= 3;", 3),
    "cleared": (ALL + "C[i][j] = 0;", 0),
    "cleared twice": (TWICE + ALL + "C[i][j] = 0.0;", 0),
    "one, twice": (TWICE + ALL + "C[i][j] *= 1.0;", 1),
    "columns first": ("for (int j = 0; j < 5; j++) for (int i = 0; i < 6; i++) C[i][j] *= beta;", "beta"),
    "a variable, twice": (TWICE + ALL + "C[i][j] *= beta;", None),
    "a constant, twice": (TWICE + ALL + "C[i][j] *= 2.0;", None),
    "minus one, twice": (TWICE + ALL + "C[i][j] *= -1;", None),
    "products with zero, which of infinity are no numbers": (ALL + "C[i][j] *= 0.0;", None),
    "the negative zero": (ALL + "C[i][j] = -0.0;", None),
    "another number": (ALL + "C[i][j] = 1;", None),
    "a factor per row": (ALL + "C[i][j] *= b[i % 3];", None),
    "the number of the row": (ALL + "C[i][j] *= i;", None),
    "its own square": (ALL + "C[i][j] *= C[i][j];", None),
    "an element of its own": (ALL + "C[i][j] *= C[0][0];", None),
    "something more": (ALL + "C[i][j] = C[i][j] * 2.0 + 1.0;", None),
    "a quotient": (ALL + "C[i][j] /= 2.0;", None),
    "a row less": ("for (int i = 1; i < 6; i++) for (int j = 0; j < 5; j++) C[i][j] *= beta;", None),
    "a triangle": ("for (int i = 0; i < 6; i++) for (int j = 0; j <= i && j < 5; j++) C[i][j] *= beta;", None),
    "in two steps": (ALL + "C[i][j] = 0; " + ALL + "C[i][j] *= beta;", None),
    "a factor that is computed": ("b[1] = 2.0; " + ALL + "C[i][j] *= b[1];", None),
    "somewhere else": (ALL + "A[i][j % 4] *= beta;", None)}


def only(scop: Scop) -> Match:
    found = matched(scop, find_intrinsic("cblas_dgemm")).matches
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def scops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {n: (MATRICES, first + "\n" + PRODUCT) for n, (first, _) in FACTORS.items()}
    return programs_of(texts, tmp_path_factory.mktemp("scaling"))


@pytest.mark.parametrize("name", FACTORS)
def test_the_factor_is_the_one_number_that_every_element_is_multiplied_by(name: str, scops: dict[str, Scop]) -> None:
    match, wanted = only(scops[name]), FACTORS[name][1]
    scale = scaling_statement(match, inside_kept(match.fragment))
    if wanted is None:
        assert scale is None
        return
    assert scale is not None
    assert scale.statement == "S0"
    if isinstance(wanted, str):
        assert isinstance(scale.value, Load)
        assert scale.arrays == (wanted,)
    else:
        assert isinstance(scale.value, Literal)
        assert scale.value.value == wanted
        assert scale.arrays == ()


@pytest.mark.parametrize(("name", "cleared"), [
    ("cleared", True), ("cleared twice", True), ("the negative zero", False), ("another number", False),
    ("a constant", False), ("in two steps", False)])
def test_only_zero_in_exactly_these_elements_clears(name: str, cleared: bool, scops: dict[str, Scop]) -> None:
    match = only(scops[name])
    assert clearing_statement(match, inside_kept(match.fragment)) == ("S0" if cleared else None)


def test_a_result_that_several_calls_add_to_is_scaled_by_none(tmp_path_factory: pytest.TempPathFactory) -> None:
    batched = PRODUCT.replace("for (int i", "for (int t = 0; t < 2; t++) for (int i").replace("A[i]", "A[t][i]")
    scops = programs_of({"batch": (MATRICES.replace("A[6][4]", "A[2][6][4]"), ALL + "C[i][j] *= beta;\n" + batched)},
                        tmp_path_factory.mktemp("batch"))
    match = only(scops["batch"])
    assert match.outer == ("t",)
    assert scaling_statement(match, inside_kept(match.fragment)) is None


SUMS = unit("sums", "int32_t Y[4], const int32_t X[4][8]", "for (int i = 0; i < 4; i++) { int32_t s = 0; "
            "for (int k = 0; k < 8; k++) s += X[i][k]; Y[i] = s; }")


@pytest.mark.parametrize(("first", "depth", "why"), [
    ("for (int i = 0; i < 8; i++) C[i] = 0;", 8, ""),
    ("", 8, "no statement clears exactly these elements of C"),
    ("for (int i = 0; i < 8; i++) C[i] = 1;", 8, "no statement clears"),
    ("for (int i = 1; i < 8; i++) C[i] = 0;", 8, "no statement clears"),
    ("for (int i = 0; i < 8; i++) C[i] = 0;", 16, "several executions")])
def test_an_instruction_that_sums_from_zero_needs_cleared_elements_and_whole_sums(
        first: str, depth: int, why: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    body = f"{first} for (int i = 0; i < 8; i++) for (int k = 0; k < {depth}; k++) C[i] += A[i][k];"
    scops = programs_of({"sums": (f"int32_t C[8], int32_t A[8][{depth}]", body)}, tmp_path_factory.mktemp("sums"))
    found = matched(scops["sums"], SUMS)
    assert bool(found.count) is not bool(why)
    if why:
        assert why in " ".join([*map(str, found.explanations), *found.refused])
    assert all(keeps_old_value(m) == "" for m in found.matches)
