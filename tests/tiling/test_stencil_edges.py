"""Emitted code of stencils over time around the edges of their tiles: boxes, diamonds, rolling arrays, rows in step.

One compilation per program and kind of tile; then arrays that end before, at and behind the edges of the tiles and of
the vectors, over one step, a tile's steps and more.  Arrays lie between guard bytes, so that a write beside them shows.
"""

from __future__ import annotations

import ctypes
import itertools
import random
import re
from pathlib import Path

import numpy as np
import pytest

from polysched import PipelineOptions, optimize
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.tiers import and_campaign

GUARD = 256
STEPS = "for (int t = 0; t < steps; t++)"
ROWS = "for (int i = 1; i < n - 1; i++)"
COLUMNS = "for (int j = 1; j < m - 1; j++)"
PLANES = "for (int k = 1; k < l - 1; k++)"
CROSS = "0.25 * {x}[i][j] + 0.125 * ({x}[i - 1][j] + {x}[i + 1][j] + {x}[i][j - 1] + {x}[i][j + 1])"
STAR = ("0.5 * {x}[i][j][k] + 0.0625 * ({x}[i - 1][j][k] + {x}[i + 1][j][k]) + 0.125 * ({x}[i][j - 1][k] + "
        "{x}[i][j + 1][k]) + 0.0625 * ({x}[i][j][k - 1] + {x}[i][j][k + 1])")
PLANE = "{element} A[n][m], {element} B[n][m]"
# The arrays with their extents, the statements, edges of tiles over time.
PROGRAMS = {
    "two arrays in turn": (
        PLANE, f"{STEPS} {{ {ROWS} {COLUMNS} B[i][j] = {CROSS.format(x='A')}; {ROWS} {COLUMNS} A[i][j] = "
        f"{CROSS.format(x='B')}; }}", (3, 8, 16)),
    "three dimensions": (
        "{element} A[n][m][l], {element} B[n][m][l]",
        f"{STEPS} {{ {ROWS} {COLUMNS} {PLANES} B[i][j][k] = {STAR.format(x='A')}; {ROWS} {COLUMNS} {PLANES} "
        f"A[i][j][k] = {STAR.format(x='B')}; }}", (2, 4, 8, 16)),
    "a rolling array": (
        "{element} A[2][n][m]", f"{STEPS} {ROWS} {COLUMNS} A[(t + 1) % 2][i][j] = 0.25 * A[t % 2][i][j] + 0.125 * ("
        "A[t % 2][i - 1][j] + A[t % 2][i + 1][j] + A[t % 2][i][j - 1] + A[t % 2][i][j + 1]);", (4, 8, 16)),
    "in place": (
        "{element} A[n][m]", f"{STEPS} {ROWS} {COLUMNS} A[i][j] = {CROSS.format(x='A')};", (3, 8, 16)),
    "fields that drive each other": (
        PLANE + ", {element} C[n][m]",
        f"{STEPS} {{ for (int j = 0; j < m; j++) A[0][j] = t; {ROWS} for (int j = 0; j < m; j++) "
        "A[i][j] -= 0.5 * (C[i][j] - C[i - 1][j]); for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) "
        "B[i][j] -= 0.5 * (C[i][j] - C[i][j - 1]); for (int i = 0; i < n - 1; i++) for (int j = 0; j < m - 1; j++) "
        "C[i][j] -= 0.75 * (B[i][j + 1] - B[i][j] + A[i + 1][j] - A[i][j]); }", (3, 8, 16)),
    "one dimension": (
        "{element} A[n], {element} B[n]",
        f"{STEPS} {{ {ROWS} B[i] = 0.25 * (A[i - 1] + A[i] + A[i + 1]); {ROWS} A[i] = 0.5 * (B[i - 1] + B[i + 1]); }}",
        (4, 16)),
    "a rolling array in one dimension": (
        "{element} A[2][n]", f"{STEPS} {ROWS} A[(t + 1) % 2][i] = 0.25 * (A[t % 2][i - 1] + A[t % 2][i] + "
        "A[t % 2][i + 1]);", (8, 16)),
    "steps with a source": (
        PLANE + ", {element} C[n]",
        f"{STEPS} {{ {ROWS} {COLUMNS} B[i][j] = {CROSS.format(x='A')} + C[i]; {ROWS} {COLUMNS} A[i][j] = B[i][j]; }}",
        (3, 8, 16)),
}
KINDS = {
    "boxes in wavefronts": {},
    "diamonds": {"concurrent_start": 1},
    "boxes, no threads": {"parallel": False},
    "two degrees": {"parallel_degrees": 2},
    "two levels": {"outer_tiles": ((8, 16, 32),)},
    "sizes by the model": {"tile": "auto"},
}
EVERYWHERE = ("boxes in wavefronts", "diamonds", "sizes by the model")
IN_TURN = ("boxes, no threads", "two degrees", "two levels")
FLOATS = (("two arrays in turn", "boxes in wavefronts"), ("three dimensions", "sizes by the model"),
          ("one dimension", "boxes in wavefronts"), ("a rolling array", "sizes by the model"))
CASES = [*((name, kind, "double") for number, name in enumerate(PROGRAMS)
           for kind in (*EVERYWHERE, IN_TURN[number % len(IN_TURN)])), *((*case, "float") for case in FLOATS)]
EVERY_CASE = [*((name, kind, "double") for name in PROGRAMS for kind in KINDS),
              *((name, kind, "float") for name in PROGRAMS for kind in ("boxes in wavefronts", "sizes by the model"))]


def arrays_of(heads: str, sizes: tuple[int, ...]) -> list[np.ndarray]:
    generator = np.random.default_rng(sizes)
    known = dict(zip("nml", sizes, strict=True))
    shapes = [tuple(eval(part.rstrip("] "), known) for part in head.split("[")[1:]) for head in heads.split(",")]
    return [generator.random(shape).astype(np.float64 if "double" in heads else np.float32) for shape in shapes]


def run(function, arrays: list[np.ndarray], sizes: tuple[int, ...]) -> list[bytes]:
    guarded = [bytearray(b"\xa5" * GUARD + a.tobytes() + b"\xa5" * GUARD) for a in arrays]
    pointers = [ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(g)) + GUARD) for g in guarded]
    function(*sizes, *pointers)
    return [bytes(g) for g in guarded]


def sizes_around_edges(edges: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Steps and extents: every one at every place around its own edge (borders of one element on both sides)."""
    steps, *extents = (1, *edges)[1:]
    extents = [*extents, 8, 8][:3]
    around = [(1, steps - 1, steps, steps + 1, 2 * steps + 1),
              *((2, 3, e - 1, e, e + 1, e + 2, e + 3, 2 * e + 1, 2 * e + 3, 3 * e + 2) for e in extents)]
    mixed = random.Random(7).sample(sorted(itertools.product(*around)), 60)
    return [*zip(*((a * 2)[:10] for a in around), strict=True), *mixed, (0, 9, 9, 9), (9, 17, 40, 34)]


@pytest.mark.parametrize(("name", "kind", "element"), and_campaign(CASES, EVERY_CASE))
def test_around_every_edge_the_source_is_computed(name: str, kind: str, element: str, tmp_path: Path) -> None:
    heads, body, edges = PROGRAMS[name]
    heads = heads.format(element=element)
    if element == "float":
        body = re.sub(r"0\.\d+", r"\g<0>f", body)
    text = f"void f(int steps, int n, int m, int l, {heads}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    options = {"tile": edges, **KINDS[kind]}
    new = optimize(from_c_text(text), PipelineOptions(vector_bits=256, **options))
    head = text[:text.index("#pragma")]
    ours = load(f"{head}{new.text}}}\n", tmp_path).f
    original = load(text, tmp_path, strict=False).f
    for sizes in sizes_around_edges(edges):
        arrays = arrays_of(heads, sizes[1:])
        assert run(ours, arrays, sizes) == run(original, arrays, sizes), f"{sizes}\n{new.text}"
