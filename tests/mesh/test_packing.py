"""First placements: free cores only, and the order that each is named after."""

import itertools

import numpy as np
import pytest

from polysched.mesh import MeshTarget, Operator, chain
from polysched.mesh.packing import corner_first, free_places, greedy, largest_first, row_major
from polysched.mesh.shapes import Shape, allocate, fronts
from tests.mesh.random_graphs import random_graph


def test_free_places_are_windows_without_a_taken_core() -> None:
    free = np.ones((3, 4), dtype=bool)
    free[1, 1] = False
    assert free_places(free, 2, 2).tolist() == [[0, 2], [1, 2]]
    assert free_places(free, 1, 4).tolist() == [[0, 0], [2, 0]]
    assert len(free_places(free, 4, 1)) == 0


def test_a_chain_of_single_cores_goes_along_the_rows() -> None:
    graph = chain("c", [Operator(name=f"o{n}", work=1, result=8) for n in range(7)])
    target = MeshTarget(rows=3, columns=3, dead=((0, 1),))
    placed = row_major(graph, [Shape(1, 1, 0.0, 0)] * 7, target)
    assert placed is not None
    assert [(r.row, r.column) for r in placed] == [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]


def test_greedy_puts_neighbours_beside_each_other() -> None:
    graph = chain("c", [Operator(name=f"o{n}", work=1, result=8) for n in range(3)])
    placed = greedy(graph, [Shape(1, 1, 0.0, 0)] * 3, MeshTarget(rows=3, columns=3))
    assert placed is not None
    assert all(abs(a.row - b.row) + abs(a.column - b.column) == 1 for a, b in itertools.pairwise(placed))


def test_no_core_is_given_twice() -> None:
    target = MeshTarget(rows=7, columns=5, dead=((3, 3),))
    for seed in range(6):
        graph = random_graph(seed, 9)
        shapes = allocate(fronts(graph, target), 22)
        assert shapes is not None
        for packer in (greedy, row_major, largest_first):
            placed = packer(graph, shapes, target)
            assert placed is not None
            taken = np.where(target.alive, 0, 1)
            for rectangle, shape in zip(placed, shapes, strict=True):
                assert (rectangle.rows, rectangle.columns) == (shape.rows, shape.columns)
                taken[rectangle.slices] += 1
            assert taken.max() == 1


def test_where_there_is_no_room_nothing_is_packed() -> None:
    graph = chain("c", [Operator(name=f"o{n}", work=1) for n in range(3)])
    shapes = [Shape(1, 2, 0.0, 0)] * 3
    for packer in (greedy, row_major, largest_first):
        assert packer(graph, shapes, MeshTarget(rows=2, columns=2)) is None


def test_corner_first_packs_without_a_free_core() -> None:
    """Five rectangles, one of them a core in the middle; one after the other on free cores is no way there."""
    shapes = [Shape(rows, columns, 1.0, 0) for rows, columns in ((2, 3), (3, 2), (2, 3), (3, 2), (1, 1))]
    found = corner_first(shapes, MeshTarget(rows=5, columns=5), range(5))
    assert found is not None
    cores = sorted((r, c) for f in found for r in range(f.row, f.row + f.rows)
                   for c in range(f.column, f.column + f.columns))
    assert cores == [(r, c) for r in range(5) for c in range(5)]
    assert [(f.rows, f.columns) for f in found] == [(s.rows, s.columns) for s in shapes]


def test_corner_first_leaves_dead_and_spare_cores_free() -> None:
    target = MeshTarget(rows=3, columns=3, dead=((0, 0), (2, 1)))
    found = corner_first([Shape(2, 1, 1.0, 0), Shape(1, 2, 1.0, 0), Shape(2, 1, 1.0, 0)], target, (0, 1, 2))
    assert found is not None
    cores = [(r, c) for f in found for r in range(f.row, f.row + f.rows) for c in range(f.column, f.column + f.columns)]
    assert len(cores) == len(set(cores)) == 6
    assert not {(0, 0), (2, 1)} & set(cores)


def test_corner_first_may_leave_a_thousand_cores_free() -> None:
    target = MeshTarget(rows=1, columns=2400, dead=((0, 1199),))
    found = corner_first([Shape(1, 1, 1.0, 0), Shape(1, 1200, 1.0, 0)], target, (0, 1))
    assert found is not None
    assert [(f.column, f.columns) for f in found] == [(0, 1), (1200, 1200)]


@pytest.mark.parametrize("shapes", [((2, 2), (2, 2)), ((4, 1),), ((3, 3), (1, 1))])
def test_corner_first_says_where_nothing_packs(shapes: tuple[tuple[int, int], ...]) -> None:
    made = [Shape(rows, columns, 1.0, 0) for rows, columns in shapes]
    assert corner_first(made, MeshTarget(rows=3, columns=3), range(len(made))) is None
