"""The widgets: moving a slider or taking a step changes what is shown; without ipywidgets one clear line."""

from __future__ import annotations

import sys

import pytest

from polysched.errors import UsageError
from polysched.notebook import explore
from polysched.scheduling.primitives import Reverse, Tile
from tests.html_reader import Page
from tests.notebook.test_exploration import state


def explorer():
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed")
    return explore(state().schedule, parameters={"steps": 6, "n": 10})


def outlines(shown) -> int:
    """How many tiles are drawn."""
    counts = Page(shown.picture.value).counts
    return counts["path"] - counts["marker"]


def test_without_ipywidgets_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(UsageError, match=r"needs ipywidgets: pip install 'polysched\[notebook\]'$"):
        explore(state().schedule)


def test_steps_sizes_and_undo():
    shown = explorer()
    assert dict(shown.steps.options).keys() == state().next_steps().keys()
    assert outlines(shown) == 0
    shown.steps.label = "skew loop i by t factor 1"
    shown.apply_button.click()
    shown.steps.label = "tile loops t, i sizes 4, 4"
    shown.apply_button.click()
    assert outlines(shown) == len({(t // 4, (i + t) // 4) for t in range(6) for i in range(1, 9)})
    before = shown.picture.value, shown.code.value, shown.cost.value
    shown.size_sliders[1, 1].value = 2
    assert shown.schedule.steps[-1] == Tile(loops=(0, 1), sizes=(4, 2))
    assert all(a != b for a, b in zip(before, (shown.picture.value, shown.code.value, shown.cost.value), strict=True))
    shown.back_button.click()
    assert shown.size_sliders == {}
    assert outlines(shown) == 0


def test_parameters_and_axes_change_the_picture_only():
    shown = explorer()
    code = shown.code.value
    shown.parameter_sliders["n"].value = 7
    assert Page(shown.picture.value).counts["circle"] == 6 * 5
    shown.axes.value = ("i", "t")
    assert Page(shown.picture.value).counts["circle"] == 6 * 5
    assert shown.code.value == code


def test_what_is_refused_is_said_and_changes_nothing():
    shown = explorer()
    shown.steps.options = [("reverse t", Reverse(loop="t"))]
    shown.steps.label = "reverse t"
    shown.apply_button.click()
    assert "step reverse" in shown.message.value
    assert shown.state.steps == ()
    shown.parameter_sliders["n"].value = 20
    assert shown.message.value == ""


def test_pictures_that_are_too_large_say_so():
    shown = explorer()
    shown.parameter_sliders["steps"].max = shown.parameter_sliders["n"].max = 2000
    shown.parameter_sliders["n"].value = 2000
    assert "too many to draw" in shown.picture.value
