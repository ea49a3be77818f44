"""Bands that steps ask for: joined, numbered, refused where their loops cannot be interchanged."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import ALGORITHMS
from polysched.scheduling.bands_by_hand import with_bands
from polysched.scheduling.primitives import BandStep, Interchange, Parallel, RegisterBlock, Tile, loops
from polysched.scheduling.steps import apply, loop_tree
from polysched.scop import from_c_text
from tests.search.programs import PRODUCT

STENCIL = """void s(int n, double a[n][n]) {
#pragma scop
  for (int t = 1; t < n; t++)
    for (int i = 1; i < n - 1; i++)
      a[t][i] = a[t - 1][i + 1];
#pragma endscop
}
"""


def scheduled(text: str, *steps):
    return apply(ALGORITHMS["original"](analyse(from_c_text(text))), *steps)


def members(schedule) -> list[int]:
    from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
    return [len(n.members) for n in walk(from_isl(schedule.tree).root) if isinstance(n, Band)]


def test_loops_become_one_band_and_stay_in_their_order():
    step = BandStep(loops=("j", "k"))
    before = scheduled(PRODUCT, Interchange(outer="i", inner="k"), step)
    made, asked = with_bands(before)
    assert members(made) == [2, 1]
    assert asked == ((0, step),)
    assert [loop.name for loop in loops(loop_tree(made.tree))] == ["k", "j", "i"]
    again, _ = with_bands(made)
    assert members(again) == [2, 1]


def test_without_such_a_step_nothing_changes():
    schedule = scheduled(PRODUCT, Interchange(outer="i", inner="k"))
    assert with_bands(schedule) == (schedule, ())


@pytest.mark.parametrize(("text", "steps", "error", "message"), [
    (STENCIL, (BandStep(loops=("t", "i")),), IllegalScheduleError, "cannot be interchanged"),
    (PRODUCT, (BandStep(loops=("i", "k")),), UsageError, "is not directly inside"),
    (PRODUCT, (BandStep(loops=("i", "j")), RegisterBlock(loops=("j", "k"), rows=4, columns=8)), UsageError,
     "stands in one band"),
    (PRODUCT, (Parallel(loop="i"), BandStep(loops=("i", "j"))), UsageError, "with a mark of another step"),
    (PRODUCT, (BandStep(loops=("q",)),), UsageError, "no loop is called")])
def test_what_is_no_band_is_refused(text, steps, error, message):
    with pytest.raises(error, match=message):
        with_bands(scheduled(text, *steps))


def test_the_loop_of_two_bands_is_told():
    with pytest.raises(UsageError) as refused:
        with_bands(scheduled(PRODUCT, BandStep(loops=("i", "j")), BandStep(loops=("j", "k"))))
    assert refused.value.witness == "loop 1"


def test_tiles_by_steps_and_bands_stand_beside_each_other():
    made, asked = with_bands(scheduled(PRODUCT, Tile(loops=("i",), sizes=(8,)), BandStep(loops=("j", "k"))))
    assert members(made) == [1, 1, 2]
    assert [number for number, _ in asked] == [2]
