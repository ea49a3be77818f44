"""Three-dimensional pictures: instances as dots in space, tiles as bodies, arrows; a page turns them.

The projection is parallel. `azimuth` turns the picture around its vertical axis, `elevation` tips it towards the
reader. The static drawings and the page (solid.js) share the projection's formulas.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from itertools import product
from math import cos, radians, sin
from typing import Any

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.html import drawing
from polysched.scop.picture import MARGIN, Place, Turn, svg_document
from polysched.scop.pictures.page import (
    HINT,
    Live,
    colourings,
    controls,
    drawing_of,
    page,
    script_of_this_folder,
    turning_data,
)
from polysched.scop.pictures.paint import colour_legend, painted_by
from polysched.scop.pictures.polytopes import Corner, Polygon
from polysched.scop.pictures.svg import ARROW_HEADS, BOX, colour_boxes
from polysched.scop.provided import provided
from polysched.scop.shown import Shown

SCALE = 34  # pixels a step
RADIUS = 3.2
AZIMUTH, ELEVATION = 32.0, 24.0  # degrees from which nothing hides its neighbour in a cube
HALO = 'stroke="#fff" stroke-width="3" paint-order="stroke"'
Spot = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Solid(Shown):
    """A slice of three dimensions; `svg` and `tikz` are views of it, `page` turns.

    Parameters
    ----------
    title : drawn above.
    axes : names of the dimensions: to the right, to the back, upwards.
    points : the instances, in these dimensions.
    arrows : pairs of such points, from source to sink.
    drawn_arrows : those that are drawn when none is pointed at.
    tiles : the number of the tile of each point that is in one.
    bodies : the faces of each tile.
    turns, order, colour_by, note : as in `Picture`.
    azimuth, elevation : where the reader stands, in degrees.
    """

    title: str
    axes: tuple[str, str, str]
    points: tuple[Spot, ...]
    arrows: tuple[tuple[Spot, Spot], ...] = ()
    drawn_arrows: tuple[tuple[Spot, Spot], ...] = ()
    tiles: Mapping[Spot, int] = field(default_factory=dict)
    bodies: Mapping[int, tuple[Polygon, ...]] = field(default_factory=dict)
    turns: Mapping[int, Turn] = field(default_factory=dict)
    order: str = ""
    colour_by: str = "tile"
    note: str = ""
    azimuth: float = AZIMUTH
    elevation: float = ELEVATION

    def seen_from(self, azimuth: float, elevation: float) -> Solid:
        """From another side."""
        return replace(self, azimuth=azimuth, elevation=elevation)

    def coloured(self, by: str) -> Solid:
        """With tiles coloured by `tile`, `thread` or `step`.

        Raises
        ------
        UsageError : there is no such colouring here.
        """
        if by not in colourings(self.turns):
            raise UsageError(f"no colouring by {by!r} here", hint=f"one of {', '.join(colourings(self.turns))}")
        return replace(self, colour_by=by)

    @property
    def svg(self) -> str:
        """A self-contained SVG document of the view."""
        return _svg(self)

    @property
    def tikz(self) -> str:
        """The view as TikZ, for papers."""
        text: str = provided("scop", "Solid.tikz")(self)
        return text

    @property
    def page(self) -> str:
        """An HTML page in which the picture turns, tiles run in order, and a pointer lifts dependences."""
        groups = sorted(set(self.tiles.values()))
        data = turning_data(self.turns, groups, self.beside(), colouring=self.colour_by)
        names = {_name(point): f"{self.title.split(' ')[0]}({self._text(point)})" for point in self.points}
        hint = f"Drag, or move the sliders below, to turn. {HINT if self.arrows else ''}"
        scene = {**data, "names": names, "hint": hint.strip(), "scene": self.scene()}
        turned = ('<div class="controls"><label>turn <input type="range" id="azimuth" min="-180" max="180" '
                  f'value="{self.azimuth:g}"></label><label>tip <input type="range" id="elevation" min="-90" max="90" '
                  f'value="{self.elevation:g}"></label></div>')
        body = controls(self.turns, self.order, groups, self.colour_by) + drawing_of(self.svg) + turned
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return page(self.title, body + note, scene, [script_of_this_folder("solid.js")])

    def live(self) -> Live:
        """For notebooks: the page in a frame, instead of an image."""
        return Live(page=self.page, text=str(self))

    def scene(self) -> dict[str, Any]:
        """What solid.js draws: dots, arrows and faces by number and place."""
        at = {point: number for number, point in enumerate(self.points)}
        shown = {(at[a], at[b]) for a, b in self.drawn_arrows}
        return {"points": self.points, "axes": self.axes, "scale": SCALE, "radius": RADIUS,
                "arrows": [[at[a], at[b], int((at[a], at[b]) in shown)] for a, b in self.arrows],
                "faces": [[group, [[round(x, 3) for x in corner] for corner in face]]
                          for group, found in self.bodies.items() for face in found],
                "azimuth": self.azimuth, "elevation": self.elevation, "heads": ARROW_HEADS,
                "box": [[round(x, 3) for x in corner] for corner in box(self.points) or ()]}

    def beside(self) -> dict[int, set[int]]:
        """The tiles that touch each tile."""
        found: dict[int, set[int]] = {}
        for (x, y, z), group in self.tiles.items():
            near = {self.tiles.get((x + dx, y + dy, z + dz), group) for dx, dy, dz in product((-1, 0, 1), repeat=3)}
            found.setdefault(group, set()).update(near - {group})
        return found

    def _text(self, point: Spot) -> str:
        right, back, up = (f"{name} = {value}" for name, value in zip(self.axes, point, strict=True))
        return f"{up}, {right}, {back}"

    def _repr_html_(self) -> str:
        return drawing(self.svg, alt=str(self))

    def __str__(self) -> str:
        lines = [f"{self.title}: {len(self.points)} instances, {len(self.arrows)} arrows, "
                 f"{len(set(self.tiles.values()))} tiles", *([self.note] if self.note else [])]
        return "".join(f"{line}\n" for line in lines)


def box(points: tuple[Spot, ...]) -> tuple[Corner, Corner] | None:
    """The lowest and the highest corner of the box around the points."""
    if not points:
        return None
    return (tuple(min(values) - 0.8 for values in zip(*points, strict=True)),
            tuple(max(values) + 0.8 for values in zip(*points, strict=True)))


def frame(points: tuple[Spot, ...], azimuth: float, elevation: float) -> list[tuple[Corner, Corner]]:
    """The three edges of the box that are the axes: right, back, up.

    Of the four edges along an axis it is the one at the rim of the view: the lowest, of the vertical ones the leftmost.
    No dot lies behind it or beside its end.
    """
    around = box(points)
    if around is None:
        return []
    found = []
    for axis in range(3):
        edges = []
        for others in product((0, 1), repeat=2):
            sides = [*others[:axis], 0, *others[axis:]]
            start = tuple(around[side][d] for d, side in enumerate(sides))
            edges.append((start, tuple(around[1][d] if d == axis else x for d, x in enumerate(start))))
        found.append(min(edges, key=partial(_rim, axis=axis, azimuth=azimuth, elevation=elevation)))
    return found


def _rim(edge: tuple[Corner, Corner], *, axis: int, azimuth: float, elevation: float) -> tuple[float, float]:
    """How far to the left, or below, the middle of an edge is drawn."""
    middle = tuple((a + b) / 2 for a, b in zip(*edge, strict=True))
    right, up, _ = projected(middle, azimuth, elevation)
    return (round(right, 6), up) if axis == 2 else (round(up, 6), right)


def projected(corner: Corner, azimuth: float, elevation: float) -> tuple[float, float, float]:
    """To the right, upwards, and towards the reader, in steps."""
    a, e = radians(azimuth), radians(elevation)
    x, y, z = corner
    right, back = x * cos(a) + y * sin(a), y * cos(a) - x * sin(a)
    return right, z * cos(e) + back * sin(e), z * sin(e) - back * cos(e)


class View:
    """A solid as seen: where corners lie in the drawing, and what is drawn first."""

    def __init__(self, solid: Solid) -> None:
        self.solid = solid
        self.axes = frame(solid.points, solid.azimuth, solid.elevation)
        edges = [corner for edge in self.axes for corner in edge]
        seen = [self._seen(corner) for corner in (*solid.points, *edges)] or [(0.0, 0.0, 0.0)]
        self.left, self.top = min(x for x, _, _ in seen), max(y for _, y, _ in seen)
        self.width = max(x for x, _, _ in seen) - self.left
        self.height = self.top - min(y for _, y, _ in seen)

    def _seen(self, corner: Corner) -> tuple[float, float, float]:
        return projected(corner, self.solid.azimuth, self.solid.elevation)

    def at(self, corner: Corner) -> Place:
        """Steps to the right and downwards from the corner of the drawing."""
        x, y, _ = self._seen(corner)
        return x - self.left, self.top - y

    def near(self, corner: Corner) -> float:
        """How near a corner is to the reader."""
        return self._seen(corner)[2]

    def faces(self) -> list[tuple[int, Polygon]]:
        """All faces of all tiles, far ones first."""
        every = [(group, face) for group, found in self.solid.bodies.items() for face in found]
        return sorted(every, key=lambda found: sum(map(self.near, found[1])) / len(found[1]))


def _svg(solid: Solid) -> str:
    view, title = View(solid), f'<text x="{MARGIN}" y="16" font-weight="bold">{html.escape(solid.title)}</text>'
    if not solid.points:
        return svg_document(title, width=MARGIN + 8 * len(solid.title), height=MARGIN)
    paint = painted_by(solid.colour_by, solid.beside(), solid.turns)

    def at(corner: Corner) -> str:
        x, y = view.at(corner)
        return f"{MARGIN + x * SCALE:.1f},{MARGIN + y * SCALE:.1f}"

    parts, names = [ARROW_HEADS, title], list[str]()
    for name, (start, end) in zip(solid.axes, view.axes, strict=True):
        x, y = view.at(end)
        parts.append(f'<path d="M{at(start)} L{at(end)}" stroke="#999" marker-end="url(#head)"/>')
        names.append(f'<text x="{MARGIN + x * SCALE + 5:.1f}" y="{MARGIN + y * SCALE - 3:.1f}" {HALO}>'
                     f'{html.escape(name)}</text>')
    for group, face in view.faces():
        outline = " L".join(map(at, face))
        parts.append(f'<g class="tile" data-tile="{group}" fill="{paint[group]}"><path d="M{outline} z" '
                     'fill-opacity="0.22" stroke="#444" stroke-opacity="0.6"/></g>')
    parts.append('<g stroke="#555" marker-end="url(#head)">')
    parts += [f'<path d="M{at(source)} L{at(sink)}" data-from="{_name(source)}" data-to="{_name(sink)}"/>'
              for source, sink in solid.drawn_arrows]
    parts.append("</g>")
    for point in sorted(solid.points, key=view.near):
        right, down = at(point).split(",")
        parts.append(f'<circle cx="{right}" cy="{down}" r="{RADIUS}" fill="#222" data-name="{_name(point)}"/>')
    legend, bottom = colour_boxes(colour_legend(solid.colour_by, solid.turns, sorted(set(solid.tiles.values()))),
                                  round(view.height * SCALE + 2 * MARGIN) - BOX)
    width = max(round(view.width * SCALE + 2 * MARGIN), MARGIN + 8 * len(solid.title))
    return svg_document("".join([*parts, *legend, *names]), width=width, height=bottom + BOX)


def _name(point: Spot) -> str:
    return ",".join(map(str, point))
