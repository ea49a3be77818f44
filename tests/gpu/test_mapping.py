"""What a mapping says of itself."""

from tests.gpu.mapped import CHAIN, PRODUCT, mapped


def test_lines_name_kernels_and_copies() -> None:
    mapping = mapped(PRODUCT)
    assert mapping.lines() == (
        "kernel0: 2 dimensions in blocks of 32x8 work items run S0, S1; tiles of 32 steps of A, B in shared memory, "
        "C in registers", "array C: copied back",
        "array A: copied to the device", "array B: copied to the device")
    assert repr(mapping) == "<GpuMapping of f: 1 kernels, 3 arrays>"


def test_one_work_item_is_not_parallel() -> None:
    assert not mapped(CHAIN).is_parallel
    assert mapped(PRODUCT).is_parallel
