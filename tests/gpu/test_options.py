"""Blocks by hand."""

from typing import Any

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


def test_points_of_one_are_none() -> None:
    assert GpuOptions(points=(1,)).points_of(2) == ()
    assert GpuOptions(points=(2,)).points_of(3) == (2, 1, 1)
    assert GpuOptions(points=(1, 4)).points_of(1) == ()


@pytest.mark.parametrize(("points", "words"), [((0,), "cannot have 0 points"), ((1, 2, 3, 4), "cannot have 1x2x3x4"),
                                               ((16, 8), "cannot have 128 points")])
def test_points_that_no_work_item_has(points: tuple[int, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        GpuOptions(points=points)


@pytest.mark.parametrize(("options", "words"), [
    ({"tensor_cores": ("int8",), "tensor_instruction": "hgmma"}, "no instruction hgmma"),
    ({"devices": ("sm_70",)}, "nothing describes the device sm_70"),
    ({"tensor_instruction": "wmma"}, "wmma computes no products that are not named")])
def test_instructions_that_tensor_cores_lack_or_nobody_needs(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        GpuOptions(**options)
