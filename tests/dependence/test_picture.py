"""Arrows between dependent instances, inside panels and from one to another."""

import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind
from polysched.dependence.picture import MOST_LINKS, dependent_instances, draw_dependences
from polysched.errors import UsageError
from polysched.scop import from_c_text

CHAIN = analyse(from_c_text("""void f(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  for (int i = 1; i < n; i++) a[i] = a[i - 1];
  for (int i = 0; i < n; i++) b[i] = a[i];
#pragma endscop
}"""))
GRID = analyse(from_c_text("""void f(int n, double a[restrict n][n]) {
#pragma scop
  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + a[i][j - 1];
#pragma endscop
}"""))


def test_every_pair_has_one_arrow() -> None:
    picture = draw_dependences(CHAIN, parameters={"n": 5}, kinds=(DependenceKind.FLOW,))
    first, second = picture.panels
    assert first.arrows == tuple(((i, 0), (i + 1, 0)) for i in range(1, 4))
    assert second.arrows == ()
    assert {(link.source, link.sink) for link in picture.links} == {((i, 0), (i, 0)) for i in range(1, 5)}
    assert picture.note == ""


def test_kinds_that_are_not_asked_for_are_not_drawn() -> None:
    assert draw_dependences(CHAIN, parameters={"n": 5}, kinds=(DependenceKind.OUTPUT,)).panels[0].arrows == ()


def test_too_many_arrows_between_statements_are_said() -> None:
    picture = draw_dependences(CHAIN, parameters={"n": 40})
    assert len(picture.links) <= MOST_LINKS
    assert picture.note == "Between statements: 1 of 39 arrows, those from one instance of each"


def test_axes_are_chosen() -> None:
    drawn = draw_dependences(GRID, parameters={"n": 4}, axes=("i", "j")).panels[0]
    assert drawn.axes == ("i", "j")
    assert ((1, 1), (2, 1)) in drawn.arrows
    assert ((1, 1), (1, 2)) in drawn.arrows
    with pytest.raises(UsageError, match="no iterator 'k'"):
        draw_dependences(GRID, parameters={"n": 4}, axes=("i", "k"))


def test_only_instances_that_are_drawn_are_paired() -> None:
    found = dependent_instances(GRID.pairs, {"n": 5}, {("S0", (1, 1)), ("S0", (2, 1)), ("S0", (4, 4))})
    assert found == [(("S0", (1, 1)), ("S0", (2, 1)))]
