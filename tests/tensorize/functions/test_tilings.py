"""Loops of a program run through tiles of a unit, and what fills no whole tile is computed by ordinary code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from polysched.tensorize.description.library_function import Variant
from polysched.tensorize.functions.recurrences import Around
from polysched.tensorize.functions.tilings import TILES, Tiling, tilings, with_counts, with_whole_tiles

UNIT = Variant("void u(int32_t y[4], const int16_t x[4], const int16_t w[4][2], const int16_t v[2]) { "
               "for (int i = 0; i < 4; i++) { int32_t s = x[i]; for (int k = 0; k < 2; k++) s += w[i][k] * v[k]; "
               "y[i] = s > 0 ? s : 0; } }")
PLAIN = Variant("void p(int32_t y[4], const int32_t x[4]) { for (int i = 0; i < 4; i++) y[i] = x[i] * 3; }")


def program(head: str, body: str) -> Scop:
    return from_c_text(f"#include <stdint.h>\nvoid f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def of_plain(count: str, sizes: dict[str, int] | None = None) -> list[Tiling | str]:
    scop = program("int n, int m, int32_t Y[m][n], int32_t X[m][n]",
                   f"for (int i = 0; i < m; i++) for (int j = 0; j < {count}; j++) Y[i][j] = X[i][j] * 3;")
    dependences = analyse(scop)
    return list(tilings(dependences, scop.statements[0], PLAIN, "S0", sizes or {}))


def test_every_loop_that_passes_no_value_may_be_tiled_the_innermost_first() -> None:
    first, second = of_plain("n")
    assert isinstance(first, Tiling)
    assert first.around == Around((0,), ((1, 4),))
    assert first.lengths == {0: {("n",): 1}}
    assert isinstance(second, Tiling)
    assert second.around == Around((1,), ((0, 4),))


@pytest.mark.parametrize(("count", "tiles", "ragged"), [
    ("8", ((1, 4),), False), ("9", ((1, 4),), True), ("4", (), False)])
def test_lengths_that_are_known_say_whether_something_is_left(count: str, tiles: tuple[tuple[int, int], ...],
                                                              ragged: bool) -> None:
    first = of_plain(count)[0]
    assert isinstance(first, Tiling)
    assert first.around.tiles == tiles
    assert bool(first.lengths) is ragged


def test_loops_that_are_too_short_are_told_last() -> None:
    found = of_plain("3", {"m": 2})
    assert all(isinstance(x, str) for x in found)
    assert "loop j has 3 iterations and p takes 4 at once" in found
    assert "loop i has 2 iterations and p takes 4 at once" in found


def test_a_sum_is_tiled_by_no_unit_that_ends_it() -> None:
    scop = program("int n, int16_t w[n][4], int16_t v[4], int32_t y[n]",
                   "for (int i = 0; i < n; i++) { int32_t s = 0; for (int k = 0; k < 4; k++) s += w[i][k] * v[k]; "
                   "y[i] = s > 0 ? s : 0; }")
    statement = max(scop.statements, key=lambda s: s.depth)
    deepest = max(UNIT.scop.statements, key=lambda s: s.depth).name
    found = list(tilings(analyse(scop), statement, UNIT, deepest, {}))
    assert found == ["the sum over k has 4 terms and u adds 2: what ends the sum cannot be applied to parts of it"]


def test_whole_tiles_and_the_rest_compute_the_program() -> None:
    scop = program("int n, int32_t Y[n], int32_t X[n]", "for (int j = 0; j < n; j++) Y[j] = X[j] * 3;")
    dependences = analyse(scop)
    (tiling,) = tilings(dependences, scop.statements[0], PLAIN, "S0", {})
    assert isinstance(tiling, Tiling)
    whole = with_whole_tiles(dependences, ["S0"], {"S0": tiling.around}, tiling)
    assert not isinstance(whole, str)
    assert whole.assumed is None   # `Y[n]` says that n is not negative
    made = whole.dependences
    assert len(made.scop.statements) == 2
    for n in (4, 5, 7, 8, 11):
        sizes = with_counts(made.scop, {"n": n})
        assert sizes is not None
        assert [v for k, v in sizes.items() if k.startswith(TILES)] == [n // 4]
        x = np.arange(n, dtype=np.int32)
        arrays = {"X": x, "Y": np.zeros(n, np.int32)}
        execute(made.scop, sizes, arrays)
        np.testing.assert_array_equal(arrays["Y"], 3 * x)


def test_counts_follow_from_the_sizes_or_are_none() -> None:
    scop = program("int n, int32_t Y[n]", "for (int j = 0; j < n; j++) Y[j] = j;")
    assert with_counts(scop, {"n": 5}) == {"n": 5}
    assert list(itertools.chain(with_counts(scop, {"n": 5}) or ())) == ["n"]


def test_sizes_of_unknown_sign_are_assumed_to_count_tiles() -> None:
    scop = program("int n, int32_t *Y", "for (int j = 0; j < n; j++) Y[j] = j * 3;")
    plain = Variant("void p(int32_t O[4]) { for (int i = 0; i < 4; i++) O[i] = i * 3; }")
    dependences = analyse(scop)
    (tiling,) = tilings(dependences, scop.statements[0], plain, "S0", {})
    assert isinstance(tiling, Tiling)
    whole = with_whole_tiles(dependences, ["S0"], {"S0": tiling.around}, tiling)
    assert not isinstance(whole, str)
    assert whole.assumed is not None
    assert str(whole.assumed) == "[n] -> {  : n >= 0 }"
    assert with_counts(whole.dependences.scop, {"n": -3}) is None
