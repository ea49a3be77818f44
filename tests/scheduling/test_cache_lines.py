"""Cache lines of tiles: counted by hand for a product, and what cannot be drawn."""

from __future__ import annotations

import functools

import pytest

from polysched.dependence import Dependences, analyse
from polysched.errors import UsageError
from polysched.scheduling import original, steps
from polysched.scheduling.cache_lines import draw_cache_lines
from polysched.scheduling.primitives import Tile
from polysched.scop import from_c_text


@functools.cache
def product() -> Dependences:
    return analyse(from_c_text("""
void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}"""))


def test_the_elements_and_lines_of_every_tile() -> None:
    n, edges = 10, (4, 5, 3)
    tiled = steps.apply(original(product()), Tile(loops=("i", "j", "k"), sizes=edges))
    picture = draw_cache_lines(product(), tiled.tree, parameters={"n": n})
    names = sorted({(i // 4, j // 5, k // 3) for i in range(n) for j in range(n) for k in range(n)})
    assert sorted(picture.tiles) == list(range(len(names)))
    for number, (a, b, c) in enumerate(names):
        box = [range(at * edge, min((at + 1) * edge, n)) for at, edge in zip((a, b, c), edges, strict=True)]
        touched = picture.tiles[number]
        assert touched.writes == {"C": {i * n + j for i in box[0] for j in box[1]}}
        assert touched.reads["A"] == {i * n + k for i in box[0] for k in box[2]}
        assert touched.reads["B"] == {k * n + j for k in box[2] for j in box[1]}
    lines = {(i * n + j) // 8 for i in range(4) for j in range(5)}
    assert picture.said(0)[0].startswith(f"C: 20 elements in {len(lines)} lines of 64 bytes")


def test_a_region_without_tiles_is_one_and_arrays_of_unknown_length_end_at_the_last_access() -> None:
    scop = from_c_text("void f(int n, double *a, float *b) {\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) a[2 * i] = b[i];\n#pragma endscop\n}")
    picture = draw_cache_lines(analyse(scop), scop.schedule, parameters={"n": 5}, line_bytes=32)
    assert list(picture.tiles) == [0]
    assert picture.tiles[0].writes == {"a": {0, 2, 4, 6, 8}}
    assert {m.name: (m.elements, m.element_bytes) for m in picture.arrays} == {"a": (9, 8), "b": (5, 4)}
    assert "whole region" in picture.note


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(UsageError, match="no tile 5"):
        draw_cache_lines(product(), product().scop.schedule, parameters={"n": 3}, tile=5)
    with pytest.raises(UsageError, match="no 0 bytes"):
        draw_cache_lines(product(), product().scop.schedule, line_bytes=0)
    big = from_c_text("void f(double a[restrict 100][100]) {\n#pragma scop\nfor (int i = 0; i < 9; i++) a[i][i] = 0;\n"
                      "#pragma endscop\n}")
    with pytest.raises(UsageError, match="10000 elements of a are too many to draw"):
        draw_cache_lines(analyse(big), big.schedule)
