"""The explorer as a page: its states are those of explorations, and what leads out of it is known."""

from __future__ import annotations

import json
import re

import pytest

from polysched.dependence import analyse
from polysched.errors import UsageError
from polysched.notebook.exploration import begin
from polysched.notebook.explorer_page import ExplorerPage
from polysched.scheduling import original
from polysched.scheduling.primitives import Skew, Tile
from tests.smooth import smooth


def states_of(page: str) -> list[dict]:
    found = re.search(r"const data = (.*);\n", page)
    assert found
    return json.loads(found.group(1))["states"]


def test_states_lead_to_each_other() -> None:
    start = begin(original(analyse(smooth().scop)), parameters={"steps": 4, "n": 5})
    state = start.then(Skew(loop="i", by="t", factor=1)).then(Tile(loops=("t", "i"), sizes=(4, 4)))
    said: list[str] = []
    page = ExplorerPage(begin=state, most_states=5, said=said.append).page
    states = states_of(page)
    assert len(states) == 5
    assert states[0]["said"] == state.said()
    assert states[states[0]["back"]]["said"] == state.back().said()
    before = states[states[states[0]["back"]]["back"]]
    assert before["said"] == []
    assert before["back"] == -1
    for label, to in (entry for one in states for entry in one["next"]):
        assert to == -1 or states[to]["said"][-1].split()[0] == label.split()[0]
    moved = [(own, edge, to) for _, own, targets in states[0]["sizes"] for edge, to in targets]
    assert any(edge != own for own, edge, _ in moved), "another edge is in the page"
    assert all(f"sizes {edge}" in states[to]["said"][-1] or f", {edge}" in states[to]["said"][-1]
               for _, edge, to in moved)
    assert "<svg" in states[0]["svg"]
    assert "for (" in re.sub("<[^>]+>", "", states[0]["c"])
    assert said[-1] == "drawing 5 states"
    assert not re.search(r"(src|href)=.?https?:", page)


def test_a_page_of_nothing_is_refused() -> None:
    start = begin(original(analyse(smooth().scop)))
    with pytest.raises(UsageError, match="at least one state"):
        ExplorerPage(begin=start, most_states=0)
