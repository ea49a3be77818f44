"""Tuned results as a page of their own: what was gained, the search curve, what mattered, model against measurement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import log10

from polysched.search.importance import importance
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned

WIDTH, HEIGHT, MARGIN = 640, 240, 40
STYLE = "body{font:15px sans-serif;max-width:60em;margin:2em auto}td,th{padding:.2em .8em;text-align:left}"


def page_html(*found: Tuned) -> str:
    """The page, one result below the other; it needs no other file."""
    title = escape(f"tuned {', '.join(one.name for one in found)}")
    return (f"<!doctype html><html><head><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style></head>"
            f"<body>{''.join(map(_part, found))}</body></html>\n")


def _part(found: Tuned) -> str:
    """One result."""
    rows = [(name, f"{share:.0%}") for name, share in importance(found.trials).items()]
    best = sorted((t for t in found.trials if t.ratio), key=lambda t: -(t.ratio or 0.0))[:10]
    return "".join([
        f"<h1>{escape(found.headline().removeprefix('of '))}</h1>",
        *(f"<p>{escape(line)}</p>" for line in found.lines()),
        "<h2>Search curve</h2>", _curve(found.curve),
        "<h2>What mattered</h2>", _table(("choice", "share of the spread that it explains"), rows),
        "<h2>The space</h2>", _table(("choice", "values that were tried"), _space(found.trials)),
        "<h2>Model against measurement</h2>", _scatter(found.trials),
        "<h2>The fastest trials</h2>",
        _table(("times as fast", "recipe"), [(f"{t.ratio:.3f}", str(t.recipe)) for t in best])])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    listed = list(rows)
    if not listed:
        return "<p>Too few trials tell.</p>"
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in listed]
    return (f"<table><tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr>"
            f"{''.join(f'<tr>{line}</tr>' for line in lines)}</table>")


def _space(trials: Sequence[Trial]) -> list[tuple[str, str]]:
    """Every choice that was made, with its values in the order of their first trial."""
    values: dict[str, dict[str, None]] = {}
    for trial in trials:
        for made in trial.trace:
            values.setdefault(made.name, {})[str(made.value)] = None
    return [(name, ", ".join(of)) for name, of in values.items()]


def _curve(curve: Sequence[float]) -> str:
    """The best ratio so far over the trials."""
    if not curve:
        return "<p>There are no trials.</p>"
    points = [(float(k), ratio) for k, ratio in enumerate((1.0, *curve))]
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in _placed(points))
    return _svg(f"<polyline points='{places}' fill='none' stroke='currentColor'/>", "trials",
                f"times as fast as the model's pick, at last {curve[-1]:.3f}")


def _scatter(trials: Sequence[Trial]) -> str:
    """What the projected model said against what was measured, both in logarithms of seconds."""
    points = [(log10(t.predicted_seconds), log10(t.seconds)) for t in trials if t.predicted_seconds and t.seconds]
    if len(points) < 2:
        return "<p>Too few trials tell.</p>"
    dots = "".join(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='currentColor'/>" for x, y in _placed(points))
    return _svg(dots, "predicted seconds (logarithm)", "measured seconds (logarithm)")


def _placed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The places of points in the picture."""
    (left, right), (low, high) = ((min(p[k] for p in points), max(p[k] for p in points)) for k in (0, 1))
    across, up = right - left or 1.0, high - low or 1.0
    return [(MARGIN + (x - left) / across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - (y - low) / up * (
        HEIGHT - 2 * MARGIN)) for x, y in points]


def _svg(inside: str, below: str, beside: str) -> str:
    return (f"<svg width='{WIDTH}' height='{HEIGHT}' role='img'><path d='M{MARGIN} {MARGIN}V{HEIGHT - MARGIN}"
            f"H{WIDTH - MARGIN}' fill='none' stroke='gray'/>{inside}<text x='{WIDTH // 2}' y='{HEIGHT - 8}'>"
            f"{escape(below)}</text><text x='{MARGIN}' y='24'>{escape(beside)}</text></svg>")
