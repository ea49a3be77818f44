"""The plots of a report, for the page (as SVG that follows the page's colours) and for papers (as PDF)."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polysched.measure.timing.statistics import ratio_text
from polysched.records import dataclass
from polysched.report.entry import OURS, Entry, TileTime, Variant
from polysched.report.extras import required

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Paul Tol's bright scheme: seven colours that colour-blind readers tell apart."""
INK, FAINT, PAPER = "#010203", "#040506", "#070809"
"""Stand-ins in the SVG for the page's text colour, line colour and background."""
WIDTH_INCHES = 5.4
ROW_INCHES = 0.2
MOST_BARS = 40
MANY_MARKS = 2000
GAP_POINTS, LETTER_POINTS, LINE_POINTS = 5, 4.6, 10   # of the names in a roofline: from the point, wide, high
NEAR_ROOFS = 1.3   # bandwidths this close have lines and labels upon each other
STYLE = {"font.size": 9, "font.family": "sans-serif", "svg.fonttype": "none", "pdf.fonttype": 42, "axes.linewidth": 0.6,
         "axes.spines.top": False, "axes.spines.right": False, "xtick.major.width": 0.6, "ytick.major.width": 0.6}


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A plot that is drawn when it is needed.

    Parameters
    ----------
    name : of its file, without the ending.
    caption : for the page; says what is drawn and how it is to be read.
    """

    name: str
    caption: str
    figure: Figure


def plots(entries: Sequence[Entry], *, paper: bool = False) -> tuple[Plot, ...]:
    """Every plot that the results allow.

    Parameters
    ----------
    paper : black on white; otherwise with stand-ins for the page's colours.
    """
    with _style(paper):
        return (*_speed_ups(entries), *_rooflines(entries), *_heat_maps(entries))


def svg_of(plot: Plot) -> str:
    """The plot as an SVG element that takes its colours from the page."""
    out = io.StringIO()
    matplotlib = required("matplotlib")
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": plot.name}):
        plot.figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    text = out.getvalue()
    return themed(text[text.index("<svg"):], plot.name)


def themed(svg: str, title: str) -> str:
    """Put the page's colours in place of the stand-ins, and let the picture shrink with the page."""
    svg = svg.replace("xlink:href=", "href=")
    for colour, variable in ((INK, "--ink"), (FAINT, "--line"), (PAPER, "--paper")):
        svg = svg.replace(colour, f"var({variable})")
    svg = re.sub(r'<svg [^>]*viewBox="([^"]+)"[^>]*>', lambda found: (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{title}" viewBox="{found[1]}" style="width:{float(found[1].split()[2]) * 4 / 3:.0f}px">'),
        svg, count=1)
    return re.sub(r"<metadata>.*?</metadata>", "", svg, count=1, flags=re.DOTALL)


def _style(paper: bool) -> Any:
    matplotlib = required("matplotlib")
    ink, line, background = ("black", "#cccccc", "white") if paper else (INK, FAINT, PAPER)
    return matplotlib.rc_context({**STYLE, "text.color": ink, "axes.edgecolor": ink, "axes.labelcolor": ink,
                                  "xtick.color": ink, "ytick.color": ink, "grid.color": line,
                                  "axes.facecolor": "none", "figure.facecolor": background,
                                  "legend.frameon": False, "savefig.facecolor": background})


def _new(height: float, *, columns: int = 1, width: float = WIDTH_INCHES) -> tuple[Figure, list[Axes]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def _speed_ups(entries: Sequence[Entry]) -> Iterator[Plot]:
    """Horizontal bars with intervals, one figure per experiment, number of threads and reference."""
    keys = dict.fromkeys((e.group, e.threads, e.reference) for e in entries if e.compared())
    for group, threads, reference in keys:
        chosen = [e for e in entries if (e.group, e.threads, e.reference) == (group, threads, reference)
                  and e.compared()]
        title = " ".join(part for part in (group, f"{threads} thread{'s' * (threads > 1)}") if part)
        yield Plot(
            name="speed-up" + (f"-{slug(title)}" if len(keys) > 1 else ""), figure=_compared(chosen, reference),
            caption=f"Speed-up over {reference}, {title}: the median of the paired ratios; the thin line is its "
                    f"confidence interval. Further to the right is faster; at 1 both take the same time.")


def _compared(entries: Sequence[Entry], reference: str) -> Figure:
    """Bars, or dots where bars would fill a page."""
    names = list(dict.fromkeys(v.name for e in entries for v in e.compared()))
    return _bars(entries, reference) if len(names) * len(entries) <= MOST_BARS else _dots(entries, reference, names)


def _dots(entries: Sequence[Entry], reference: str, names: Sequence[str]) -> Figure:
    """One row per result, a dot per variant, ours in the foreground.

    Source: W. S. Cleveland, The Elements of Graphing Data, 1985.
    """
    figure, (axes,) = _new(ROW_INCHES * len(entries) + 1.1)
    colours = _colours(names)
    values = [v.speed_up or 0.0 for e in entries for v in e.compared()]
    ink = axes.xaxis.label.get_color()
    for at, entry in enumerate(entries):
        axes.axhline(at, color=axes.xaxis.get_gridlines()[0].get_color(), linewidth=0.5, zorder=0)
        for variant in entry.compared():
            ours = variant.name.partition("@")[0] == OURS
            front = 4 if ours else 3
            if variant.interval is not None:
                axes.plot([max(variant.interval.low, min(values) / 2), variant.interval.high], [at, at], zorder=front,
                          color=colours[variant.name], linewidth=1.2)
            axes.plot(variant.speed_up or 0.0, at, "o", color=colours[variant.name], markersize=5.5 if ours else 4,
                      zorder=front, markeredgecolor=ink if ours else "none", markeredgewidth=0.7)
    axes.set_yticks(range(len(entries)), [_shortened(entry.title) for entry in entries])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(entries) - 0.4, -0.6)
    axes.axvline(1, linewidth=0.8, color=ink, zorder=1)
    axes.set_xlabel(f"times as fast as {reference}")
    _logarithmic(axes, max(min(values), 1e-3), max(values) * 1.3)
    _legend(figure, colours)
    return figure


def _colours(names: Sequence[str]) -> dict[str, str]:
    """A colour per variant; ours has the first one in every plot."""
    ours_first = sorted(names, key=lambda name: name.partition("@")[0] != OURS)
    chosen = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(ours_first)}
    return {name: chosen[name] for name in names}


def _range(variants: Sequence[Variant]) -> tuple[float, float]:
    """The least speed-up, and the largest that an interval reaches."""
    return (min(v.speed_up or 0 for v in variants),
            max(v.interval.high if v.interval else v.speed_up or 0 for v in variants))


def _bars(entries: Sequence[Entry], reference: str) -> Figure:
    """One row per result and variant."""
    names = list(dict.fromkeys(v.name for e in entries for v in e.compared()))
    colours = _colours(names)
    rows = sum(len(names) + 0.6 for _ in entries)
    figure, (axes,) = _new(ROW_INCHES * rows + 0.9)
    at, ticks = 0.0, []
    least, largest = _range([v for e in entries for v in e.compared()])
    logarithmic = largest / max(least, 1e-9) > 8 and least > 0
    for entry in entries:
        ticks.append((at + (len(names) - 1) / 2, entry.title))
        first_of: dict[str, Variant] = {}
        for variant in entry.compared():
            first_of.setdefault(variant.name, variant)
        for number, name in enumerate(names):
            if name in first_of:
                _bar(axes, at + number, first_of[name], colours[name], logarithmic)
        at += len(names) + 0.6
    axes.set_yticks([place for place, _ in ticks], [_shortened(title) for _, title in ticks])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(at - 0.6, -0.8)
    axes.axvline(1, linewidth=0.8, color=axes.xaxis.label.get_color())
    axes.set_xlabel(f"times as fast as {reference}")
    if logarithmic:
        _logarithmic(axes, min(least, 1.0), largest * 1.6)
    else:
        axes.set_xlim(0, largest * 1.15)
    if len(names) > 1:
        _legend(figure, colours)
    return figure


def _bar(axes: Axes, y: float, variant: Variant, colour: str, logarithmic: bool) -> None:
    value, interval = variant.speed_up or 0.0, variant.interval
    start = 1.0 if logarithmic else 0.0
    axes.barh(y, value - start, left=start, height=0.9, color=colour)
    ink = axes.xaxis.label.get_color()
    if interval is not None:
        axes.plot([interval.low, interval.high], [y, y], color=ink, linewidth=1.4, solid_capstyle="butt")
    at = max(value, interval.high if interval is not None else value, start)
    axes.annotate(ratio_text(value) if value < 10 else f"{value:.1f}", (at, y), xytext=(4, 0),
                  textcoords="offset points", va="center", fontsize=8, color=ink)


def _logarithmic(axes: Axes, low: float, high: float) -> None:
    """A logarithmic axis with round numbers on it."""
    axes.set_xscale("log")
    axes.set_xlim(low * 0.8, high)
    mantissas = (1, 2, 5) if high / low < MANY_MARKS else (1,)
    marks = [mantissa * 10.0**power for power in range(-4, 6) for mantissa in mantissas
             if low * 0.8 <= mantissa * 10.0**power <= high]
    axes.set_xticks(marks, [f"{m:g}" for m in marks])
    axes.minorticks_off()


def _legend(figure: Figure, colours: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch
    figure.legend(handles=[Patch(color=colour, label=name) for name, colour in colours.items()],
                  loc="outside upper center", ncols=min(4, len(colours)), fontsize=8)


def _rooflines(entries: Sequence[Entry]) -> Iterator[Plot]:
    """Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009; one figure per number of threads and type."""
    usable = [e for e in entries if e.roof() is not None and any(e.rate(v) for v in e.variants)]
    keys = dict.fromkeys((e.threads, e.dtype, e.provenance.machine.identity) for e in usable)
    for threads, dtype, machine in keys:
        chosen = [e for e in usable if (e.threads, e.dtype, e.provenance.machine.identity) == (threads, dtype, machine)]
        suffix = f"-{dtype}-{threads}" if len(keys) > 1 else ""
        yield Plot(
            name=f"roofline{suffix}", figure=_roofline(chosen),
            caption=f"Roofline of {chosen[0].provenance.machine.cpu} for {dtype}, {threads} thread{'s' * (threads > 1)}"
                    ": operations per second against operations per byte that has to move at least (every element "
                    "once). The roofs are those that polysched machine measured; a result above memory's roof works "
                    "out of a cache. Hollow: the reference, filled: the other variants.")


def _roofline(entries: Sequence[Entry]) -> Figure:
    figure, (axes,) = _new(4.0)
    ink = axes.xaxis.label.get_color()
    points = [(e, v, e.intensity or 0.0, (e.rate(v) or 0.0) / 1e9) for e in entries for v in e.variants if e.rate(v)]
    first = entries[0]
    peak = (first.peak or 0.0) / 1e9
    low, high = _intensities(first, [x for _, _, x, _ in points])
    axes.axhline(peak, color=ink, linewidth=1)
    axes.annotate(f"peak {peak:.0f} GFLOP/s", (high, peak), xytext=(-2, 3), textcoords="offset points", ha="right",
                  fontsize=8)
    found = roofs(first)
    for (name, bandwidth), label in zip(found, roof_labels(found), strict=True):
        _roof(axes, name, label, bandwidth / 1e9, peak, low)
    colours = _colours(list(dict.fromkeys(v.name for e, v, _, _ in points if v.name != e.reference)))
    _scatter(axes, points, colours)
    axes.set(xscale="log", yscale="log", xlim=(low, high), xlabel="operations per byte", ylabel="GFLOP/s",
             ylim=(min(peak / 100, *(y / 3 for *_, y in points)), peak * 8))
    _label_points(axes, points)
    if len(colours) > 1:
        _legend(figure, colours)
    return figure


def _intensities(entry: Entry, own: Sequence[float]) -> tuple[float, float]:
    """The range of operations per byte that a roofline shows: the ridge of memory's roof, and all points."""
    ridge = (entry.peak or 0.0) / (entry.memory_bandwidth or 1.0)
    return min(ridge / 30, *(x / 3 for x in own)), max(ridge * 6, *(x * 3 for x in own))


def _scatter(axes: Axes, points: Sequence[tuple[Entry, Variant, float, float]], colours: Mapping[str, str]) -> None:
    """The points of a roofline: the reference hollow, the other variants filled with their colours."""
    ink = axes.xaxis.label.get_color()
    for entry, variant, x, y in points:
        hollow = variant.name == entry.reference
        axes.scatter(x, y, s=26, facecolor="none" if hollow else colours[variant.name], zorder=3, linewidth=0.8,
                     edgecolor=ink if hollow else colours[variant.name])


def roofs(entry: Entry) -> list[tuple[str, float]]:
    """The measured bandwidths that hold for this many threads, by level, in bytes per second.

    Private caches (all but the last level) of several threads count once per thread.
    """
    peaks = entry.peaks
    if peaks is None:
        return []
    levels = sorted(level for level in peaks.bandwidth if level)
    found = [(f"L{level}", peaks.bandwidth[level] * entry.threads) for level in levels
             if entry.threads == 1 or level != levels[-1]]
    return [*found, *((("memory", entry.memory_bandwidth),) if entry.memory_bandwidth else ())]


def roof_labels(found: Sequence[tuple[str, float]]) -> list[str]:
    """What stands at each roof; roofs that lie upon each other share the label of the last of them."""
    labels, together = [], list[str]()
    for position, (name, bandwidth) in enumerate(found):
        together.append(f"{name} {bandwidth / 1e9:.0f}")
        following = found[position + 1][1] if position + 1 < len(found) else math.inf
        if max(bandwidth, following) < NEAR_ROOFS * min(bandwidth, following):
            labels.append("")
        else:
            labels.append(f"{', '.join(together)} GB/s")
            together.clear()
    return labels


def _roof(axes: Axes, name: str, label: str, bandwidth: float, peak: float, low: float) -> None:
    ink = axes.xaxis.label.get_color()
    style = "-" if name == "memory" else ":"
    axes.plot([low, peak / bandwidth], [low * bandwidth, peak], color=ink, linewidth=0.9, linestyle=style)
    axes.annotate(label, (peak / bandwidth, peak), xytext=(2, 3), textcoords="offset points",
                  fontsize=7.5, rotation=35, rotation_mode="anchor")


def _label_points(axes: Axes, points: Sequence[tuple[Entry, Variant, float, float]]) -> None:
    """The kernel's name beside its fastest point, as far as the names do not lie upon each other.

    Where one would leave the plot on the right, it stands on the left.
    """
    scale = 72 / axes.figure.dpi
    edge = axes.transAxes.transform((1, 0))[0] * scale
    taken: list[tuple[float, float, float]] = []
    best: dict[int, tuple[Entry, float, float]] = {}
    for entry, variant, x, y in points:
        if variant.name != entry.reference and (id(entry) not in best or y > best[id(entry)][2]):
            best[id(entry)] = (entry, x, y)
    for entry, x, y in sorted(best.values(), key=lambda p: -p[2]):
        name = _shortened(entry.kernel, 16)
        at, height = axes.transData.transform((x, y)) * scale
        on_left, width = at + GAP_POINTS + LETTER_POINTS * len(name) > edge, LETTER_POINTS * len(name)
        left = at - GAP_POINTS - width if on_left else at + GAP_POINTS
        if all(left + width < a or b < left or abs(height - other) > LINE_POINTS for a, b, other in taken):
            taken.append((left, left + width, height))
            axes.annotate(name, (x, y), xytext=(-GAP_POINTS if on_left else GAP_POINTS, -3),
                          textcoords="offset points", ha="right" if on_left else "left", fontsize=7.5)


def _heat_maps(entries: Sequence[Entry]) -> Iterator[Plot]:
    for entry in entries:
        if len({t.edges for t in entry.tiles}) > 1:
            predicted = any(t.predicted_seconds is not None for t in entry.tiles)
            notes = " Framed: the model's pick." if any(t.is_pick for t in entry.tiles) else ""
            tiles, fixed = varying_edges(entry.tiles)
            grid = len({t.edges[:-1] for t in tiles}) * len({t.edges[-1] for t in tiles})
            notes += " Empty: not tried." if len({t.edges for t in tiles}) < grid else ""
            columns = "innermost edge that varies" if fixed else "innermost edge"
            yield Plot(
                name=f"tiles-{slug(entry.kernel)}", figure=_heat_map(tiles, columns),
                caption=f"Tile sizes of {entry.kernel}: seconds over those of the best tile (1.0)"
                        f"{', measured, and as the model predicts over its own best' if predicted else ''}. Columns: "
                        f"the {columns}, rows: the edges around it{f' that vary; {fixed}' if fixed else ''}.{notes}")


def varying_edges(tiles: Sequence[TileTime]) -> tuple[tuple[TileTime, ...], str]:
    """The tiles with the edges in which they differ, and in words what the others are: `edge 1 is 4`."""
    columns = list(zip(*(t.edges for t in tiles), strict=False))
    varying = [k for k, edges in enumerate(columns) if len(set(edges)) > 1]
    if len({len(t.edges) for t in tiles}) > 1 or len(varying) == len(columns):
        return tuple(tiles), ""
    fixed = ", ".join(f"edge {k + 1} is {edges[0]}" for k, edges in enumerate(columns) if k not in varying)
    return tuple(replace(t, edges=tuple(t.edges[k] for k in varying)) for t in tiles), fixed


def _heat_map(tiles: Sequence[TileTime], columns: str) -> Figure:
    outer = sorted({t.edges[:-1] for t in tiles})
    inner = sorted({t.edges[-1] for t in tiles})
    panels = [("measured", [t.seconds for t in tiles])]
    if all(t.predicted_seconds is not None for t in tiles):
        panels.append(("predicted", [t.predicted_seconds or 0.0 for t in tiles]))
    figure, every = _new(0.27 * len(outer) + 0.95, columns=len(panels),
                         width=min(7.0, 1.1 + (0.42 * len(inner) + 0.3) * len(panels)) if len(inner) > 1 else 3.4)
    for number, (axes, (name, seconds)) in enumerate(zip(every, panels, strict=True)):
        _panel(axes, tiles, seconds, outer, inner)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel(columns)
        axes.set_yticks(range(len(outer)), [" × ".join(map(str, o)) or "all" for o in outer] if not number else
                        [""] * len(outer))
    return figure


def _panel(axes: Axes, tiles: Sequence[TileTime], seconds: Sequence[float], outer: Sequence[tuple[int, ...]],
           inner: Sequence[int]) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle
    best = min(seconds)
    worst = max(max(seconds) / best, 1.5)
    shades = colormaps["viridis_r"]
    for tile, taken in zip(tiles, seconds, strict=True):
        x, y = inner.index(tile.edges[-1]), outer.index(tile.edges[:-1])
        shade = math.log(taken / best) / math.log(worst)
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shades(shade), linewidth=0))
        axes.text(x, y, f"{taken / best:.1f}", ha="center", va="center", fontsize=8,
                  color="black" if shade < 0.5 else "white")
    ink = axes.xaxis.label.get_color()
    for tile in tiles:
        if tile.is_pick:
            corner = inner.index(tile.edges[-1]) - 0.45, outer.index(tile.edges[:-1]) - 0.45
            axes.add_patch(Rectangle(corner, 0.9, 0.9, fill=False, edgecolor=ink, linewidth=1.6))
    axes.set_xlim(-0.5, len(inner) - 0.5)
    axes.set_ylim(len(outer) - 0.5, -0.5)
    axes.set_xticks(range(len(inner)), [str(edge) for edge in inner])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def slug(text: str) -> str:
    """Text as a part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "plot"


def _shortened(text: str, most: int = 34) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
