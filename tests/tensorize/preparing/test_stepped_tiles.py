"""Loops over tiles go where their points say which tile they are in, and no value comes from elsewhere then."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.tensorize.preparing.stepped_tiles import plain_relation, without_stepped_tiles
from tests.tensorize.preparing.kept import program, rewritten

ARRAYS = "int32_t C[5], int8_t A[5][6], int16_t B[6]"
ROWS, TILES = "for (int i = 0; i < 5; i++) ", "for (int kk = 0; kk < 6; kk += {}) "
POINTS = "for (int k = kk; k < (kk + {0} < 6 ? kk + {0} : 6); k++) "
UNTILED = {
    "a sum": (ROWS + TILES.format(4) + POINTS.format(4) + "C[i] += A[i][k] * B[k];", ("i", "k")),
    "tiles outermost": (TILES.format(2) + ROWS + POINTS.format(2) + "C[i] += A[i][k] * B[k];", ("i", "k")),
    "numbered tiles": (ROWS + "for (int t = 0; t < 3; t++) for (int k = 2 * t; k < 2 * t + 2; k++) C[i] += A[i][k];",
                       ("i", "k")),
    "another order in a tile": (TILES.format(3) + "for (int k = kk; k < kk + 3; k++) " + ROWS + "A[i][k] += B[k];",
                                ("k", "i"))}
TILED = {
    "the tile's number is used": ROWS + TILES.format(2) + POINTS.format(2) + "C[i] += A[i][kk];",
    "points overlap": ROWS + TILES.format(2) + "for (int k = kk; k < (kk + 3 < 6 ? kk + 3 : 6); k++) C[i] += A[i][k];",
    "something between tiles": ROWS + TILES.format(2) + "{ " + POINTS.format(2) + "C[i] += A[i][k]; C[i] = C[i] * 2; }",
    "an order that counts": TILES.format(2) + ROWS + POINTS.format(2) + "C[i] = C[(i + 1) % 5] + A[i][k];",
    "no tiles": ROWS + "for (int k = 0; k < 6; k++) C[i] += A[i][k];"}


@pytest.mark.parametrize("name", UNTILED)
def test_the_points_run_through_all_tiles(name: str) -> None:
    body, iterators = UNTILED[name]
    after = rewritten(program(ARRAYS, body), without_stepped_tiles)
    assert after is not None
    (statement,) = after.statements
    assert sorted(statement.iterators) == sorted(iterators)
    assert statement.domain.count_val().to_python() == 30


@pytest.mark.parametrize("name", TILED)
def test_tiles_that_count_stay(name: str) -> None:
    assert rewritten(program(ARRAYS, TILED[name]), without_stepped_tiles) is None


def test_a_relation_in_pieces_is_one_function_where_it_has_one_hull() -> None:
    pieces = isl.Map("{ S[i] -> A[i] : 0 <= i <= 3; S[i] -> A[i] : 4 <= i <= 7 }")
    domain = isl.Set("{ S[i] : 0 <= i <= 7 }")
    assert plain_relation(pieces, domain).is_equal(pieces)
    assert len(plain_relation(pieces, domain).get_basic_maps()) == 1
    bent = isl.Map("{ S[i] -> A[i] : 0 <= i <= 3; S[i] -> A[7 - i] : 4 <= i <= 7 }")
    assert plain_relation(bent, domain).is_equal(bent)
