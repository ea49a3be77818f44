"""Pictures of iteration domains: dots on a grid, as self-contained SVG.

`Panel` collects what one statement shows: its instances as dots, arrows between them, and for each instance
the group that it is coloured as (the tile it belongs to).  A `Link` is an arrow from one panel to another.  Later
rooms add arrows and groups; this file only knows points.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.html import SHRINKS, drawing
from polysched.scop.points import box_size, fix_parameters, points_of
from polysched.scop.provided import provided
from polysched.scop.scop import Scop, Statement
from polysched.scop.shown import Shown

CELL = 26
RADIUS = 4
MARGIN = 34
LEGEND = 16
MANY_ARROWS = 100
MOST_POINTS = 2500
MOST_POINTS_OF_BOX = 40 * MOST_POINTS  # of a domain's bounding box, before its points are listed
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Paul Tol's bright scheme: seven colours that colour-blind readers tell apart."""

Point = tuple[int, ...]
Place = tuple[float, float]


def svg_document(body: str, *, width: int, height: int, font: str = "sans-serif", font_size: float = 12,
                 shrinks: bool = True) -> str:
    """A self-contained SVG document on white.

    Parameters
    ----------
    shrinks : becomes smaller with a narrow page; otherwise its text keeps its size, and the page scrolls it.
    """
    fit = SHRINKS if shrinks else ""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'style="{fit}background:#fff" font-family="{font}" font-size="{font_size}">'
            f'{body}</svg>')


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A slice of two dimensions: two iterators of a statement, or two dimensions of a schedule.

    Parameters
    ----------
    title : drawn above.
    axes : names of the horizontal and the vertical dimension.
    points : instances in the slice, as (horizontal, vertical).  Of several that share a whole place, as statements
        in schedule space do, each is moved by less than half a step.
    arrows : pairs of such points, from source to sink.
    colours : the group, for instance the tile, of a whole place; neighbouring groups get different colours, and a
        group has the same one in all panels.
    inks : colours of the dots that are not black, by point.
    legend : what the dots' colours mean: (colour, text).
    """

    title: str
    axes: tuple[str, str]
    points: tuple[Place, ...]
    arrows: tuple[tuple[Place, Place], ...] = ()
    colours: Mapping[tuple[int, int], int] = field(default_factory=dict)
    inks: Mapping[Place, str] = field(default_factory=dict)
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Link:
    """An arrow between two panels, named by their positions in the picture."""

    source_panel: int
    source: Place
    sink_panel: int
    sink: Place


@dataclass(frozen=True, kw_only=True)
class Picture(Shown):
    """Panels side by side; a notebook shows it, `svg` is the text.

    Parameters
    ----------
    links : arrows between panels.
    note : what a reader must know, below the picture.
    """

    panels: tuple[Panel, ...]
    links: tuple[Link, ...] = ()
    note: str = ""

    @property
    def svg(self) -> str:
        """A self-contained SVG document."""
        grids, parts, x, tallest = [], [], 0, 0
        paint = painted(self)
        for panel in self.panels:
            grid = _Grid(panel)
            parts.append(f'<g transform="translate({x},0)">{_draw(panel, grid, paint)}</g>')
            grids.append((x, grid))
            x, tallest = x + grid.width, max(tallest, grid.height)
        parts.append('<g fill="none" stroke="#aa3377" stroke-width="1.2" marker-end="url(#link)">')
        for link in self.links:
            (x1, first), (x2, second) = grids[link.source_panel], grids[link.sink_panel]
            source, sink = first.at(link.source), second.at(link.sink)
            parts.append(_curve((x1 + source[0], source[1]), (x2 + sink[0], sink[1])))
        parts.append("</g>")
        if self.note:
            parts.append(f'<text x="{MARGIN}" y="{tallest + 12}" fill="#555">{html.escape(self.note)}</text>')
            tallest, x = tallest + 22, max(x, MARGIN + 7 * len(self.note))
        return svg_document(_ARROW_HEADS + "".join(parts), width=x, height=tallest)

    @property
    def tikz(self) -> str:
        """The picture as TikZ, for papers."""
        text: str = provided("scop", "Picture.tikz")(self)
        return text

    def _repr_html_(self) -> str:
        return drawing(self.svg, alt=str(self))

    def __str__(self) -> str:
        """What is drawn, one line per panel."""
        lines = [f"{p.title}: {len(p.points)} instances, {len(p.arrows)} arrows, "
                 f"{len(set(p.colours.values()))} tiles" for p in self.panels]
        between = [f"{len(self.links)} arrows between statements"] if self.links else []
        return "".join(f"{line}\n" for line in (*lines, *between, *([self.note] if self.note else [])))


_ARROW_HEADS = "<defs>" + "".join(
    f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
    f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
    for name, colour in (("head", "#555"), ("link", "#aa3377"))) + "</defs>"


class _Grid:
    """Where the points of a panel lie in its drawing."""

    def __init__(self, panel: Panel) -> None:
        xs, ys = [round(p[0]) for p in panel.points] or [0], [round(p[1]) for p in panel.points] or [0]
        self.left, self.bottom = min(xs), min(ys)
        self.columns, self.rows = max(xs) - self.left + 1, max(ys) - self.bottom + 1
        self.width = max(self.columns * CELL + 2 * MARGIN, 7 * len(panel.title) + MARGIN + 8)
        self.height = self.rows * CELL + 2 * MARGIN + LEGEND * len(panel.legend)

    def at(self, point: Place) -> Place:
        """The middle of a point's place."""
        return (MARGIN + (point[0] - self.left) * CELL + CELL / 2,
                MARGIN + (self.rows - 1 - point[1] + self.bottom) * CELL + CELL / 2)


def _draw(panel: Panel, grid: _Grid, paint: Mapping[int, str]) -> str:
    if not panel.points:
        return f'<text x="{MARGIN}" y="16">{html.escape(panel.title)}: no instance</text>'
    parts = [f'<text x="{MARGIN}" y="16" font-weight="bold">{html.escape(panel.title)}</text>']
    for place, group in panel.colours.items():
        x, y = grid.at(place)
        parts.append(f'<rect x="{x - CELL / 2:g}" y="{y - CELL / 2:g}" width="{CELL}" height="{CELL}" '
                     f'fill="{paint[group]}" fill-opacity="0.35"/>')
    faint = ' stroke-opacity="0.55"' if len(panel.arrows) > MANY_ARROWS else ""
    parts += [f'<g stroke="#555"{faint} marker-end="url(#head)">',
              *(_arrow(grid.at(source), grid.at(sink)) for source, sink in panel.arrows), '</g><g fill="#222">']
    for point in panel.points:
        x, y = grid.at(point)
        ink = f' fill="{panel.inks[point]}"' if point in panel.inks else ""
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}"{ink}><title>{_place_text(point)}</title></circle>')
    parts.append("</g>")
    return "".join([*parts, *_axes(panel, grid), *_legend(panel, grid)])


def _place_text(point: Place) -> str:
    return f"({round(point[0])}, {round(point[1])})"


def _legend(panel: Panel, grid: _Grid) -> list[str]:
    top = grid.rows * CELL + 2 * MARGIN
    return [f'<circle cx="{MARGIN + 4}" cy="{top + LEGEND * n + 4}" r="{RADIUS}" fill="{colour}"/>'
            f'<text x="{MARGIN + 14}" y="{top + LEGEND * n + 8}">{html.escape(text)}</text>'
            for n, (colour, text) in enumerate(panel.legend)]


def _curve(source: Place, sink: Place) -> str:
    """An arrow that rises over what lies between its ends."""
    (x1, y1), (x2, y2) = source, sink
    bend = min(x2 - x1, 60.0) if x2 > x1 else max(x2 - x1, -60.0)
    middle = (x1 + x2) / 2, (y1 + y2) / 2 - abs(bend) / 2
    length = hypot(x2 - middle[0], y2 - middle[1]) or 1.0
    x3, y3 = (x2 - (x2 - middle[0]) / length * RADIUS, y2 - (y2 - middle[1]) / length * RADIUS)
    return f'<path d="M{x1:g},{y1:g} Q{middle[0]:g},{middle[1]:g} {x3:.1f},{y3:.1f}"/>'


def _arrow(source: Place, sink: Place) -> str:
    """From the edge of one dot to the edge of the other, so that the head is seen."""
    (x1, y1), (x2, y2) = source, sink
    length = hypot(x2 - x1, y2 - y1)
    dx, dy = ((x2 - x1) / length * RADIUS, (y2 - y1) / length * RADIUS) if length else (0.0, 0.0)
    return f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}"/>'


def painted(picture: Picture) -> dict[int, str]:
    """The colour of every group of a picture."""
    return _paint([panel.colours for panel in picture.panels])


def _paint(panels: Sequence[Mapping[tuple[int, int], int]]) -> dict[int, str]:
    """A colour per group, one for all panels: the first that no group beside it has anywhere, while there is one."""
    beside: dict[int, set[int]] = {}
    for groups in panels:
        for (x, y), group in groups.items():
            near = {groups.get((x + dx, y + dy), group) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
            beside.setdefault(group, set()).update(near - {group})
    chosen: dict[int, str] = {}
    for group in sorted(beside):
        taken = {chosen[other] for other in beside[group] if other in chosen}
        free = [colour for colour in PALETTE if colour not in taken]
        chosen[group] = free[0] if free else PALETTE[group % len(PALETTE)]
    return chosen


def _axes(panel: Panel, grid: _Grid) -> list[str]:
    every_x, every_y = max(1, grid.columns // 10), max(1, grid.rows // 10)
    below = MARGIN + grid.rows * CELL + 14
    parts = []
    for i in range(0, grid.columns, every_x):
        x = MARGIN + i * CELL + CELL // 2
        parts.append(f'<text x="{x}" y="{below}" text-anchor="middle" fill="#777">{grid.left + i}</text>')
    for j in range(0, grid.rows, every_y):
        y = MARGIN + (grid.rows - 1 - j) * CELL + CELL // 2 + 4
        parts.append(f'<text x="{MARGIN - 6}" y="{y}" text-anchor="end" fill="#777">{grid.bottom + j}</text>')
    along, up = panel.axes
    place = (f'x="{MARGIN + grid.columns * CELL + 6}" y="{below}"' if len(along) < 4 else
             f'x="{MARGIN + grid.columns * CELL // 2}" y="{below + 14}" text-anchor="middle"')
    parts.append(f'<text {place}>{html.escape(along)}</text>')
    parts.append(f'<text x="6" y="{MARGIN - 6}">{html.escape(up)}</text>')
    return parts


def small_parameters(scop: Scop, *, size: int = 7) -> dict[str, int]:
    """Values of the parameters for a picture: near `size`, and inside the context where that is possible.

    Raises
    ------
    UsageError : no values near `size` lie in the context; give them by hand.
    """
    context = scop.context
    values = {}
    for position, parameter in enumerate(p.name for p in scop.parameters):
        index = context.find_dim_by_name(isl.dim_type.param, parameter)
        if index < 0:
            values[parameter] = size + position % 2
            continue
        for value in (size, *range(size + 1, 4 * size), *range(size - 1, -size, -1)):
            fixed = context.fix_val(isl.dim_type.param, index, isl.Val(value))
            if not fixed.is_empty():
                context, values[parameter] = fixed, value
                break
        else:
            raise UsageError(f"no value of {parameter} near {size} is possible", hint="pass parameters={...}")
    return values


def slice_axes(statement: Statement, axes: tuple[str, str] | None) -> tuple[int, int | None]:
    """Positions of the horizontal and the vertical iterator; the last two by default.

    Raises
    ------
    UsageError : the statement has no such iterator.
    """
    if axes is None:
        return (statement.depth - 1, statement.depth - 2) if statement.depth > 1 else (0, None)
    unknown = [a for a in axes if a not in statement.iterators]
    if unknown:
        raise UsageError(f"{statement.name} has no iterator {unknown[0]!r}",
                         hint=f"its iterators are {', '.join(statement.iterators)}")
    return statement.iterators.index(axes[0]), statement.iterators.index(axes[1])


def in_slice(point: Point, fixed: Mapping[int, int]) -> bool:
    """Whether a point has these values in these positions."""
    return all(point[position] == value for position, value in fixed.items())


def slice_points(statement: Statement, parameters: Mapping[str, int], axes: tuple[str, str] | None = None
                 ) -> tuple[dict[Point, tuple[int, int]], tuple[str, str], dict[str, int]]:
    """The instances of a two-dimensional slice and their place in the picture.

    Iterators that are not drawn are fixed at the instance in the middle of the domain.

    Returns
    -------
    points : instance to (horizontal, vertical).
    names : the axes' names.
    fixed : iterator name to the value it has in the slice.

    Raises
    ------
    UsageError : more instances than a picture can hold.
    """
    domain = fix_parameters(statement.domain, parameters)
    points = sorted(points_of(domain)) if box_size(domain) <= MOST_POINTS_OF_BOX else []
    if len(points) > MOST_POINTS or (not points and not domain.is_empty()):
        count = str(len(points)) if points else f"more than {MOST_POINTS}"
        raise UsageError(f"{count} instances of {statement.name} are too many to draw",
                         hint=f"choose smaller parameters; at most {MOST_POINTS} instances are drawn")
    if statement.depth == 0:
        return dict.fromkeys(points, (0, 0)), ("", ""), {}
    horizontal, vertical = slice_axes(statement, axes)
    others = [d for d in range(statement.depth) if d not in (horizontal, vertical)]
    middle = points[len(points) // 2] if points else ()
    fixed = {d: middle[d] for d in others} if points else {}
    chosen = {p: (p[horizontal], p[vertical] if vertical is not None else 0) for p in points if in_slice(p, fixed)}
    names = (statement.iterators[horizontal], statement.iterators[vertical] if vertical is not None else "")
    return chosen, names, {statement.iterators[d]: value for d, value in fixed.items()}


def draw_domains(scop: Scop, *, parameters: Mapping[str, int] | None = None,
                 axes: tuple[str, str] | None = None) -> Picture:
    """Every statement's iteration domain as dots, one panel each.

    Parameters
    ----------
    parameters : values of the sizes; small ones are chosen otherwise.
    axes : the iterators to draw, horizontal and vertical; the two innermost otherwise.  Deeper domains are
        cut in the middle of the others.
    """
    values = dict(parameters) if parameters is not None else small_parameters(scop)
    return Picture(panels=tuple(_panel(s, values, axes) for s in scop.statements))


def _panel(statement: Statement, parameters: Mapping[str, int], axes: tuple[str, str] | None) -> Panel:
    points, names, fixed = slice_points(statement, parameters, axes)
    return Panel(title=panel_title(statement, fixed), axes=names, points=tuple(points.values()))


def panel_title(statement: Statement, fixed: Mapping[str, int]) -> str:
    """The statement's name and the values that the slice fixes."""
    cut = ", ".join(f"{name} = {value}" for name, value in fixed.items())
    return f"{statement.name} ({cut})" if cut else statement.name
