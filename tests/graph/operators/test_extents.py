"""Sizes as extents of tensor expressions."""

import islpy as isl
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.operators.extents import extent_of
from polysched.graph.values.sizes import Size
from polysched.scop.expression.evaluation import size_of


def test_a_size_is_the_same_function() -> None:
    n = Size.symbol("N")
    assert size_of(extent_of((3 * n + 1) // 2 - n + 4)).is_equal(
        isl.PwAff("[N] -> { [(4 - N + floor((1 + 3N)/2))] }"))
    with pytest.raises(UnsupportedGraphError, match=r"the product M\*N of open sizes is not affine"):
        extent_of(3 * n * Size.symbol("M") + 1)
    assert size_of(extent_of(Size(5))).is_equal(isl.PwAff("{ [(5)] }"))
