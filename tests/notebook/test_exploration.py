"""The explorer's state: steps, sizes, picture, C and cost follow each other; no widgets needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, UsageError
from polysched.notebook.exploration import Exploration, begin
from polysched.scheduling.primitives import Interchange, Reverse, Tile, Unroll
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text
from tests.html_reader import Page

STENCIL = """\
void smooth(int steps, int n, double a[n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[i] = 0.5 * (a[i - 1] + a[i + 1]);
#pragma endscop
}
"""


def state() -> Exploration:
    scop = from_c_text(STENCIL)
    return begin(Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original"),
                 parameters={"steps": 6, "n": 10})


def tiles(exploration: Exploration) -> int:
    return len(set(exploration.picture().panels[0].colours.values()))


def test_tiling_is_offered_only_after_skewing():
    first = state()
    assert not any(isinstance(s, Tile) for s in first.next_steps().values())
    skewed = first.then(first.next_steps()["skew loop i by t factor 1"])
    assert skewed.next_steps()["tile loops t, i sizes 4, 4"] == Tile(loops=(0, 1), sizes=(4, 4))


def test_every_offered_step_can_be_taken():
    first = state()
    for said, step in first.next_steps().items():
        assert first.then(step).said() == [said]


def test_a_size_changes_the_picture_the_c_and_the_cost():
    skewed = state().then(state().next_steps()["skew loop i by t factor 1"])
    small = skewed.then(Tile(loops=(0, 1), sizes=(2, 2)))
    large = small.resized(1, (6, 32))
    assert tiles(skewed) == 0
    assert tiles(large) == 1
    assert tiles(small) == 3 * 5   # three rows of two time steps, and 1 <= t + i <= 9 in five pieces
    assert "+= 2" in small.c()
    assert "+= 2" not in large.c()
    assert small.prediction().seconds > large.prediction().seconds   # a row of two is shorter than a vector
    assert large.back().steps == skewed.steps
    assert large.said()[1] == "tile loops t, i sizes 6, 32"


def test_sizes_are_named_after_their_loops():
    first = state()
    skewed = first.then(first.next_steps()["skew loop i by t factor 1"])
    tiled = skewed.then(Tile(loops=(0, 1), sizes=(4, 2)))
    assert tiled.size_names() == {(1, 0): "tile t", (1, 1): "tile i"}
    assert list(first.then(Unroll(loop=1, factor=2)).size_names().values()) == ["unroll i"]


def test_a_factor_is_a_size():
    unrolled = state().then(Unroll(loop="i", factor=2)).resized(0, (3,))
    assert unrolled.steps == (Unroll(loop="i", factor=3),)


def test_illegal_steps_are_refused_and_leave_the_state():
    first = state()
    with pytest.raises(IllegalScheduleError, match="reverse"):
        first.then(Reverse(loop="t"))
    with pytest.raises(IllegalScheduleError):
        first.then(Interchange(outer="t", inner="i"))
    assert first.steps == ()


def test_a_step_without_the_schedule_before_it_is_no_state():
    taken = state().then(Unroll(loop="i", factor=4))
    assert taken.back().steps == ()
    with pytest.raises(ValueError, match="holds the schedule before each of its steps"):
        replace(taken, before=())


def test_the_picture_follows_its_parameters():
    first = state()
    assert len(first.picture().panels[0].points) == 6 * 8
    assert len(first.drawn_for(steps=3).picture().panels[0].points) == 3 * 8
    assert first.planes() == [("i", "t")]
    assert first.seen_along(("t", "i")).picture().panels[0].axes == ("t", "i")
    with pytest.raises(UsageError, match="no parameter m"):
        first.drawn_for(m=3)


def test_cost_table_compares_with_the_start():
    headings, rows = state().then(Unroll(loop="i", factor=2)).cost_table()
    assert [row[0] for row in rows] == ["start", "now"]
    assert all(len(row) == len(headings) for row in rows)
    assert all(row[1].endswith(" s") and float(row[1][:-2]) > 0 for row in rows)


def test_page_and_text_hold_steps_cost_and_c():
    first = state()
    taken = first.then(first.next_steps()["skew loop i by t factor 1"])
    page = Page(taken._repr_html_())
    assert page.counts["circle"] == 6 * 8
    for text in (page.text, str(taken)):
        assert "skew loop i by t factor 1" in text
        assert taken.c() in text
        assert "predicted for steps = 1024, n = 1024" in text
