"""The explorer as one page that needs no kernel: states made beforehand, and buttons that lead to others."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.resources import files
from typing import Any

from polysched.errors import PolyschedError, UsageError
from polysched.notebook.exploration import Exploration, size_count, sizes_of, with_sizes
from polysched.records import dataclass
from polysched.scheduling.primitives import Step
from polysched.scop.html import c_code, paragraph, table
from polysched.scop.picture import Picture
from polysched.scop.pictures.page import HINT, drawing_of, instance_names, page

NEAR = ("tile", "skew", "interchange", "fuse", "distribute")
MOST_STATES = 30  # of a page: some 30 KB each, and a second to make one where loops are deep
EDGES = (2, 3, 4, 6, 8)  # between which a slider of the page moves; more make more states


@dataclass(frozen=True, eq=False, kw_only=True)
class ExplorerPage:
    """The states that are reached from one, nearest first, as a page.

    Parameters
    ----------
    begin : the state that the page shows first; its earlier states can be gone back to.
    most_states : how many states the page holds; what leads further is listed, and cannot be chosen.
    said : told of the progress.
    """

    begin: Exploration
    most_states: int = MOST_STATES
    said: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.most_states < 1:
            raise UsageError("a page of the explorer holds at least one state")

    @property
    def svg(self) -> str:
        """The picture of the first state."""
        return self.begin.picture().svg

    @property
    def page(self) -> str:
        """The HTML document."""
        states = self._states()
        at = {_key(state): number for number, (state, _) in enumerate(states)}
        self._tell(f"drawing {len(states)} states")
        shown = [_shown(state, steps, at) for state, steps in states]
        parameters = ", ".join(f"{name} = {value}" for name, value in self.begin.parameters.items())
        body = _BODY.format(picture=drawing_of(""), sizes=f"Pictures for {parameters}. " if parameters else "")
        script = files("polysched.notebook").joinpath("explorer_page.js").read_text()
        return page(f"Schedules of {self.begin.start.scop.name}, by hand", body,
                    {"turns": {}, "last": 0, "colours": {}, "colouring": "tile", "names": {}, "hint": "",
                     "states": shown}, [script])

    def _states(self) -> list[tuple[Exploration, dict[str, Step]]]:
        """The first state, those before it, and what steps and other sizes lead to, nearest first; with legal steps."""
        self._tell(f"looking for {self.most_states} states near the first")
        earlier = [self.begin]
        while earlier[-1].steps:
            earlier.append(earlier[-1].back())
        found: dict[str, tuple[Exploration, dict[str, Step]]] = {}
        waiting: list[tuple[int, int, Callable[[], Exploration]]] = [
            (0, number, partial(_itself, state)) for number, state in enumerate(earlier)]
        pushed = len(waiting)
        while waiting and len(found) < self.most_states:
            far, _, reached = heapq.heappop(waiting)
            try:
                state = reached()
            except PolyschedError:   # offered by its shape, refused by an exact check; the page does not lead there
                continue
            if _key(state) in found:
                continue
            steps = state.next_steps()
            found[_key(state)] = state, steps
            for distance, other in (*_resized(state), *_followed(steps, state)):
                heapq.heappush(waiting, (far + distance, pushed, other))
                pushed += 1
        return list(found.values())

    def _tell(self, words: str) -> None:
        if self.said is not None:
            self.said(words)


def _shown(state: Exploration, steps: dict[str, Step], at: dict[str, int]) -> dict[str, Any]:
    """What the page shows of a state, and where it leads."""
    named = state.size_names()
    targets = {place: _targets(state, *place, at) for place in named}
    sizes = [[label, sizes_of(state.steps[position])[number], targets[position, number]]
             for (position, number), label in named.items() if len(targets[position, number]) > 1]
    return {"said": state.said(), "back": at.get(_text(state.steps[:-1]), -1) if state.steps else -1,
            "next": [[label, at.get(_text((*state.steps, step)), -1)] for label, step in steps.items()],
            "sizes": sizes, **_drawn(state.picture),
            "cost": table(*state.cost_table()) + "".join(map(paragraph, state.cost_notes())), "c": c_code(state.c())}


_BODY = """\
<p class="hint">{sizes}Every step was checked against all dependences when this page was made. \
Grey steps lead out of it.</p>
<div class="controls"><label>next step: <select id="nexts"></select></label><button id="apply">apply</button>
<button id="back">undo</button></div>
<p id="steps"></p><div class="controls" id="sizes"></div>{picture}<div id="cost"></div><div id="c"></div>"""


def _drawn(draw: Callable[[], Picture]) -> dict[str, Any]:
    """The picture with the names of its instances, or why there is none."""
    try:
        picture = draw()
    except UsageError as refusal:
        return {"svg": paragraph(f"no picture: {refusal.problem}"), "names": {}, "hint": "", "turns": {}}
    names = instance_names(picture)
    return {"svg": picture.svg, "names": names, "hint": HINT if names else "",
            "turns": {group: [turn.step, turn.thread] for group, turn in picture.turns.items()}}


def _itself(state: Exploration) -> Exploration:
    """A state that is reached already."""
    return state


def _key(state: Exploration) -> str:
    return _text(state.steps)


def _text(steps: Iterable[Step]) -> str:
    """The same for the same steps."""
    return json.dumps([step.to_json() for step in steps], sort_keys=True)


def _resized(state: Exploration) -> Iterator[tuple[int, Callable[[], Exploration]]]:
    """How to reach the states with another edge for all sizes of the last step that has some, and how far they are."""
    for position, step in reversed(list(enumerate(state.steps))):
        if size_count(step):
            for edge in EDGES:
                yield 1, partial(state.resized, position, (edge,) * size_count(step))
            return


def _followed(steps: dict[str, Step], state: Exploration) -> Iterator[tuple[int, Callable[[], Exploration]]]:
    """How to reach the states behind one more step; those that change the order of tiles are near."""
    for step in steps.values():
        yield 1 if step.NAME in NEAR else 3, partial(state.then, step)


def _targets(state: Exploration, position: int, number: int, at: dict[str, int]) -> list[list[int]]:
    """The edges that a slider can move to, each with its state: this size alone, or all of the step together."""
    step = state.steps[position]
    found = {sizes_of(step)[number]: at[_key(state)]}
    for edge in EDGES:
        own = list(sizes_of(step))
        own[number] = edge
        for sizes in (tuple(own), (edge,) * size_count(step)):
            steps = list(state.steps)
            steps[position] = with_sizes(step, sizes)
            if (place := at.get(_text(steps))) is not None:
                found.setdefault(edge, place)
    return [[edge, place] for edge, place in sorted(found.items())]
