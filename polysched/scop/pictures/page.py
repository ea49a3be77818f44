"""Pictures as pages that a reader moves: one file each, with its own script, and nothing from a network."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from polysched.records import dataclass
from polysched.scop.picture import COLOURED_BY, Panel, Picture, Place, Turn
from polysched.scop.pictures.paint import groups_of, neighbours, painted_by, place_name
from polysched.scop.shown import Shown

HINT = "Point at an arrow or a dot, or tap it, to lift what depends."
FRAME_HEIGHT = 560


@dataclass(frozen=True, kw_only=True)
class Live(Shown):
    """A page in a frame, for notebooks.

    Parameters
    ----------
    page : the HTML document.
    text : what a terminal shows.
    height : of the frame, in pixels.
    """

    page: str
    text: str
    height: int = FRAME_HEIGHT

    def _repr_html_(self) -> str:
        return (f'<iframe sandbox="allow-scripts" width="100%" height="{self.height}" style="border:1px solid #bbb" '
                f'srcdoc="{html.escape(self.page)}"></iframe>')

    def __str__(self) -> str:
        return self.text


def page_of(picture: Picture) -> str:
    """The page of a flat picture."""
    beside = neighbours([panel.colours for panel in picture.panels])
    title = ", ".join(panel.title for panel in picture.panels[:4]) or "picture"
    data = turning_data(picture.turns, groups_of(picture.panels), beside, colouring=picture.colour_by)
    arrows = bool(picture.links) or any(panel.arrows for panel in picture.panels)
    shown = controls(picture.turns, picture.order, groups_of(picture.panels), picture.colour_by)
    return page(title, shown + drawing_of(picture.svg),
                {**data, "names": instance_names(picture), "hint": HINT if arrows else ""})


def instance_names(picture: Picture) -> dict[str, str]:
    """What a reader calls each dot, by what arrows call it."""
    return {place_name(number, place): _instance_text(panel, place)
            for number, panel in enumerate(picture.panels) for place in panel.points}


def _instance_text(panel: Panel, place: Place) -> str:
    """For instance `S0(t = 2, i = 3)`: the name before the title's bracket, then the axes, the outer one first."""
    values = [f"{name} = {round(value)}" for name, value in zip(panel.axes[::-1], place[::-1], strict=True) if name]
    return f"{panel.title.split(' (')[0]}({', '.join(values)})"


def page(title: str, body: str, data: Mapping[str, Any], scripts: Sequence[str] = ()) -> str:
    """A whole document around HTML, with data for its scripts.

    Parameters
    ----------
    body : HTML.
    scripts : texts that run behind page.js, and call `begin()` themselves; it is called where there are none.
    """
    script = "\n".join([script_of_this_folder("page.js"), *(scripts or ["begin();"])])
    return Template(script_of_this_folder("page.html")).substitute(
        title=html.escape(title), body=body, data=as_script(data), script=script)


def script_of_this_folder(name: str) -> str:
    """The text of a file beside this one."""
    return files("polysched.scop.pictures").joinpath(name).read_text(encoding="utf-8")


def as_script(data: Any) -> str:
    """JSON that can stand inside a script element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def drawing_of(svg: str) -> str:
    """The drawing, and the line below that says what is pointed at."""
    return f'<div class="drawing">{svg}</div><p class="said" id="said"></p>'


def turning_data(turns: Mapping[int, Turn], groups: Iterable[int], beside: Mapping[int, set[int]], *,
                 colouring: str = "tile") -> dict[str, Any]:
    """What page.js needs to run tiles in order and to colour them."""
    shown = list(groups)
    return {"turns": {group: [turns[group].step, turns[group].thread] for group in shown if group in turns},
            "last": max((turns[group].step for group in shown if group in turns), default=0),
            "colours": {name: painted_by(name, beside, turns) for name in colourings(turns)}, "colouring": colouring,
            "names": {}, "hint": ""}


def colourings(turns: Mapping[int, Turn]) -> tuple[str, ...]:
    """By what the tiles can be coloured."""
    if not turns:
        return ("tile",)
    return COLOURED_BY if any(turn.thread is not None for turn in turns.values()) else ("tile", "step")


def controls(turns: Mapping[int, Turn], order: str, groups: Iterable[int], colouring: str | None) -> str:
    """A slider over the steps, a choice of colours, and which order it is; nothing where there are no tiles.

    Parameters
    ----------
    colouring : the colours at first; None where there is no choice.
    """
    last = max((turns[group].step for group in groups if group in turns), default=0)
    if not turns or not last:
        return ""
    options = "".join(f'<option value="{name}"{" selected" * (name == colouring)}>{name}</option>'
                      for name in colourings(turns))
    choice = "" if colouring is None else f'<label>colours: <select id="colouring">{options}</select></label>'
    return ('<div class="controls"><button id="play">play</button>'
            f'<input type="range" id="step" min="0" max="{last}" value="{last}" aria-label="step">'
            '<button id="all">all</button><span id="stepsaid"></span>'
            f'{choice}</div>'
            f'<p class="said">{html.escape(order)}</p>')
