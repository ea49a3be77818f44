"""What kernels are expected to take, by hand."""

from __future__ import annotations

import pytest

from polysched.gpu import GpuOptions, map_to_device
from polysched.gpu.throughput import Figures, figures, statement_operations
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.target.gpus import SM_80, SM_90
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, mapped
from tests.gpu.reduced import ROWS, TOTAL


def of(text: str, shared: bool = True, block: tuple[int, ...] = (32, 8), **sizes: int) -> Figures:
    """The figures of the first kernel on an A100."""
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    options = GpuOptions(shared=shared, points=(1,), block=block)
    return figures(map_to_device(schedule, options=options), SM_80, sizes)[0]


def test_a_transposed_copy_reads_a_sector_for_each_element() -> None:
    found = of(SCALE, n=1024)
    assert (found.launches, found.blocks) == (1, 32 * 128)
    assert found.global_bytes == 1024**2 * (8 + 32)
    assert found.least_bytes == 1024**2 * 16
    assert found.limiter == "memory"
    assert found.seconds["memory"] == pytest.approx(1024**2 * 40 / 1.555e12)


def test_shared_memory_spares_a_product_its_reads() -> None:
    tiled, plain = of(PRODUCT, n=1024), of(PRODUCT, shared=False, n=1024)
    blocks, tiles, boxes, ends = 32 * 128, 32, (8 * 32 + 32 * 32) * 4, 3 * 1024**2 * 4
    assert tiled.global_bytes == blocks * tiles * boxes + ends   # C is cleared, then loaded and stored once
    assert plain.global_bytes == pytest.approx(1024**3 * (4 + 4 + 4 + 1) + 1024**2 * 4)
    assert tiled.least_bytes == plain.least_bytes == 1024**2 * 4 * 4


def test_registers_hold_blocks_back() -> None:
    mapping = mapped(PRODUCT)
    (free,), (held,) = (figures(mapping, SM_90, {"n": 64}, registers) for registers in (None, {"kernel0": 128}))
    assert (free.occupancy, free.held_by) == (1.0, "threads")
    assert (held.occupancy, held.held_by) == (0.25, "registers")


def test_a_launch_for_each_step_waits() -> None:
    found = of(STENCIL, block=(256,), n=100, t=50)
    assert found.launches == 50
    assert found.limiter == "latency"
    assert repr(found).startswith("<Figures kernel0 on sm_80 (A100 SXM): 50 launches of 1 block, occupancy 100% by ")


def test_a_multiply_add_is_one_operation() -> None:
    init, update = from_c_text(PRODUCT).statements
    assert statement_operations(update) == {"float32": 1, "load": 4}
    assert statement_operations(update, kept=("C",)) == {"float32": 1, "load": 2}
    assert statement_operations(init) == {"load": 1}


def test_a_kernel_that_runs_nothing_has_no_figures() -> None:
    assert figures(mapped(PRODUCT), SM_80, {"n": 1}) != ()
    empty = mapped(PRODUCT.replace("i < n", "i < n - 5"))
    assert figures(empty, SM_80, {"n": 3}) == ()


def test_a_team_reads_neighbouring_elements() -> None:
    found = of(ROWS.replace("j = m - 1; j >= 1; j -= 3", "j = 0; j < m; j++"), n=100, m=100_000)
    assert found.blocks == 100
    assert 100 * 100_000 * 4 <= found.global_bytes < 100 * 100_000 * 4 * 1.5 + 1e5
    assert of(TOTAL, n=10_000).global_bytes < 10_000 * 4 * 1.1
