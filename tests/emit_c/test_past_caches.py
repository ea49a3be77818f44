"""Rows of arrays that no cache holds are stored past the caches, and hold what the source computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, splice
from polysched.scheduling import original
from polysched.scop import from_c_text
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load

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


def emitted(body: str, head: str, *, bits: int, cache: int, simd: bool = True):
    text = f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    tiled = tile(original(analyse(from_c_text(text))),
                 TilingOptions(target=Target(vector_bits=bits, cores=2), sizes="off", simd=simd))
    source = emit(tiled, options=EmitOptions(vector_bits=bits, last_cache_bytes=cache))
    return text, source


@pytest.mark.parametrize("offset", [0, 4, 60])
@pytest.mark.parametrize("bits", [256, 512])
def test_the_source_is_computed_wherever_rows_begin(bits: int, offset: int, tmp_path: Path) -> None:
    text, source = emitted(SCALE, HEAD, bits=bits, cache=LEAST)
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
    assert "store_past" not in emitted(*OTHERWISE[why], bits=512, cache=LEAST)[1].text


@pytest.mark.parametrize("cache", [0, 4 * LEAST])
def test_nothing_is_stored_so_that_a_cache_holds(cache: int) -> None:
    assert "store_past" not in emitted(SCALE, HEAD, bits=512, cache=cache)[1].text


def test_other_vectors_and_scalar_code_have_no_such_stores() -> None:
    assert "store_past" not in emitted(SCALE, HEAD, bits=128, cache=LEAST)[1].text
    assert "store_past" not in emitted(SCALE, HEAD, bits=512, cache=LEAST, simd=False)[1].text
