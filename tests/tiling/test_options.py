"""TilingOptions refuses what cannot be meant."""

import pytest

from polysched.errors import UsageError
from polysched.tiling.options import TilingOptions


@pytest.mark.parametrize(("sizes", "message"), [
    ("big", "tile sizes cannot be 'big'"),
    ((), "no tile size was given"),
    (0, "a tile size must be at least 1"),
    ((8, -1), "a tile size must be at least 1"),
    (10**20, "a tile size is at most 2147483647"),
])
def test_sizes_that_cannot_be_meant_are_refused(sizes, message):
    with pytest.raises(UsageError, match=message):
        TilingOptions(sizes=sizes)


def test_what_is_meant_is_kept():
    assert TilingOptions(sizes=(8, 16)).sizes == (8, 16)
    assert TilingOptions().sizes == "auto"


def test_outer_sizes_need_inner_ones():
    with pytest.raises(UsageError, match="outer tile sizes need inner ones"):
        TilingOptions(sizes="off", outer_sizes=(64,))
    with pytest.raises(UsageError, match="at least 0"):
        TilingOptions(sizes=8, outer_sizes=((64, -1),))
    with pytest.raises(UsageError, match="no tile size was given"):
        TilingOptions(sizes=8, outer_sizes=((0, 0),))
    with pytest.raises(UsageError, match="at least 1"):
        TilingOptions(sizes=(8, 0))
    assert TilingOptions(outer_sizes=(64,)).sizes == "auto"


def test_a_register_block_has_rows_and_columns():
    with pytest.raises(UsageError, match="rows and columns"):
        TilingOptions(register=(4, 8, 2))
