"""Sets of elements as indices: boxes become slices, other sets lists of points."""

import islpy as isl
import numpy as np
import pytest

from polysched.distribute import distribute
from polysched.runtime.dataflow.elements import place_of, rows_of
from polysched.scop.points import fix_parameters, points_of
from tests.distribute.programs import scop_of

SETS = ["[n] -> { A[i, j] : 2 <= i < n and 0 <= j < 3 }", "[n] -> { A[i, j] : i = 3 and 1 <= j < n }",
        "[n] -> { A[i, j] : 2 <= i < n and i <= j < 7 }", "[n] -> { A[i, j] : 2 <= i < n and i mod 2 = 0 and j = 1 }",
        "[n] -> { A[i, j] : (i = 2 or i = 3) and 0 <= j < n }", "[n] -> { A[i, j] : (i = 2 or i = 5) and j = n }"]


@pytest.mark.parametrize("text", SETS)
def test_a_place_holds_exactly_the_elements(text: str) -> None:
    elements = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
    marked = np.zeros((10, 10), bool)
    marked[place_of(elements, {"n": 6}, 2)] = True
    shifted = {(i + 2, j) for i, j in np.argwhere(marked).tolist()}
    assert shifted == set(points_of(fix_parameters(elements, {"n": 6})))


def test_nothing_has_no_place_and_a_scalar_the_empty_one() -> None:
    assert place_of(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { A[i] : 0 <= i < n }"), {"n": 0}, 0) is None
    assert place_of(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ s[] }"), {}, 0) == ()


def test_rows_reach_as_far_as_a_rank_reads() -> None:
    distributed = distribute(scop_of("jacobi"), "i")
    own = {"n": 20, "t": 3, "polysched_first": 5, "polysched_end": 9}
    assert rows_of(distributed, "A", own) == (4, 10)
    assert rows_of(distributed, "A", {**own, "polysched_end": 5}) is None
