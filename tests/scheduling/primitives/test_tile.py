"""Rectangular tiles of nested loops."""

from __future__ import annotations

import pytest

from polysched.errors import IllegalScheduleError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Tile
from tests.scheduling.primitives.programs import names, order, product, stencil


def test_tile():
    tiled = steps.apply(product(), Tile(loops=("i", "j"), sizes=(2, 3)))
    assert names(tiled) == ["i_tile", "j_tile", "i", "j", "k"]
    points = order(tiled)
    assert len(points) == 64
    assert [p for _, p in points[:24:4]] == [(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0)]


def test_sizes_belong_to_the_loops_as_they_are_named():
    assert steps.apply(product(), Tile(loops=("j", "i"), sizes=(8, 4))).tree.plain_is_equal(
        steps.apply(product(), Tile(loops=("i", "j"), sizes=(4, 8))).tree)


def test_tile_refuses_a_stencil_that_is_not_skewed():
    with pytest.raises(IllegalScheduleError, match="step tile breaks the") as caught:
        steps.apply(stencil(), Tile(loops=("t", "i"), sizes=(2, 2)))
    assert "must run before" in caught.value.witness
