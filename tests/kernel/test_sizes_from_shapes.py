"""Sizes from shapes: every size that shapes settle is found, and shapes that no sizes give are refused."""

import itertools

import pytest

from polysched.errors import UsageError
from polysched.kernel.sizes_from_shapes import sizes_of_shapes
from polysched.scop.expression import axis, build, loop, placeholder, symbols, update
from polysched.scop.scop import Scop


def program() -> Scop:
    """A program over arrays of the extents (n + m, 2 * n) and (m + 1), with a size that no extent has."""
    n, m, steps = symbols("n m steps")
    A, B = placeholder("A", (n + m, 2 * n), "float64"), placeholder("B", (m + 1,), "float64")
    t, i, j = axis("t", steps), axis("i", m), axis("j", n)
    return build(loop(t, i, j, update(A[i, j], A[i, j] + B[i])))


SCOP = program()


def test_the_sizes_are_those_that_give_the_shapes() -> None:
    given = {(n + m, 2 * n, m + 1): (n, m) for n, m in itertools.product(range(4), repeat=2)}
    for rows, columns, more in itertools.product(range(7), range(8), range(5)):
        shapes = {"A": (rows, columns), "B": (more,)}
        sizes = given.get((rows, columns, more))
        if sizes is None:
            with pytest.raises(UsageError):
                sizes_of_shapes(SCOP, shapes, {"steps": 3})
        else:
            assert sizes_of_shapes(SCOP, shapes, {"steps": 3}) == {"n": sizes[0], "m": sizes[1], "steps": 3}


def test_an_extent_of_two_sizes_gives_the_second_once_a_later_array_gives_the_first() -> None:
    n, m = symbols("n m")
    A, B, i = placeholder("A", (n + m,), "float64"), placeholder("B", (m,), "float64"), axis("i", m)
    scop = build(loop(i, update(B[i], B[i] + A[i])))
    order = {"A": (5,), "B": (3,)}
    assert sizes_of_shapes(scop, order, {}) == {"n": 2, "m": 3}
    with pytest.raises(UsageError):
        sizes_of_shapes(scop, {"A": (2,), "B": (3,)}, {})


def test_what_is_given_has_to_agree_with_the_shapes() -> None:
    shapes = {"A": (5, 4), "B": (4,)}
    assert sizes_of_shapes(SCOP, shapes, {"steps": 0, "n": 2}) == {"steps": 0, "n": 2, "m": 3}
    with pytest.raises(UsageError, match="its extent 1 has to be 2"):
        sizes_of_shapes(SCOP, shapes, {"steps": 0, "n": 3})
    with pytest.raises(UsageError, match="the sizes do not fit"):
        sizes_of_shapes(SCOP, shapes, {"steps": -1})


def test_a_size_that_no_shape_gives_is_asked_for() -> None:
    with pytest.raises(UsageError, match="no shape says what steps is") as caught:
        sizes_of_shapes(SCOP, {"A": (5, 4), "B": (4,)}, {})
    assert "pass it: steps=..." in str(caught.value)


def test_the_extent_that_does_not_fit_is_named_with_what_it_has_to_be() -> None:
    with pytest.raises(UsageError) as caught:
        sizes_of_shapes(SCOP, {"A": (5, 4), "B": (7,)}, {"steps": 1})
    assert "A has the shape (5, 4), its extent 0 has to be n + m = 8" in str(caught.value)
