"""Where register blocks read their operand in lanes where it lies, and that what they compute so is right."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.scheduling.marks import LoopMark, Role
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.footprints.balance import first_share
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.planning.band_plan import BandPlan
from polysched.tiling.planning.read_in_place import FEWEST_PANEL_READS, reads_once, stays_near
from polysched.tiling.planning.register_shape import register_shapes
from polysched.tiling.rewriting import copies
from polysched.tiling.tiled_schedule import TiledSchedule
from tests.emit_c.compiled import load
from tests.schedules import pluto_of
from tests.tiling.footprints.test_traffic import product_nest, reference
from tests.tiling.planning.test_tile_search import SMALL

MACHINE = Target(vector_bits=512, vector_registers=32, cores=2, caches=(
    CacheLevel(level=1, size_bytes=1 << 15, ways=8), CacheLevel(level=2, size_bytes=1 << 20, ways=8),
    CacheLevel(level=3, size_bytes=1 << 25, ways=16, shared_by=2)))
PRODUCT = """void f(float C[{m}][{n}], float A[{m}][{k}], float B[{k}][{row}]) {{
#pragma scop
  for (int i = 0; i < {m}; i++)
    for (int j = 0; j < {n}; j++)
      for (int k = 0; k < {k}; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""


def tiled_product(m: int, n: int, k: int, row: int = 0) -> tuple[str, TiledSchedule]:
    text = PRODUCT.format(m=m, n=n, k=k, row=row or n)
    return text, tile(pluto_of(text), TilingOptions(target=MACHINE))


def plan_of(tiled: TiledSchedule) -> BandPlan:
    (band,) = tiled.bands
    assert band.plan is not None
    return band.plan


@pytest.mark.parametrize(("m", "n", "k", "row", "in_place"), [
    (64, 3136, 256, 0, True),        # rows of 49 * 4 lines begin in all places of a way
    (64, 3120, 256, 3136, True),
    (64, 3136, 256, 3140, False),    # rows begin within lines
    (64, 3130, 256, 3136, False),    # the last vector is cut off
    (64, 3072, 256, 4096, False),    # rows 16 KiB apart share eight places
    (64, 3136, 1040, 0, False),      # more pages than a processor need know
    (64, 816, 256, 0, False),        # nine and eight blocks: threads would not get as much in one piece each
    (1024, 784, 1024, 0, False),     # all of B comes from beyond the second cache again for each tile of rows
])
def test_what_is_read_in_place(m: int, n: int, k: int, row: int, in_place: bool) -> None:
    _, tiled = tiled_product(m, n, k, row)
    shape = plan_of(tiled).shape
    assert shape is not None
    assert shape.in_place == in_place
    assert ("B_panel" in emit(tiled, options=EmitOptions(vector_bits=512)).text) != in_place


def test_sizes_that_are_not_known_are_packed() -> None:
    text = PRODUCT.format(m="n", n="n", k="n", row="n").replace("f(float", "f(int n, float")
    shape = plan_of(tile(pluto_of(text), TilingOptions(target=MACHINE))).shape
    assert shape is not None
    assert not shape.in_place


def test_an_operand_stays_near_where_it_is_small_or_fetched_once() -> None:
    _, tiled = tiled_product(64, 3136, 256)
    plan = plan_of(tiled)
    assert plan.shape is not None
    once, again = ((64, 48, 256), (1, 0, 2)), ((8, 48, 256), (0, 1, 2))
    assert stays_near(plan.nest, plan.shape, *once, 1 << 20, 64)
    assert not stays_near(plan.nest, plan.shape, *again, 1 << 20, 64)       # 3 MiB for each tile of rows
    assert stays_near(plan.nest, plan.shape, *again, 1 << 22, 64)


@pytest.mark.parametrize(("extent", "edge", "threads", "expected"), [
    (96, 48, 2, 0.0), (96, 32, 2, 64 / 96 - 1 / 2), (64, 96, 2, 0.5), (100, 10, 4, 30 / 100 - 1 / 4)])
def test_the_first_thread_has_the_larger_part(extent: int, edge: int, threads: int, expected: float) -> None:
    assert first_share(extent, edge, threads) == pytest.approx(expected)


def test_a_mark_keeps_it() -> None:
    mark = LoopMark(role=Role.POINT, register=True, unroll=48, in_place=True)
    assert LoopMark.from_text(mark.to_text()) == mark


@pytest.mark.parametrize(("m", "n", "k", "row"), [
    (64, 3136, 31, 0), (63, 3136, 32, 0), (67, 3136, 33, 3152), (64, 3120, 40, 0), (65, 3184, 17, 0)])
def test_sums_are_right(m: int, n: int, k: int, row: int, tmp_path: Path) -> None:
    """Small multiples of an eighth, whose sums are exact in any order; blocks are cut off along rows and columns."""
    text, tiled = tiled_product(m, n, k, row)
    shape = plan_of(tiled).shape
    assert shape is not None
    assert shape.in_place
    generator = np.random.default_rng(m)
    c, a, b = ((generator.integers(-30, 30, size=size) / 8).astype(np.float32)
               for size in ((m, n), (m, k), (k, row or n)))
    expected = c + a @ b[:, :n]
    emitted = splice(text, [emit(tiled, options=EmitOptions(vector_bits=512))])
    load(emitted, tmp_path).f(*(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
    assert np.array_equal(c, expected)


@pytest.mark.parametrize(("m", "n", "k", "cache_bytes", "first"), [
    (1024, 4096, 1024, 1 << 25, "columns"),   # 4 MiB of rows stay in the last cache, 16 MiB of columns come once
    (1024, 4096, 1024, 1 << 22, "rows"),      # rows would come from memory for every panel of columns
    (509, 509, 509, 1 << 25, "rows"),         # nearly all stays in the second cache, threads share the panel
])
def test_columns_to_themselves_suit_threads_whose_common_cache_holds_the_rows(
        m: int, n: int, k: int, cache_bytes: int, first: str) -> None:
    caches = (*MACHINE.caches[:2], CacheLevel(level=3, size_bytes=cache_bytes, ways=16, shared_by=2))
    text = PRODUCT.format(m=m, n=n, k=k, row=n)
    plan = plan_of(tile(pluto_of(text), TilingOptions(target=replace(MACHINE, caches=caches))))
    assert plan.order[0] == ("rows", "columns").index(first)


@pytest.mark.parametrize("m", [2, 9, 16, 24, 31, 64, 100])
def test_what_few_rows_read_is_not_packed(m: int) -> None:
    """Whatever the sets that rows of 4 KiB share: a copy is used for as many multiply-adds as there are rows."""
    _, tiled = tiled_product(m, 1024, 1024)
    shape = plan_of(tiled).shape
    assert shape is not None
    assert shape.in_place == (-(-m // shape.row_count) < FEWEST_PANEL_READS)
    assert ("B_panel" in emit(tiled, options=EmitOptions(vector_bits=512)).text) != shape.in_place


NARROW = replace(MACHINE, vector_bits=256, vector_registers=16)


@pytest.mark.parametrize(("m", "n", "k", "in_place"), [
    (6, 1024, 1024, True),      # one block of rows reads it once
    (12, 1024, 1024, False),    # twice, from beyond the second cache
    (16, 1000, 1000, False),
    (16, 512, 256, True),       # from the second cache
])
def test_short_steps_do_not_wait_for_rows_from_the_last_cache(m: int, n: int, k: int, in_place: bool) -> None:
    """A block of 6 x 16 with AVX2 has six cycles of multiply-adds per row."""
    text = PRODUCT.format(m=m, n=n, k=k, row=n)
    tiled = tile(pluto_of(text), TilingOptions(target=NARROW))
    shape = plan_of(tiled).shape
    assert shape is not None
    assert shape.in_place == in_place
    assert ("B_panel" in emit(tiled, options=EmitOptions(vector_bits=256)).text) != in_place


@pytest.mark.parametrize("m", [8, 12, 16, 20, 32])
def test_few_known_rows_have_blocks_of_whole_lines(m: int) -> None:
    """Rows that the last block leaves are a smaller block, so that no number of them asks for blocks of 8 x 8."""
    text = PRODUCT.format(m=m, n=1024, k=1024, row=1024)
    shape = plan_of(tile(pluto_of(text), TilingOptions(target=NARROW))).shape
    assert shape is not None
    assert shape.column_count == 16


@pytest.mark.parametrize(("m", "n", "k"), [(8, 1000, 33), (16, 1021, 40), (20, 48, 300), (31, 600, 600)])
def test_blocks_of_few_known_rows_are_right(m: int, n: int, k: int, tmp_path: Path) -> None:
    text = PRODUCT.format(m=m, n=n, k=k, row=n)
    tiled = tile(pluto_of(text), TilingOptions(target=NARROW))
    _check_sums(m, n, k, splice(text, [emit(tiled, options=EmitOptions(vector_bits=256))]), tmp_path)


@pytest.mark.parametrize(("m", "n", "k"), [(16, 1000, 33), (7, 1021, 40), (23, 48, 17), (15, 15, 64)])
def test_sums_of_few_rows_are_right(m: int, n: int, k: int, tmp_path: Path) -> None:
    text, tiled = tiled_product(m, n, k)
    _check_sums(m, n, k, splice(text, [emit(tiled, options=EmitOptions(vector_bits=512))]), tmp_path)


def _check_sums(m: int, n: int, k: int, emitted: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(m)
    c, a, b = ((generator.integers(-30, 30, size=size) / 8).astype(np.float32) for size in ((m, n), (m, k), (k, n)))
    expected = c + a @ b
    load(emitted, tmp_path).f(*(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
    assert np.array_equal(c, expected)


@pytest.mark.parametrize(("m", "n", "k", "edges"), [
    (16, 1024, 1024, (None, 528, 64)),   # rows of a page each, on two threads
    (8, 1024, 1024, (None, 528, 64)),
    (16, 256, 1024, (None, 128, 256)),   # four rows a page
    (16, 4096, 56, (None, 528, None)),   # no more rows than pages
])
def test_few_rows_walk_no_more_pages_than_the_first_tlb_knows(
        m: int, n: int, k: int, edges: tuple[int | None, ...]) -> None:
    _, tiled = tiled_product(m, n, k)
    plan = plan_of(tiled)
    assert plan.shape is not None
    assert plan.shape.in_place
    assert plan.edges == edges
    assert plan.order == ((1,) if edges[2] is None else (1, 2))


@pytest.mark.parametrize("share", [0.25, 0.0])
def test_rows_beside_an_operand_in_place_are_copied_where_they_leave_the_first_cache(
        share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "BESIDE", share)
    text = emit(tiled_product(16, 1024, 1024)[1], options=EmitOptions(vector_bits=512)).text
    assert "B_panel" not in text
    assert ("A_panel" in text) == (share == 0)


def test_rows_that_one_block_reads_are_no_reason_for_tiles() -> None:
    """One row times a matrix in panels: every element of the matrix serves one multiply-add."""
    y = reference("y", ((1, 0, 0), (0, 1, 0)), writes=True)
    x, w = reference("x", ((0, 0, 1),)), reference("w", ((1, 0, 0), (0, 0, 1), (0, 1, 0)))
    nest = Nest(loops=("q", "r", "k"), extents=(64, 16, 256), references=(y, x, w), parameters={}, constant=(True,) * 3)
    shape = replace(register_shapes(nest, "S", SMALL)[0], in_place=True)
    assert reads_once(nest, shape)
    assert not reads_once(nest, replace(shape, in_place=False))
    again = product_nest(64)
    assert not reads_once(again, replace(register_shapes(again, "S", SMALL)[0], in_place=True))
