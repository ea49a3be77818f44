"""Emitted code around the edges of tiles and register blocks: packed panels, tiles cut off, joined nests, two levels.

One compilation per program; then many sizes, one less, one more and twice a tile's edge in every loop, mixed.  Arrays
lie between guard bytes, so that a write beside them shows.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=128, vector_registers=16, cores=2)
GUARD = 256
EDGES = (16, 48, 8)
OUTER = ((32, 96, 16),)
STEPS = ((0, 0, 16),)
SUM = "for (int i = 0; i < n; i++) for (int j = 0; j < {m}; j++) for (int k = 0; k < l; k++) {body}"
LAYER = (
    "float Y[n][m], float X[n][l], float W[l][m], float b[m]", "float P[n][m];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) P[i][j] = b[j];"
    + SUM.format(m="m", body="P[i][j] += X[i][k] * W[k][j];")
    + "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) Y[i][j] = P[i][j] > 0.0f ? P[i][j] : 0.0f;",
    ("_panel", "cut off"))
TRIANGLE = ("double C[n][n], double A[n][l]", "", SUM.format(m="i + 1", body="C[i][j] -= A[i][k] * A[j][k];"),
            ("register tile of 4 x 6",))
# Arrays with their extents, temporaries, the statements, what the emitted text must hold, further options.
PROGRAMS = {
    "second operand transposed, two levels": (
        "float C[n][m], float A[n][l], float B[m][l]", "", SUM.format(m="m", body="C[i][j] += A[i][k] * B[j][k];"),
        ("A_panel", "B_panel", "cut off"), {"outer_sizes": OUTER}),
    "start values and last steps in the tiles": (*LAYER, {}),
    "start values and last steps around steps": (*LAYER, {"outer_sizes": STEPS}),
    "steps of the sum, then threads": (
        "double C[n][m], double A[n][l], double B[l][m]", "", SUM.format(m="m", body="C[i][j] += A[i][k] * B[k][j];"),
        ("packed once for all threads", "for (long k_tile = 0", "cut off"), {"outer_sizes": STEPS}),
    "lower triangle": (*TRIANGLE, {}),
    "lower triangle in steps": (*TRIANGLE, {"outer_sizes": STEPS}),
}


def arguments(heads: str, sizes: tuple[int, int, int]) -> list[np.ndarray]:
    """Arrays of small multiples of an eighth, so that sums are exact in any order."""
    generator = np.random.default_rng(sizes)
    known = dict(zip("nml", sizes, strict=True))
    arrays = []
    for head in heads.split(","):
        shape = tuple(eval(part.rstrip("] "), known) for part in head.split("[")[1:])
        values = generator.integers(-60, 60, size=shape) / 8
        arrays.append(values.astype(np.float64 if "double" in head else np.float32))
    return arrays


def run(function, arrays: list[np.ndarray], sizes: tuple[int, int, int]) -> list[bytes]:
    guarded = [bytearray(b"\xa5" * GUARD + a.tobytes() + b"\xa5" * GUARD) for a in arrays]
    pointers = [ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(g)) + GUARD) for g in guarded]
    function(*sizes, *pointers)
    return [bytes(g) for g in guarded]


def sizes_around_edges() -> list[tuple[int, int, int]]:
    """Every loop at every place around its own edge, the others anywhere around theirs."""
    around = [(1, edge - 1, edge, edge + 1, 2 * edge - 1, 2 * edge + 1) for edge in EDGES]
    chance = random.Random(5)
    mixed = chance.sample(sorted(itertools.product(*around)), 40)
    return [*zip(*around, strict=True), *mixed, (17, 49, 0), (4, 12, 3), (5, 13, 40), (65, 97, 17)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_around_every_edge_the_source_is_computed(name: str, tmp_path: Path) -> None:
    heads, local, body, wanted, options = PROGRAMS[name]
    text = f"void f(int n, int m, int l, {heads}) {{\n{local}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    tiled = tile(pluto_of(text), TilingOptions(target=MACHINE, sizes=EDGES, **options))
    source = emit(tiled, options=EmitOptions(vector_bits=128))
    assert all(word in source.text for word in wanted), source.text
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for sizes in sizes_around_edges():
        arrays = arguments(heads, sizes)
        assert run(ours, arrays, sizes) == run(original, arrays, sizes), f"{sizes}\n{source.text}"
