"""Copies to affine places."""

import numpy as np

from polysched.graph.operators.moves import Move, Place, gathered, moved
from polysched.graph.values.sizes import Size


def test_a_gathered_move_is_whole() -> None:
    move = gathered(0, (2, 3), [Place.of(0, (1, 1)), Place.of(1, (0, -1))])
    assert move.is_whole
    x = np.arange(6).reshape(3, 2)
    assert np.array_equal(moved([move], [x], (2, 3)), x.T[::-1])


def test_one_element_is_moved_to_a_scalar() -> None:
    assert moved([Move(0, (), (Place.of(2),), ())], [np.arange(4)], ()) == 2


def test_parts_of_a_result_are_moved_apart() -> None:
    moves = [Move(p, (Size(2),), (Place.of(0, (0, 1)),), (Place.of(p, (0, 2)),)) for p in (0, 1)]
    assert not moves[1].is_whole
    assert list(moved(moves, [np.array([1, 2]), np.array([3, 4])], (4,))) == [1, 3, 2, 4]


def test_subscripts_from_an_operand_count_from_the_end_below_zero() -> None:
    move = gathered(0, (4,), [Place.read(1, [Place.of(0, (0, 1))])])
    assert not move.is_affine
    assert list(moved([move], [np.array([5, 6, 7]), np.array([0, -1, 2, -3])], (4,))) == [5, 7, 7, 5]


def test_what_comes_to_one_place_is_combined() -> None:
    summed = Move(0, (Size.of(4),), (Place.of(0, (0, 1)),), (Place.read(1, [Place.of(0, (0, 1))]),), "add")
    base = gathered(2, (2,), [Place.of(0, (0, 1))])
    assert list(moved([base, summed], [np.array([1, 2, 3, 4]), np.array([0, 1, -1, 0]), np.array([10, 20])],
                      (2,))) == [15, 25]
