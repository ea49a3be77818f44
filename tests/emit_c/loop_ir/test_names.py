"""Loop names: the source's where they fit, never one that hides what the statements use."""

from __future__ import annotations

import re

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit
from polysched.scheduling import original, steps
from polysched.scheduling.primitives import StripMine, Tile
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile
from tests.emit_c.marked_trees import edge, marked, point
from tests.emit_c.marked_trees import tile as tile_mark
from tests.schedules import original_of


def loops_of(text: str) -> list[str]:
    return re.findall(r"for \(long (\w+) =", text)


def test_a_second_loop_of_one_name_gets_a_number() -> None:
    text = """void f(int n, float A[n][n]) {
  int i_tile;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = 1.0f;
#pragma endscop
}
"""
    loops = (("floor(i/8)", tile_mark(0)), ("i", point(0)), ("floor(j/4)", tile_mark(1)), ("j", edge(1, 4)))
    assert loops_of(emit(marked(from_c_text(text), loops)).text) == ["i_tile_2", "i", "j_tile", "j"]


def test_an_iterator_named_like_an_array_elsewhere_is_renamed() -> None:
    """After the first nest `i` is an array in the statements of the second: both stay apart."""
    text = """void f(int n, float i[n], float B[n]) {
#pragma scop
  for (int k = 0; k < n; k++)
    i[k] = B[k];
  for (int k = n - 1; k >= 0; k--)
    B[k] += i[k];
#pragma endscop
}
"""
    source = emit(tile(original_of(text), TilingOptions(sizes="off")))
    names = loops_of(source.text)
    assert names[0] == "k"
    assert "i" not in names


def test_loops_tiled_by_hand_are_named_after_their_point_loops() -> None:
    scop = from_c_text("""
        void product(int n, double C[n][n], double A[n][n], double B[n][n]) {
        #pragma scop
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
              C[i][j] += A[i][k] * B[k][j];
        #pragma endscop
        }""")
    start = original(analyse(scop))
    plain = TilingOptions(sizes="off", register=False, parallel=False)
    for done, expected in (
            ((Tile(loops=("i", "j", "k"), sizes=(32, 16, 8)),), ["i_tile", "j_tile", "k_tile", "i", "j", "k"]),
            ((Tile(loops=("j", "k"), sizes=(16, 8)),), ["i", "j_tile", "k_tile", "j", "k"]),
            ((StripMine(loop="i", size=4), StripMine(loop="k", size=8)), ["i_tile", "i", "j", "k_tile", "k"]),
    ):
        text = emit(tile(steps.apply(start, *done), plain), options=EmitOptions(vector_bits=0)).text
        assert sorted(loops_of(text)) == sorted(expected)
