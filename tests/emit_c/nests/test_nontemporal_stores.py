"""Rows of arrays that no cache holds are stored past the caches, and hold what the source computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.emit_c.loop_ir.loops import Node
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.nodes import for_loops, tiles
from tests.schedules import original_of

ROWS, COLUMNS = 6, 1030
LEAST = 4 * ROWS * COLUMNS   # bytes of one array
SCALE = "for (int i = 0; i < 6; i++) for (int j = 0; j < 1030; j++) y[i][j] = 3 * x[i][j] + 1;"
HEAD = "float y[6][1030], const float x[6][1030]"
# Where nothing is stored past the caches: why, the statements, the parameters.
OTHERWISE = {
    "read afterwards": (SCALE + " for (int i = 0; i < 6; i++) z[i] = y[i][5];", HEAD + ", float z[6]"),
    "updated": (SCALE.replace("=", "+=", 3).replace("+= 0", "= 0"), HEAD),
    "written again and again": (f"for (int t = 0; t < 3; t++) {SCALE}".replace("3 *", "t *"), HEAD),
    "two statements": (SCALE + SCALE.replace("i < 6", "i < 2").replace("3 *", "5 *"), HEAD),
    "every other element": (SCALE.replace("j < 1030", "j < 515").replace("y[i][j]", "y[i][2 * j]"), HEAD),
    "short rows": ("for (int i = 0; i < 60; i++) for (int j = 0; j < 103; j++) y[i][j] = 3 * x[i][j] + 1;",
                   "float y[60][103], const float x[60][103]"),
}


def past_caches(loops: Node) -> list[tuple[str, int]]:
    """Per vector that is stored past the caches, its array and lanes."""
    return [(tile.past_caches, tile.edges[-1].count) for tile in tiles(loops) if tile.past_caches]


def emitted(body: str, head: str, *, bits: int = 512, cache: int = LEAST, simd: bool = True, degrees: int = 1):
    text = f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    tiled = tile(original_of(text), TilingOptions(
        target=Target(vector_bits=bits, cores=2), sizes="off", simd=simd, parallel_degrees=degrees))
    source = emit(tiled, options=EmitOptions(vector_bits=bits, last_cache_bytes=cache))
    return text, source


@pytest.mark.parametrize("offset", [0, 4, 60])
@pytest.mark.parametrize("bits", [256, 512])
def test_the_source_is_computed_wherever_rows_begin(bits: int, offset: int, tmp_path: Path) -> None:
    text, source = emitted(SCALE, HEAD, bits=bits)
    assert past_caches(source.loops) == [("y", bits // 32)]
    assert [loop.variable for loop in for_loops(source.loops) if loop.fences] == ["i"]
    assert f"polysched_store_past_caches_{bits // 8}(" in source.text
    assert "polysched_fence();" in source.text
    x = np.random.default_rng(0).random((ROWS, COLUMNS), dtype=np.float32)
    results = []
    for c in (text, splice(text, [source])):
        memory = np.full(LEAST + 256, 0xa5, np.uint8)
        start = -memory.ctypes.data % 64 + offset
        load(c, tmp_path, strict=False).f(ctypes.c_void_p(memory.ctypes.data + start), ctypes.c_void_p(x.ctypes.data))
        results.append(memory[start - offset:start - offset + LEAST + 128].tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("why", OTHERWISE)
def test_nothing_is_stored_so_that_is_used_again_or_in_pieces(why: str) -> None:
    assert not past_caches(emitted(*OTHERWISE[why])[1].loops)


@pytest.mark.parametrize("cache", [0, LEAST + 1, 2 * LEAST, 4 * LEAST])
def test_nothing_is_stored_so_half_of_which_a_cache_holds(cache: int) -> None:
    assert not past_caches(emitted(SCALE, HEAD, cache=cache)[1].loops)


def test_other_vectors_and_scalar_code_have_no_such_stores() -> None:
    assert not past_caches(emitted(SCALE, HEAD, bits=128)[1].loops)
    assert not past_caches(emitted(SCALE, HEAD, simd=False)[1].loops)


CUBE_HEAD = "float y[4][5][1030], const float x[4][5][1030]"
CUBE = ("for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 1030; k++) "
        "y[i][j][k] = 3 * x[i][j][k];")


@pytest.mark.parametrize("degrees", [1, 2])
def test_loops_that_share_a_team_of_threads_stay_nested(degrees: int, tmp_path: Path) -> None:
    """OpenMP 4.5, section 2.7.1: nothing, no fence either, stands between loops that are collapsed."""
    text, source = emitted(CUBE, CUBE_HEAD, degrees=degrees)
    assert ("collapse(2)" in source.text) is (degrees == 2)
    assert [loop.variable for loop in for_loops(source.loops) if loop.fences] == ["i" if degrees == 1 else "j"]
    assert past_caches(source.loops) == [("y", 16)]
    x = np.random.default_rng(0).random((4, 5, COLUMNS), dtype=np.float32)
    y = np.zeros_like(x)
    load(splice(text, [source]), tmp_path, strict=False).f(*(ctypes.c_void_p(a.ctypes.data) for a in (y, x)))
    np.testing.assert_array_equal(y, np.float32(3) * x)


def test_each_thread_waits_for_its_own_stores() -> None:
    """The team starts inside of the loop over time, whose end the threads do not see."""
    body = ("for (int t = 0; t < 4; t++) { for (int j = 0; j < 500; j++) for (int k = 0; k < 1030; k++) "
            "y[t][j][k] = z[j][k]; for (int j = 0; j < 500; j++) for (int k = 0; k < 1030; k++) z[j][k] += 1; }")
    _, source = emitted(body, "float y[4][500][1030], float z[500][1030]", cache=1 << 20)
    (fencing,) = (loop for loop in for_loops(source.loops) if loop.fences)
    assert fencing.mark.parallel
    assert past_caches(fencing) == past_caches(source.loops) == [("y", 16)]
