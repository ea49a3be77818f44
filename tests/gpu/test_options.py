"""Blocks by hand."""

import pytest

from polysched.errors import UsageError
from polysched.gpu import GpuOptions


def test_edges_that_are_not_given_are_one() -> None:
    assert GpuOptions(block=(16,)).block_of(2) == (16, 1)
    assert GpuOptions(block=(16, 4, 2)).block_of(1) == (16,)
    assert GpuOptions().block_of(0) == ()


@pytest.mark.parametrize("block", [(0,), (1, 2, 3, 4)])
def test_blocks_that_no_device_has(block: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="a block cannot be"):
        GpuOptions(block=block)
