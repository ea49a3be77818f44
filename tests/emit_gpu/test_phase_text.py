"""How phases are spelled in each language."""

from __future__ import annotations

import pytest

from polysched.emit_gpu import emit
from polysched.emit_gpu.interface import INTERFACES
from tests.gpu.mapped import SCALE, mapped
from tests.gpu.staged import BATCH, DOWN, THIRDS, TRIANGLE


@pytest.mark.parametrize(("device", "shared", "item", "barrier"), [
    ("opencl", "__local __attribute__((aligned(16))) double A_tile[32][8];",
     "const int item = ((long)get_local_id(1)) * 32 + (long)get_local_id(0);", "barrier(CLK_LOCAL_MEM_FENCE);"),
    ("cuda", "__shared__ __align__(16) double A_tile[32][8];", "const int item = (threadIdx.y) * 32 + threadIdx.x;",
     "__syncthreads();")])
def test_declarations_numbers_and_barriers(device: str, shared: str, item: str, barrier: str) -> None:
    lines = [line.strip() for line in emit(mapped(TRIANGLE, block=(32, 8)), INTERFACES[device]).program.splitlines()]
    assert [line for line in lines if line in (shared, item, barrier)] == [shared, item, barrier, barrier]


def test_a_block_of_three_dimensions_is_counted_through() -> None:
    text = emit(mapped(BATCH, block=(32, 4, 2)), INTERFACES["cuda"]).program
    assert "const int item = ((threadIdx.z) * 4 + threadIdx.y) * 32 + threadIdx.x;" in text
    assert "A_tile[element / 128][element / 32 % 4][element % 32]" in text


def test_every_loop_around_a_barrier_is_the_same_for_a_block() -> None:
    lines = emit(mapped(TRIANGLE), INTERFACES["cuda"]).program.splitlines()
    barriers = [k for k, line in enumerate(lines) if "__syncthreads" in line]
    around = [line for line in lines[:barriers[0]] if line.startswith("    for (")]
    assert len(around) == 1
    assert "block_y" in around[0] or "tile = 1;" in around[0]
    assert " x" not in around[0].replace("block_x", "")


@pytest.mark.parametrize("text", [THIRDS, DOWN])
def test_a_bound_that_is_a_choice_is_one_operand(text: str) -> None:
    """`tile < c ? a : b` is `(tile < c) ? a : b`."""
    lines = emit(mapped(text), INTERFACES["cuda"]).program.splitlines()
    heads = [line for line in lines if "; tile < " in line]
    assert heads
    assert all(line.split("; tile < ")[1].startswith("(") for line in heads if "?" in line.split("; tile < ")[1])
    assert not any("at0 < n ==" in line or "at1 < n ==" in line for line in lines)


def test_without_phases_the_loops_stand_alone() -> None:
    assert "item" not in emit(mapped(SCALE), INTERFACES["cuda"]).program
