"""Strips of a loop: the order stays, the strips are named after the loop, and sizes are at least one."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.scheduling import steps
from polysched.scheduling.marks import Role
from polysched.scheduling.primitives import StripMine
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from tests.scheduling.primitives.programs import names, order, product


@pytest.mark.parametrize(("loop", "found"), [("i", ["i_tile", "i", "j", "k"]), ("k", ["i", "j", "k_tile", "k"])])
@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_the_order_stays(loop: str, found: list[str], size: int) -> None:
    made = steps.apply(product(), StripMine(loop=loop, size=size))
    assert order(made) == order(product())
    if size > 1:
        assert names(made) == found


def test_strips_and_points_are_marked_as_one_pair() -> None:
    made = steps.apply(product(), StripMine(loop="j", size=3))
    marks = [n.mark for n in walk(from_isl(made.tree).root) if isinstance(n, Band) and n.mark is not None]
    assert [mark.role for mark in marks] == [Role.TILE, Role.POINT]
    assert marks[0].band == marks[1].band


def test_strips_of_strips() -> None:
    made = steps.apply(product(), StripMine(loop="i", size=4), StripMine(loop="i", size=2))
    assert len(names(made)) == 5
    assert order(made) == order(product())


@pytest.mark.parametrize("size", [0, -3])
def test_a_strip_has_an_iteration(size: int) -> None:
    with pytest.raises(UsageError, match="at least 1") as refused:
        steps.apply(product(), StripMine(loop="j", size=size))
    assert refused.value.witness == str(size)
