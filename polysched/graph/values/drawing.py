"""A graph as a picture: nodes in layers, each below those whose results it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from polysched.graph.limits import LIMITS
from polysched.graph.values.graph import Graph, Node

WIDTH, HEIGHT, GAP = 130, 24, 26
"""Pixels: of a box, and between layers."""


def svg_of(graph: Graph) -> str:
    """The first nodes of a graph as SVG; a line says how many are left out."""
    shown = graph.nodes[:LIMITS.most_drawn_nodes]
    rows = _layers(graph, shown)
    place = {name: (column * (WIDTH + GAP) + WIDTH // 2, depth * (HEIGHT + GAP))
             for depth, row in enumerate(rows) for column, (name, _) in enumerate(row)}
    boxes = [_box(place[name], text, name in graph.outputs) for row in rows for name, text in row]
    left = len(graph.nodes) - len(shown)
    height = len(rows) * (HEIGHT + GAP) + (GAP if left else 0)
    more = f'<text x="0" y="{height - 8}">and {left} more nodes</text>' if left else ""
    width = max(len(row) for row in rows) * (WIDTH + GAP) + 1
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="monospace" '
            f'font-size="11">{"".join(_lines(shown, place))}{"".join(boxes)}{more}</svg>')


def _layers(graph: Graph, shown: Sequence[Node]) -> list[list[tuple[str, str]]]:
    """What stands side by side: inputs, then nodes below what they read; each with its text."""
    layer: dict[str, int] = {}
    rows: list[list[tuple[str, str]]] = [[(name, f"{name}: {its_type}") for name, its_type in graph.inputs]]
    for node in shown:
        depth = 1 + max((layer.get(name, 0) for name in node.used), default=0)
        layer |= dict.fromkeys(node.outputs, depth)
        while len(rows) <= depth:
            rows.append([])
        rows[depth].append((_title(node), f"{_title(node)} = {node.op}"))
    return rows


def _title(node: Node) -> str:
    """The result that a box is called after."""
    return next((o for o in node.outputs if o), "")


def _lines(shown: Sequence[Node], place: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """From every value to its users."""
    boxes = {o: _title(node) for node in shown for o in node.outputs}
    for node in shown:
        for name in node.used:
            source = boxes.get(name, name)
            if source in place:
                yield _line(place[source], place[_title(node)])


def _line(source: tuple[int, int], target: tuple[int, int]) -> str:
    return (f'<line x1="{source[0]}" y1="{source[1] + HEIGHT}" x2="{target[0]}" y2="{target[1]}" '
            f'stroke="currentColor" stroke-opacity="0.5"/>')


def _box(place: tuple[int, int], text: str, is_output: bool) -> str:
    short = text if len(text) <= 19 else f"{text[:18]}…"
    return (f'<g><title>{escape(text)}</title><rect x="{place[0] - WIDTH // 2}" y="{place[1]}" width="{WIDTH}" '
            f'height="{HEIGHT}" fill="none" stroke="currentColor" stroke-width="{2 if is_output else 1}"/>'
            f'<text x="{place[0]}" y="{place[1] + 16}" text-anchor="middle" '
            f'fill="currentColor">{escape(short)}</text></g>')
