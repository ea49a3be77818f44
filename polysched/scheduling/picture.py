"""Pictures of schedules: the tree drawn, its text, and tiles as colours on the iteration domain."""

from __future__ import annotations

import html
from collections.abc import Mapping
from collections.abc import Sequence as Sequence_
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.picture import ORDERING, Instance, dependent_instances, draw_dependences
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scheduling.tiles_of import (
    Tile,
    TileLoop,
    between_tiles,
    bodies,
    fibre,
    member_values,
    polygons,
    tile_loops,
    tile_of,
    turns,
    whole_tile,
)
from polysched.scheduling.tree.loop_tree import Band, Filter, Mark, Node, Sequence, children, from_isl, walk
from polysched.scop.html import drawing
from polysched.scop.picture import (
    Panel,
    Picture,
    Place,
    Point,
    Turn,
    in_slice,
    slice_axes,
    slice_points,
    small_parameters,
    svg_document,
)
from polysched.scop.points import fix_parameters, points_of
from polysched.scop.scop import Statement
from polysched.scop.shown import Shown

ROW = 24
INDENT = 26
THREADS = 4  # that share the tiles of a picture where the reader names no number
INKS = ("#222222", "#aa3377", "#1f5fa8", "#228833", "#b05a00")
"""Of statements' dots, dark enough to be seen on every tile's colour."""


def tree_text(tree: isl.Schedule) -> str:
    """The schedule tree as indented lines, one node a line."""
    return "\n".join("  " * depth + label for depth, label, _ in _rows(from_isl(tree).root, 0))


@dataclass(frozen=True, kw_only=True)
class TreePicture(Shown):
    """A schedule tree drawn as nested rows; bands are blue when permutable, parallel loops are marked."""

    rows: tuple[tuple[int, str, str], ...]

    @property
    def svg(self) -> str:
        """A self-contained SVG document."""
        width = max((depth * INDENT + 7 * len(label) + 40 for depth, label, _ in self.rows), default=80)
        height = ROW * len(self.rows) + 12
        parts = []
        last_at: dict[int, int] = {}
        for number, (depth, label, colour) in enumerate(self.rows):
            x, y = depth * INDENT + 8, number * ROW + 6
            if depth and depth - 1 in last_at:
                parent = last_at[depth - 1]
                parts.append(f'<path d="M{x - INDENT + 8},{parent + ROW - 5} V{y + 9} H{x}" '
                             'fill="none" stroke="#999"/>')
            last_at[depth] = y
            parts.append(f'<rect x="{x}" y="{y}" width="{7 * len(label) + 14}" height="{ROW - 5}" rx="4" '
                         f'fill="{colour}" fill-opacity="0.25" stroke="{colour}"/>'
                         f'<text x="{x + 7}" y="{y + 14}">{html.escape(label)}</text>')
        return svg_document("".join(parts), width=width, height=height, font="monospace", font_size=11.5,
                            shrinks=False)

    def _repr_html_(self) -> str:
        return drawing(self.svg, alt=str(self))

    def __str__(self) -> str:
        return "".join(f"{'  ' * depth}{label}\n" for depth, label, _ in self.rows)


def draw_tree(tree: isl.Schedule) -> TreePicture:
    """The schedule tree as a picture."""
    return TreePicture(rows=tuple(_rows(from_isl(tree).root, 0)))


def _rows(node: Node, depth: int) -> list[tuple[int, str, str]]:
    rows = []
    match node:
        case Band():
            rows.append((depth, _band_label(node), "#4477aa" if node.permutable else "#777777"))
        case Sequence():
            rows.append((depth, "sequence" if node.ordered else "set", "#ccbb44"))
        case Mark():
            rows.append((depth, f"mark {node.name}", "#aa3377"))
        case Filter():
            rows.append((depth, f"filter {_statements(node.keep)}", "#ccbb44"))
        case _:
            return []
    if isinstance(node, Sequence):
        for keep, child in node.branches:
            rows.append((depth + 1, _statements(keep), "#228833"))
            rows += _rows(child, depth + 2)
    else:
        for child in children(node):
            rows += _rows(child, depth + 1)
    return rows


def _band_label(band: Band) -> str:
    members = [_functions(m) + (" parallel" if c else "") for m, c in zip(band.members, band.coincident, strict=True)]
    words = []
    if band.mark is not None:
        words += [band.mark.role.value] if band.mark.role is not Role.LOOP else []
        words += [name for name in ("parallel", "simd") if getattr(band.mark, name)]
    if band.permutable and len(band.members) > 1:
        words.append("permutable")
    return f"band [{'; '.join(members)}]" + (f"  {', '.join(words)}" if words else "")


def _functions(member: isl.UnionPwAff) -> str:
    pieces = member.get_pw_aff_list()
    texts = []
    for i in range(pieces.n_pw_aff()):
        for _, aff in pieces.get_at(i).get_pieces():
            instance, value = aff.to_str().split("->")[-2:]
            value = value.strip(" }").removeprefix("[(").removesuffix(")]")
            texts.append(f"{instance.split('{')[-1].strip()} → {value}")
    return ", ".join(dict.fromkeys(texts))


def _statements(keep: isl.UnionSet) -> str:
    sets = keep.get_set_list()
    return ", ".join(sorted({str(sets.get_at(i).get_tuple_name()) for i in range(sets.n_set())}))


def draw_tiles(dependences: Dependences, tree: isl.Schedule, *, parameters: Mapping[str, int] | None = None,
               axes: tuple[str, str] | None = None, threads: int = THREADS) -> Picture:
    """The iteration domains with dependence arrows, and tiles with outlines, numbers, and when they run.

    Parameters
    ----------
    tree : a tree whose tile loops carry `LoopMark` marks with role tile.
    parameters, axes : as for `draw_dependences`.
    threads : among how many threads the tiles of a parallel loop are shared (`Picture.coloured("thread")`).
    """
    if threads < 1:
        raise UsageError(f"{threads} threads cannot run tiles", hint="give one or more")
    scop = dependences.scop
    values = dict(parameters) if parameters is not None else small_parameters(scop)
    picture = draw_dependences(dependences, parameters=values, axes=axes)
    placed = placed_tiles(dependences, tree, values, threads)
    if not placed.numbers:
        return picture
    panels = tuple(_with_tiles(panel, statement, axes, values, placed)
                   for statement, panel in zip(scop.statements, picture.panels, strict=True))
    return replace(picture, panels=panels, turns=placed.turns, order=placed.order)


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacedTiles:
    """The tiles of a tree at given sizes.

    Parameters
    ----------
    loops : the loops around tiles.
    tiles : by statement, the tile of every instance that is in one.
    numbers : of the tiles, in the order in which one thread runs them.
    turns, order : when each number runs and where, and in words which order that is.
    """

    loops: tuple[TileLoop, ...]
    tiles: Mapping[str, Mapping[Point, Tile]]
    numbers: Mapping[Tile, int]
    turns: Mapping[int, Turn]
    order: str


def placed_tiles(dependences: Dependences, tree: isl.Schedule, parameters: Mapping[str, int],
                 threads: int) -> PlacedTiles:
    """The tiles of a tree: by its marks for threads or, where it has none, by all dependences between tiles."""
    loops = tile_loops(from_isl(tree))
    tiles = {s.name: tile_of(loops, s.domain, parameters) for s in dependences.scop.statements}
    numbers = {tile: n for n, tile in enumerate(sorted({t for found in tiles.values() for t in found.values()}))}
    instances = {(name, point): tile for name, found in tiles.items() for point, tile in found.items()}
    ordering = [d for d in dependences.pairs if d.kind in ORDERING]
    asked = bool(numbers) and not any(loop.parallel for loop in loops)
    pairs = dependent_instances(ordering, parameters, set(instances)) if asked else ()
    when, order = turns(loops, numbers, instances, pairs, threads=threads) if numbers else ({}, "")
    return PlacedTiles(loops=loops, tiles=tiles, numbers=numbers, turns=when, order=order)


def _with_tiles(panel: Panel, statement: Statement, axes: tuple[str, str] | None, parameters: Mapping[str, int],
                placed: PlacedTiles) -> Panel:
    """A panel with its tiles: the places of each, and its polygons where two iterators are drawn."""
    tiles, numbers = placed.tiles[statement.name], placed.numbers
    points, _, cut = slice_points(statement, parameters, axes)
    colours = {points[p]: numbers[tiles[p]] for p in points if p in tiles}
    if statement.depth < 2:
        return replace(panel, colours=colours)
    horizontal, vertical = slice_axes(statement, axes)
    drawn = (horizontal, vertical) if vertical is not None else (horizontal,)
    fixed = {statement.iterators.index(name): value for name, value in cut.items()}
    inside: dict[Tile, set[Point]] = {}
    for point in points:
        if point in tiles:
            inside.setdefault(tiles[point], set()).add(point)
    domain = fix_parameters(statement.domain, parameters)
    shapes = {numbers[tile]: polygons(bodies(
        fibre(placed.loops, tile, statement.domain, parameters), domain, drawn, fixed, expected,
        around=whole_tile(placed.loops, tile, statement.domain, parameters))) for tile, expected in inside.items()}
    return replace(panel, colours=colours, shapes={number: shape for number, shape in shapes.items() if shape})


def draw_schedule(dependences: Dependences, tree: isl.Schedule, *, tiles: isl.Schedule | None = None,
                  parameters: Mapping[str, int] | None = None) -> Picture:
    """The instances of all statements where a schedule puts them, with dependence arrows and tiles in colour.

    A panel per outermost band: statements that share it lie in one grid, along its two outermost loops, each
    statement with its own ink. Further loops are fixed in the middle. Loops between tiles are no dimensions: they
    are the colours.

    Parameters
    ----------
    tree : the order; loops between tiles are left out.
    tiles : the tree whose tiles are the colours; the same one otherwise.
    parameters : values of the sizes; small ones are chosen otherwise.
    """
    scop = dependences.scop
    values = dict(parameters) if parameters is not None else small_parameters(scop)
    times = {s.name: _times(tree, s, values) for s in scop.statements}
    groups: dict[int, list[str]] = {}
    for name, (band, _) in times.items():
        groups.setdefault(band, []).append(name)
    return Picture(panels=tuple(
        _schedule_panel(dependences, tiles or tree, names, {n: times[n][1] for n in names}, values)
        for names in groups.values()))


def share_a_band(picture: Picture) -> bool:
    """Whether some panel of `draw_schedule` holds several statements."""
    return any(panel.legend for panel in picture.panels)


def _times(tree: isl.Schedule, statement: Statement, parameters: Mapping[str, int]) -> tuple[int, dict[Point, Point]]:
    """The number of a statement's outermost band, and per instance the values of all loops that are not between tiles.

    Raises
    ------
    UsageError : more instances than a picture can hold.
    """
    slice_points(statement, parameters)   # refuses what is too large
    first = -1
    found: dict[Point, Point] = dict.fromkeys(points_of(fix_parameters(statement.domain, parameters)), ())
    for number, node in enumerate(walk(from_isl(tree).root)):
        if not isinstance(node, Band) or between_tiles(node):
            continue
        for member in node.members:
            values = dict(member_values(member, statement.domain, parameters))
            if values:
                first = number if first < 0 else first
                found = {point: (*time, *values[point]) for point, time in found.items()}
    return first, found


def _schedule_panel(dependences: Dependences, tree: isl.Schedule, names: Sequence_[str],
                    times: Mapping[str, Mapping[Point, Point]], parameters: Mapping[str, int]) -> Panel:
    padded = _of_one_length(times)
    every = sorted(padded.values())
    middle = every[len(every) // 2] if every else ()
    cut = {d: value for d, value in enumerate(middle) if d >= 2}
    places = _places({i: t for i, t in padded.items() if in_slice(t, cut)}, names)
    pairs = dependent_instances((d for d in dependences.pairs if d.kind in ORDERING), parameters, set(places))
    inks = {name: INKS[n % len(INKS)] for n, name in enumerate(names)} if len(names) > 1 else {}
    fixed = ", ".join(f"loop {d + 1} at {value}" for d, value in cut.items())
    return Panel(
        title=f"order of {', '.join(names)}" + (f" ({fixed})" if fixed else ""),
        axes=("loop 2", "loop 1") if len(middle) > 1 else ("loop 1", ""), points=tuple(places.values()),
        arrows=tuple(sorted({(places[a], places[b]) for a, b in pairs if places[a] != places[b]})),
        colours=_colours(dependences, tree, names, places, parameters),
        inks={place: inks[name] for (name, _), place in places.items() if inks},
        legend=tuple((ink, name) for name, ink in inks.items()))


def _colours(dependences: Dependences, tree: isl.Schedule, names: Sequence_[str], places: Mapping[Instance, Place],
             parameters: Mapping[str, int]) -> dict[tuple[int, int], int]:
    """The number of the tile around each place."""
    scop, loops = dependences.scop, tile_loops(from_isl(tree))
    tiles = {(n, p): tile for n in names for p, tile in tile_of(loops, scop.statement(n).domain, parameters).items()
             if (n, p) in places}
    numbers = {tile: k for k, tile in enumerate(sorted(set(tiles.values())))}
    return {(round(places[i][0]), round(places[i][1])): numbers[tile] for i, tile in tiles.items()}


def _of_one_length(times: Mapping[str, Mapping[Point, Point]]) -> dict[Instance, Point]:
    """The time of every instance, with zeros behind the shorter ones."""
    depth = max((len(t) for found in times.values() for t in found.values()), default=0)
    return {(n, p): (*t, *(0,) * (depth - len(t))) for n, found in times.items() for p, t in found.items()}


def _places(times: Mapping[Instance, Point], names: Sequence_[str]) -> dict[Instance, Place]:
    """Where instances are drawn: the first loop runs downwards, the second to the right; statements beside each other.

    Of one loop alone the iterations run to the right.
    """
    places: dict[Instance, Place] = {}
    for (name, point), time in times.items():
        aside = _aside(names.index(name), len(names))
        down, right = time[:2] if len(time) > 1 else (0, *time, 0)[:2]
        places[name, point] = (right + aside, down - aside)
    return places


def _aside(number: int, count: int) -> float:
    """How far a statement's dots are moved within their cell, so that those of all statements are seen."""
    return 0.0 if count == 1 else -0.22 + 0.44 * number / (count - 1)
