"""Every way to put expressions of an update into an instruction computes the update, and no way is missing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from polysched.scop.body import Expr, Literal, Load, walk
from polysched.scop.scop import Scop
from polysched.tensorize import Intrinsic, find_intrinsic
from polysched.tensorize.equality.evaluation import evaluate
from polysched.tensorize.matching.bodies import assignments
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.proofs.body_proofs import substituted
from polysched.tensorize.software.fragment import Fragment, fragments
from tests.tensorize.described import programs_of, unit

LOOP = "for (int i = 0; i < 4; i++) "
HEAD = "int32_t Y[4], const int16_t X[4], const int16_t W[4]"
PRODUCT = unit("product", HEAD, LOOP + "Y[i] += X[i] * W[i];")
SUM = unit("sum", "int32_t Y[4], const int16_t X[4]", LOOP + "Y[i] += X[i];")
APART = unit("apart", HEAD, LOOP + "Y[i] += X[i] > W[i] ? X[i] - W[i] : W[i] - X[i];")
SET = unit("set", HEAD, LOOP + "Y[i] = X[i] * W[i];")
ARRAYS = "int C[4], signed char A[4], signed char B[4], short D[4]"
TEXTS: dict[str, tuple[str, Intrinsic, int]] = {   # and how many ways there are without a hindrance
    "a product": ("C[i] += A[i] * B[i];", PRODUCT, 2), "a square": ("C[i] += A[i] * A[i];", PRODUCT, 1),
    "a difference": ("C[i] -= A[i] * B[i];", PRODUCT, 4), "an element": ("C[i] += A[i];", PRODUCT, 2),
    "three factors": ("C[i] += A[i] * B[i] * 3;", PRODUCT, 4), "an offset": ("C[i] += (A[i] - 5) * B[i];", PRODUCT, 2),
    "a sum": ("C[i] += A[i] * B[i];", SUM, 1), "a wide sum": ("C[i] += D[i] * D[i];", SUM, 0),
    "wraps": ("C[i] += (signed char)(A[i] + B[i]);", SUM, 1),
    "a distance": ("C[i] += abs(A[i] - B[i]);", APART, 2), "no distance": ("C[i] += A[i] - B[i];", APART, 0),
    "set": ("C[i] = A[i] * B[i];", SET, 2), "added, not set": ("C[i] += A[i] * B[i];", SET, 0),
    "set, not added": ("C[i] = A[i] * B[i];", PRODUCT, 0)}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return programs_of({n: (ARRAYS, LOOP + t[0]) for n, t in TEXTS.items()}, tmp_path_factory.mktemp("bodies"))


def drawn(fragment: Fragment) -> dict[str, np.ndarray]:
    """Every pair of ends and small numbers for the elements, and wild old values."""
    chooser = np.random.default_rng(1)
    found = {}
    for at, access in enumerate(fragment.statement.accesses):
        dtype = fragment.scop.array(access.array).dtype
        low, high = dtype.value_range()
        ends = [low, low + 1, -1, 0, 1, 5, high - 1, high]
        pairs = np.array(list(itertools.product(ends, repeat=3)))[:, at % 3]
        found[access.reference] = (pairs if access.array != "C" else chooser.integers(low, high, len(pairs))
                                   ).astype(dtype.name)
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_every_way_computes_the_update(name: str, programs: dict[str, Scop]) -> None:
    _, intrinsic, count = TEXTS[name]
    (fragment,) = fragments(programs[name])
    found = [a for a in assignments(fragment, intrinsic, Numerics()) if not a.facts]
    values = drawn(fragment)
    wanted = evaluate(fragment.update, values)
    contraction = intrinsic.contraction
    for assignment in found:
        if assignment.correction is not None:
            continue
        held: dict[str, Expr] = {str(e): assignment.expression(e.array) for e in contraction.inputs}
        mine = substituted(contraction.update, held, fragment.result, str(contraction.output))
        np.testing.assert_array_equal(evaluate(mine, values).astype(wanted.dtype), wanted)
        for element, dtype in zip(contraction.inputs, contraction.input_dtypes, strict=True):
            low, high = dtype.value_range()
            operand = evaluate(held[str(element)], values)
            assert operand.min() >= low, "an operand has values of its type only"
            assert operand.max() <= high
    assert len(found) == count, [a.texts for a in found]
    assert len({tuple(a.texts.items()) for a in found}) == len(found)


def test_numbers_of_a_function_change_with_as_few_loops_as_possible(tmp_path_factory: pytest.TempPathFactory) -> None:
    body = "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 4; k++) " \
           "C[i][j] += a * A[i][k] * B[k][j];"
    (scop,) = programs_of({"gemm": ("double C[4][4], double A[4][4], double B[4][4], double a", body)},
                          tmp_path_factory.mktemp("numbers")).values()
    (fragment,) = fragments(scop)
    found = [a for a in assignments(fragment, find_intrinsic("cblas_dgemm"), Numerics()) if not a.facts]
    assert found
    for assignment in found:
        alpha = assignment.expression("alpha")
        assert fragment.loops_of(alpha) == frozenset()
        assert isinstance(alpha, Load | Literal)
        assert all(isinstance(assignment.expression(n), Load) for n in "AB")


def test_zero_points_are_corrected_behind_the_product(tmp_path_factory: pytest.TempPathFactory) -> None:
    body = ("for (int i = 0; i < 4; i++) for (int j = 0; j < 16; j++) for (int k = 0; k < 8; k++) "
            "C[i][j] += (A[i][k] - z) * B[k][j];")
    (scop,) = programs_of({"zero": ("int C[4][16], unsigned char A[4][8], signed char B[8][16], int z", body)},
                          tmp_path_factory.mktemp("zero")).values()
    (fragment,) = fragments(scop)
    found = [a for a in assignments(fragment, find_intrinsic("vpdpbusd"), Numerics()) if not a.facts]
    assert found
    for assignment in found:
        assert assignment.correction is not None
        assert len([x for _, e in assignment.operands for x in walk(e) if isinstance(x, Load)]) == 2
