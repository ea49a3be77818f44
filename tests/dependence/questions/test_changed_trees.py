"""Trees with one changed loop order their instances as the rewrite says."""

import islpy as isl
import pytest

from polysched.dependence.questions.changed_trees import reversed_loop, skewed_loop, wavefronts
from polysched.dependence.questions.program_loops import loops_of
from tests.scop_builder import build_scop


@pytest.mark.parametrize(("change", "order"), [
    (lambda i, j: reversed_loop(j), "{ S[i, j] -> [i, -j] }"),
    (lambda i, j: skewed_loop(j, i, 2), "{ S[i, j] -> [i, j + 2i] }"),
    (lambda i, j: wavefronts(i, j, 3), "{ S[i, j] -> [3i + j, j] }"),
])
def test_rewrites(change: object, order: str) -> None:
    assert callable(change)
    scop = build_scop([("S", "{ S[i, j] : 0 <= i, j < 5 }", [], ["{ S[i, j] -> A[i, j] }"])], "{ S[i, j] -> [i, j] }")
    made = change(*loops_of(scop))
    assert made.get_map().is_equal(isl.UnionMap(order).intersect_domain(scop.domain))
