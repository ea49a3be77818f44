"""Plots that several experiments draw, and writing them; needs the optional extra `plot` (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.errors import OutputError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#1b6ca8", "#c0392b", "#27803b", "#8e44ad", "#b9770e", "#117a8b", "#5d6d7e", "#d35490")
BAR_WIDTH = 0.8
LABEL_INCHES = 0.07   # of height for every character of the longest name under the bars


def new_figure(*, width: float = 8.0, height: float = 4.0) -> tuple[Figure, Any]:
    """A figure of one plot, size in inches, that belongs to no window.

    Raises
    ------
    UsageError : matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("a plot needs matplotlib", hint="python -m pip install 'polysched[plot]'") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


@dataclass(frozen=True, kw_only=True)
class BarPanel:
    """One plot of a group of bars per workload, one colour per variant.

    Parameters
    ----------
    series : by variant, a value per workload; None leaves a gap.
    line_at : draw a horizontal line there.
    """

    series: Mapping[str, Sequence[float | None]]
    ylabel: str
    logarithmic: bool = False
    line_at: float | None = None


def grouped_bars(groups: Sequence[str], series: Mapping[str, Sequence[float | None]], *, ylabel: str,
                 logarithmic: bool = False, line_at: float | None = None) -> Figure:
    """A figure of one `BarPanel`."""
    return bar_panels(groups, [BarPanel(series=series, ylabel=ylabel, logarithmic=logarithmic, line_at=line_at)])


def bar_panels(groups: Sequence[str], panels: Sequence[BarPanel]) -> Figure:
    """Panels above each other over the same workloads, whose names stand below the last one."""
    most = max(len(panel.series) for panel in panels)
    figure, first = new_figure(width=max(6.0, 0.16 * len(groups) * (most + 1)),
                               height=2.6 * len(panels) + LABEL_INCHES * max(map(len, groups)))
    first.remove()
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(len(panels), 1, number + 1)
        _draw(axes, panel)
        axes.set_xticks(range(len(groups)), groups if number == len(panels) - 1 else [], rotation=60, ha="right")
        axes.set_xlim(-0.6, len(groups) - 0.4)
    return figure


def _draw(axes: Any, panel: BarPanel) -> None:
    width = BAR_WIDTH / max(1, len(panel.series))
    for number, (name, values) in enumerate(panel.series.items()):
        places = [g + (number - (len(panel.series) - 1) / 2) * width for g, v in enumerate(values) if v is not None]
        axes.bar(places, [v for v in values if v is not None], width=width, label=name,
                 color=COLOURS[number % len(COLOURS)])
    axes.set_ylabel(panel.ylabel)
    if panel.logarithmic:
        axes.set_yscale("log")
    if panel.line_at is not None:
        axes.axhline(panel.line_at, color="black", linewidth=0.8)
    axes.legend(fontsize="small", ncols=min(4, len(panel.series)))


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the ending chooses the format.  The same figure gives the same file.

    Raises
    ------
    OutputError : it cannot be written.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    FigureCanvasAgg(figure)
    kind = path.suffix.removeprefix(".")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    try:
        with matplotlib.rc_context({"svg.hashsalt": "polysched"}):
            figure.savefig(path, metadata=metadata)
    except (OSError, ValueError) as error:
        raise OutputError(f"the plot cannot be written: {error}", where=str(path),
                          hint="endings are .svg, .pdf and .png") from None
