"""Pictures of iteration domains: dots on a grid, as self-contained SVG.

`Panel` collects what one statement shows: its instances as dots, arrows between them, and for each instance
the group that it is coloured as (the tile it belongs to).  A `Link` is an arrow from one panel to another.  Later
rooms add arrows and groups; this file only knows points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.html import SHRINKS, drawing
from polysched.scop.points import box_size, fix_parameters, points_of, with_sizes
from polysched.scop.provided import provided
from polysched.scop.scop import Scop, Statement
from polysched.scop.shown import Shown

if TYPE_CHECKING:
    from polysched.scop.pictures.page import Live

MARGIN = 34
MOST_POINTS = 2500
MOST_POINTS_OF_BOX = 40 * MOST_POINTS  # of a domain's bounding box, before its points are listed
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Paul Tol's bright scheme: seven colours that colour-blind readers tell apart."""

Point = tuple[int, ...]
Place = tuple[float, float]
COLOURED_BY = ("tile", "thread", "step")


@dataclass(frozen=True)
class Turn:
    """When a tile runs and where: its step, and its thread; None where no loop around tiles is parallel."""

    step: int
    thread: int | None = None


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
    shapes : the convex polygons that a group covers in the slice; the cells of its places where it has none.
    inks : colours of the dots that are not black, by point.
    legend : what the dots' colours mean: (colour, text).
    """

    title: str
    axes: tuple[str, str]
    points: tuple[Place, ...]
    arrows: tuple[tuple[Place, Place], ...] = ()
    colours: Mapping[tuple[int, int], int] = field(default_factory=dict)
    shapes: Mapping[int, tuple[tuple[Place, ...], ...]] = field(default_factory=dict)
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
    turns : when each group runs, and on which thread; empty where that is not known.
    order : in words, which order the turns are.
    colour_by : what the colours of groups tell: `tile`, `thread` or `step`.
    """

    panels: tuple[Panel, ...]
    links: tuple[Link, ...] = ()
    note: str = ""
    turns: Mapping[int, Turn] = field(default_factory=dict)
    order: str = ""
    colour_by: str = "tile"

    @property
    def svg(self) -> str:
        """A self-contained SVG document."""
        text: str = provided("scop", "Picture.svg")(self)
        return text

    @property
    def tikz(self) -> str:
        """The picture as TikZ, for papers."""
        text: str = provided("scop", "Picture.tikz")(self)
        return text

    @property
    def page(self) -> str:
        """The picture as an HTML page without network, where a pointer lifts one dependence and tiles run in order."""
        text: str = provided("scop", "Picture.page")(self)
        return text

    def live(self) -> Live:
        """For notebooks: the page in a frame, instead of an image."""
        live: Live = provided("scop", "Picture.live")(page=self.page, text=str(self))
        return live

    def coloured(self, by: str) -> Picture:
        """With tiles coloured by `tile`, `thread` or `step`.

        Raises
        ------
        UsageError : there is no such colouring, or this picture does not know it.
        """
        if by not in COLOURED_BY:
            raise UsageError(f"no colouring by {by!r}", hint=f"one of {', '.join(COLOURED_BY)}")
        if by != "tile" and not self.turns:
            raise UsageError(f"the picture has no tiles to colour by {by}")
        if by == "thread" and all(turn.thread is None for turn in self.turns.values()):
            raise UsageError("no loop around the tiles is parallel: one thread runs them all",
                             hint="tile with parallel loops, or colour by step")
        return replace(self, colour_by=by)

    def _repr_html_(self) -> str:
        return drawing(self.svg, alt=str(self))

    def __str__(self) -> str:
        """What is drawn, one line per panel."""
        lines = [f"{p.title}: {len(p.points)} instances, {len(p.arrows)} arrows, "
                 f"{len(set(p.colours.values()))} tiles" for p in self.panels]
        between = [f"{len(self.links)} arrows between statements"] if self.links else []
        return "".join(f"{line}\n" for line in (*lines, *between, *([self.note] if self.note else [])))


def small_parameters(scop: Scop, *, size: int = 7, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """Values of the parameters for a picture: near `size`, and inside the context where that is possible.

    Parameters
    ----------
    given : values that stand, whatever the context says.

    Raises
    ------
    UsageError : no values near `size` lie in the context; give them by hand.
    """
    values = dict(given or {})
    context = with_sizes(scop.context, values)
    for position, parameter in enumerate(p.name for p in scop.parameters):
        if parameter in values:
            continue
        index = context.find_dim_by_name(isl.dim_type.param, parameter)
        if index < 0 or context.is_empty():   # the sizes that are given admit none
            values[parameter] = size + position % 2
            continue
        for value in (size, *range(size + 1, 4 * size), *range(size - 1, -size, -1)):
            fixed = context.fix_val(isl.dim_type.param, index, isl.Val(value))
            if not fixed.is_empty():
                context, values[parameter] = fixed, value
                break
        else:
            raise UsageError(f"no value of {parameter} near {size} is possible",
                             hint="give one: --size NAME=VALUE, or parameters={...} in Python")
    return {p.name: values[p.name] for p in scop.parameters} | values


def nothing_runs(scop: Scop, parameters: Mapping[str, int]) -> UsageError:
    """The refusal of a picture without instances."""
    if not scop.parameters:
        return UsageError("no instance ever runs", where=scop.name)
    return UsageError("nothing runs at these sizes", where=scop.name,
                      witness=", ".join(f"{name} = {value}" for name, value in parameters.items()),
                      hint="give larger ones")


def choose_sizes(which: str, parameters: Mapping[str, int]) -> str:
    """The part of a hint that asks for other sizes; nothing for a program whose sizes are constants."""
    return f"choose {which} parameters ({', '.join(parameters)}); " if parameters else ""


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
                         hint=f"{choose_sizes('smaller', parameters)}at most {MOST_POINTS} instances are drawn")
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
