"""Colours, outlines of cells, and where numbers stand."""

from __future__ import annotations

from polysched.scop.picture import Turn
from polysched.scop.pictures.paint import (
    cells_by_group,
    colour_legend,
    label_place,
    neighbours,
    outlines,
    painted_by,
    step_colour,
    thread_colour,
)

BESIDE = {0: {1}, 1: {0, 2}, 2: {1}}
TURNS = {0: Turn(0, 0), 1: Turn(1, 0), 2: Turn(2, 1)}


def test_the_outline_of_a_square_and_of_its_neighbour() -> None:
    square = {(x, y): 0 for x in (0, 1) for y in (0, 1)}
    assert len(outlines(square)) == 8
    assert len(outlines({**square, (2, 0): 1})) == 8 + 3
    assert outlines({}) == set()


def test_neighbours_differ_and_threads_and_steps_have_their_colours() -> None:
    by_tile = painted_by("tile", BESIDE, TURNS)
    assert by_tile[0] != by_tile[1] != by_tile[2]
    by_thread = painted_by("thread", BESIDE, TURNS)
    assert by_thread[0] == by_thread[1] == thread_colour(0) != by_thread[2]
    assert list(painted_by("step", BESIDE, TURNS).values()) == [step_colour(n, 2) for n in range(3)]
    assert len({step_colour(n, 5) for n in range(6)}) == 6
    assert thread_colour(None) not in {thread_colour(n) for n in range(6)}


def test_diagonal_tiles_are_neighbours() -> None:
    assert neighbours([{(0, 0): 0, (1, 1): 1, (5, 5): 2}]) == {0: {1}, 1: {0}, 2: set()}


def test_a_number_stands_in_a_cell_of_its_tile() -> None:
    for cells in ([(0, 0)], [(0, 0), (0, 1)], [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)]):
        x, y = label_place(cells)
        assert (round(x), round(y)) in cells
        assert (x, y) not in cells, "not on the dot"
    assert cells_by_group({(0, 0): 1, (1, 0): 0, (2, 0): 1}) == {0: [(1, 0)], 1: [(0, 0), (2, 0)]}


def test_legends() -> None:
    assert [text for _, text in colour_legend("thread", TURNS, TURNS)] == ["thread 0", "thread 1"]
    assert [text for _, text in colour_legend("step", TURNS, TURNS)] == ["step 0", "step 2"]
    assert colour_legend("tile", TURNS, TURNS) == []
