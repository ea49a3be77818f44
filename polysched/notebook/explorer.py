"""The explorer: widgets around an `Exploration`.

Sliders for tile sizes and parameters, a drop-down of the legal next steps; the picture, the C and the predicted
cost follow.  Everything is computed in the kernel; nothing comes from the network.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from polysched.errors import PolyschedError, UsageError
from polysched.notebook.exploration import Exploration, begin, size_count, sizes_of
from polysched.scheduling.schedule import Schedule
from polysched.scop.html import paragraph

LARGEST_PARAMETER = 40
LARGEST_SIZE = 64
WRAPPED = {"flex_flow": "row wrap"}


def explore(schedule: Schedule, *, parameters: Mapping[str, int] | None = None,
            assumed: Mapping[str, int] | None = None, axes: tuple[str, str] | None = None) -> Explorer:
    """Explore schedules by hand in a notebook.

    Parameters
    ----------
    schedule : where to begin, for instance `scheduling.original(dependences)`.
    parameters : sizes of the picture at first.
    assumed : sizes that the predicted cost is for; typical ones where none is given.
    axes : the picture's iterators, horizontal and vertical; the two innermost otherwise.

    Returns
    -------
    explorer : shows itself at the end of a cell; `explorer.schedule` is the schedule so far.

    Raises
    ------
    UsageError : ipywidgets is not installed.
    """
    try:
        widgets = importlib.import_module("ipywidgets")
    except ImportError:
        raise UsageError("the explorer needs ipywidgets: pip install 'polysched[notebook]'") from None
    return Explorer(begin(schedule, parameters=parameters, assumed=assumed, axes=axes), widgets)


class Explorer:
    """The widgets; `state` is what they show.

    Parameters
    ----------
    state : the first state.
    widgets : the module ipywidgets.
    """

    def __init__(self, state: Exploration, widgets: Any) -> None:
        self.state = state
        self._widgets = widgets
        self.parameter_sliders = {
            name: self._slider(name, value, LARGEST_PARAMETER, self._redraw) for name, value in
            state.parameters.items()}
        self.size_sliders: dict[tuple[int, int], Any] = {}
        self.steps = widgets.Dropdown(description="next step", layout={"width": "420px", "max_width": "100%"})
        self.apply_button = widgets.Button(description="apply", button_style="primary", layout={"width": "80px"})
        self.back_button = widgets.Button(description="undo", layout={"width": "80px"})
        self.apply_button.on_click(lambda _: self._change(self._chosen))
        self.back_button.on_click(lambda _: self._change(lambda: self.state.back()))
        self.history, self.message, self.picture, self.cost, self.code = (widgets.HTML() for _ in range(5))
        self.sizes = widgets.VBox()
        planes = [("the innermost loops", ()), *((f"{inner} across, {outer} up", (inner, outer))
                                                 for inner, outer in state.planes())]
        self.axes = widgets.Dropdown(description="picture of", layout={"width": "320px"}, value=state.axes or (),
                                     options=planes)
        self.axes.observe(self._redraw, names="value")
        self.view = widgets.VBox([
            widgets.HBox([self.steps, self.apply_button, self.back_button], layout=WRAPPED), self.message, self.history,
            widgets.HBox([widgets.VBox([self.axes, *self.parameter_sliders.values(), self.sizes]), self.picture],
                         layout=WRAPPED),
            self.cost, self.code])
        self._rebuild()

    @property
    def schedule(self) -> Schedule:
        """The schedule so far."""
        return self.state.schedule

    def __str__(self) -> str:
        return str(self.state)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = self.view._repr_mimebundle_(**options)
        return {**bundle, "text/plain": str(self.state)} if isinstance(bundle, dict) else bundle

    def _slider(self, name: str, value: int, largest: int, on_change: Callable[[Any], None]) -> Any:
        slider = self._widgets.IntSlider(value=value, min=1, max=max(largest, 2 * value), description=name,
                                         continuous_update=False, layout={"width": "320px", "max_width": "100%"},
                                         style={"description_width": "110px"})
        slider.observe(on_change, names="value")
        return slider

    def _chosen(self) -> Exploration:
        step = self.steps.value
        return self.state if step is None else self.state.then(step)

    def _change(self, change: Callable[[], Exploration]) -> None:
        """Take another state and show it; a refusal is shown instead."""
        if self._take(change):
            self._rebuild()

    def _take(self, change: Callable[[], Exploration]) -> bool:
        try:
            self.state = change()
        except PolyschedError as refusal:
            self.message.value = paragraph(str(refusal))
            return False
        self.message.value = ""
        return True

    def _rebuild(self) -> None:
        """New sliders for the sizes of the steps, and a new list of next steps."""
        steps = self.state.steps
        self.size_sliders = {
            (position, number): self._slider(name, sizes_of(steps[position])[number], LARGEST_SIZE, self._resize)
            for (position, number), name in self.state.size_names().items()}
        self.sizes.children = tuple(self.size_sliders.values())
        self._list_steps()
        self._show()

    def _list_steps(self) -> None:
        said = self.steps.label
        offered = self.state.next_steps()
        self.steps.options = list(offered.items())
        if offered:
            self.steps.label = said if said in offered else next(iter(offered))

    def _resize(self, _: Any) -> None:
        state = self.state
        for position, step in enumerate(state.steps):
            wanted = tuple(self.size_sliders[position, n].value for n in range(size_count(step)))
            if wanted != sizes_of(step):
                self._take(lambda p=position, w=wanted: self.state.resized(p, w))  # type: ignore[misc]
        self._show()   # the offered steps stay: they name loops by position, and are checked when they are applied

    def _redraw(self, _: Any) -> None:
        values = {name: slider.value for name, slider in self.parameter_sliders.items()}
        self._take(lambda: self.state.drawn_for(**values).seen_along(self.axes.value or None))
        self.picture.value = self.state.picture_html()

    def _show(self) -> None:
        self.history.value = paragraph("; ".join(self.state.said()) or "no step yet")
        self.picture.value = self.state.picture_html()
        self.cost.value = self.state.cost_html()
        self.code.value = self.state.c_html()
