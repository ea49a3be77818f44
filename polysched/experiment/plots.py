"""Plots that several experiments draw, and writing them; needs the optional extra `plot` (matplotlib)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.errors import OutputError, UsageError
from polysched.records import dataclass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#1b6ca8", "#c0392b", "#27803b", "#8e44ad", "#b9770e", "#117a8b", "#5d6d7e", "#d35490",
           "#1c1c1c", "#7d9029")
BAR_WIDTH = 0.8
LEGEND_COLUMNS = 4
LEAST_LABELLED = 0.02   # shorter pieces of a bar have no room for their count
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
        plain_ticks(axes.yaxis)
    if panel.line_at is not None:
        axes.axhline(panel.line_at, color="black", linewidth=0.8)
    axes.legend(fontsize="small", ncols=min(4, len(panel.series)))


def plain_ticks(axis: Any) -> None:
    """Numbers instead of powers of ten at the ticks of a logarithmic axis; between those only where it is short."""
    axis.set_major_formatter("{x:g}")
    low, high = axis.get_view_interval()
    axis.set_minor_formatter("{x:g}" if high < 10 * low else "")


def counted_bars(rows: Mapping[str, Mapping[str, int]], *, xlabel: str) -> Figure:
    """A horizontal bar per row, the first one on top, made of the counts of its kinds in one colour per kind.

    Parameters
    ----------
    rows : by what the bar is for, how many there are of each kind.
    """
    kinds = list(dict.fromkeys(kind for counts in rows.values() for kind, count in counts.items() if count))
    longest = max((sum(counts.values()) for counts in rows.values()), default=0)
    figure, axes = new_figure(width=7.0, height=1.2 + 0.3 * len(rows) + 0.2 * math.ceil(len(kinds) / LEGEND_COLUMNS))
    ends = [0] * len(rows)
    for number, kind in enumerate(kinds):
        counts = [counts.get(kind, 0) for counts in rows.values()]
        bars = axes.barh(range(len(rows)), counts, left=ends, label=kind, color=COLOURS[number % len(COLOURS)])
        axes.bar_label(bars, [str(n) if n > LEAST_LABELLED * longest else "" for n in counts], label_type="center",
                       color="white", fontsize="small")
        ends = [end + n for end, n in zip(ends, counts, strict=True)]
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.set_xlabel(xlabel)
    if kinds:
        figure.legend(fontsize="small", ncols=LEGEND_COLUMNS, loc="outside upper center")
    return figure


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
