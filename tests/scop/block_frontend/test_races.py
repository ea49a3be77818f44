"""Which programs share an element."""

import islpy as isl

from polysched.scop.block_frontend.races import together


def test_pairs_of_different_programs() -> None:
    reached = isl.Map("{ A[e] -> [p] : 4p <= e <= 4p + 4 and 0 <= p < 3 }")
    found = together(reached, reached, 1)
    assert found.is_equal(isl.Map("{ A[4] -> [0, 1]; A[4] -> [1, 0]; A[8] -> [1, 2]; A[8] -> [2, 1] }"))


def test_one_program_may_come_back() -> None:
    reached = isl.Map("{ A[e] -> [p, q] : 4p <= e < 4p + 4 and q = 0 }")
    assert together(reached, reached, 2).is_empty()
