"""A timeline as a Gantt chart in SVG: a row per engine, a bar per instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from polysched.gpu.limits import LIMITS
from polysched.gpu.scratchpad.simulation import Run, Timeline

COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2", "#edc948")


def gantt_of(timeline: Timeline) -> str:
    """The chart of a simulated program, with its summary as the title."""
    return gantt(timeline.headline().removeprefix("of "), timeline.engines, timeline.runs)


def gantt(title: str, engines: Sequence[str], runs: Sequence[Run]) -> str:
    """The chart.

    Parameters
    ----------
    runs : the first `limits.most_bars` are drawn; the title says so where there are more.
    """
    width, row, left, top = 960, 22, 72, 24
    shown = runs[:LIMITS.most_bars]
    end = max((run.end for run in shown), default=1)
    height = top + row * len(engines) + 24
    cut = "" if len(shown) == len(runs) else f", the first {len(shown)} of {len(runs)} instructions"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 8} {height}" '
             'font-family="sans-serif" font-size="11">', f'<text x="4" y="14">{escape(title)}{cut}</text>']
    for number, engine in enumerate(engines):
        y = top + row * number
        lines.append(f'<text x="4" y="{y + 14}">{escape(engine)}</text>')
        lines.append(f'<line x1="{left}" x2="{left + width}" y1="{y + row - 1}" y2="{y + row - 1}" stroke="#ddd"/>')
        own = [run for run in shown if run.instruction.engine == engine]
        lines += _bars(own, (left, y + 2, width / end, row - 6), COLOURS[number % len(COLOURS)])
    for tick in range(5):
        x = left + width * tick / 4
        lines.append(f'<text x="{x:.0f}" y="{height - 8}" text-anchor="middle">{end * tick // 4}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _bars(runs: Sequence[Run], place: tuple[float, float, float, float], colour: str) -> Iterator[str]:
    """Bars of one engine; every other tile is lighter."""
    left, y, scale, height = place
    for run in runs:
        own = run.instruction
        title = f"{own.name}, tile {own.tile}: cycles {run.start} to {run.end}"
        width = max(0.5, (run.end - run.start) * scale)
        yield (f'<rect x="{left + run.start * scale:.2f}" y="{y}" width="{width:.2f}" '
               f'height="{height}" fill="{colour}" fill-opacity="{0.6 if own.tile % 2 else 1.0}">'
               f"<title>{escape(title)}</title></rect>")
