"""Three-dimensional pictures of a statement's instances with dependences and tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.picture import ORDERING, dependent_instances
from polysched.errors import UsageError
from polysched.scheduling.picture import THREADS, PlacedTiles, placed_tiles
from polysched.scheduling.tiles_of import Tile, bodies, fibre, whole_tile
from polysched.scop.picture import Point, in_slice, panel_title, slice_points, small_parameters
from polysched.scop.pictures.polytopes import Polygon, faces
from polysched.scop.pictures.solid import Solid, Spot
from polysched.scop.points import fix_parameters, points_of
from polysched.scop.scop import Scop, Statement

MOST_ARROWS = 300  # that a solid shows at once; of more, those of the instance in the middle


def draw_solid(dependences: Dependences, tree: isl.Schedule, *, parameters: Mapping[str, int] | None = None,
               statement: str | None = None, axes: tuple[str, str, str] | None = None,
               threads: int = THREADS) -> Solid:
    """A statement's instances in space, with their dependences and the tiles of a tree.

    Parameters
    ----------
    tree : a tree whose tile loops carry `LoopMark` marks with role tile; one without has no tiles.
    parameters : values of the sizes; small ones are chosen otherwise.
    statement : its name; the first of three loops or more otherwise.
    axes : the iterators to the right, to the back and upwards; the three innermost otherwise, the outermost of them
        upwards. Of others the middle is taken.
    threads : as for `draw_tiles`.

    Raises
    ------
    UsageError : no such statement or iterator, fewer than three loops, or more instances than a picture can hold.
    """
    chosen = _statement(dependences.scop, statement)
    values = dict(parameters) if parameters is not None else small_parameters(dependences.scop)
    slice_points(chosen, values)   # refuses what is too large
    drawn = _drawn(chosen, axes)
    every = sorted(points_of(fix_parameters(chosen.domain, values)))
    cut = _cut(every, drawn)
    spots: dict[Point, Spot] = {p: (p[drawn[0]], p[drawn[1]], p[drawn[2]]) for p in every if in_slice(p, cut)}
    arrows = _arrows(dependences, chosen, values, spots)
    shown = arrows if len(arrows) <= MOST_ARROWS else _of_the_middle(arrows)
    note = "" if shown == arrows else f"{len(shown)} of {len(arrows)} arrows are drawn: those of one instance."
    solid = Solid(title=panel_title(chosen, {chosen.iterators[d]: value for d, value in cut.items()}),
                  axes=(chosen.iterators[drawn[0]], chosen.iterators[drawn[1]], chosen.iterators[drawn[2]]),
                  points=tuple(spots.values()), arrows=arrows, drawn_arrows=shown, note=note)
    placed = placed_tiles(dependences, tree, values, threads)
    own = {point: tile for point, tile in placed.tiles[chosen.name].items() if point in spots}
    inside: dict[Tile, set[Point]] = {}
    for point, tile in own.items():
        inside.setdefault(tile, set()).add(point)
    shapes = {placed.numbers[tile]: _faces(placed, tile, chosen, values, drawn, cut, points)
              for tile, points in inside.items()}
    return replace(solid, tiles={spots[point]: placed.numbers[tile] for point, tile in own.items()}, bodies=shapes,
                   turns=placed.turns, order=placed.order)


def _cut(points: list[Point], drawn: tuple[int, int, int]) -> dict[int, int]:
    """The values in the middle of the dimensions that are not drawn."""
    middle = points[len(points) // 2] if points else ()
    return {d: value for d, value in enumerate(middle) if d not in drawn}


def _arrows(dependences: Dependences, statement: Statement, parameters: Mapping[str, int],
            spots: Mapping[Point, Spot]) -> tuple[tuple[Spot, Spot], ...]:
    pairs = dependent_instances((d for d in dependences.pairs if d.kind in ORDERING), parameters,
                                {(statement.name, point) for point in spots})
    return tuple(sorted({(spots[a[1]], spots[b[1]]) for a, b in pairs if spots[a[1]] != spots[b[1]]}))


def _faces(placed: PlacedTiles, tile: Tile, statement: Statement, parameters: Mapping[str, int],
           drawn: tuple[int, int, int], cut: Mapping[int, int], inside: set[Point]) -> tuple[Polygon, ...]:
    """The faces of a tile in the slice."""
    pieces = bodies(fibre(placed.loops, tile, statement.domain, parameters),
                    fix_parameters(statement.domain, parameters), drawn, cut, inside,
                    around=whole_tile(placed.loops, tile, statement.domain, parameters))
    return tuple(face for spaces in pieces for face in faces(spaces))


def _statement(scop: Scop, name: str | None) -> Statement:
    deep = [s for s in scop.statements if s.depth >= 3]
    if name is None:
        if not deep:
            raise UsageError(f"no statement of {scop.name} has three loops", hint="draw its tiles in the plane")
        return deep[0]
    if name not in {s.name for s in scop.statements}:
        raise UsageError(f"no statement {name!r}", hint=f"one of {', '.join(s.name for s in scop.statements)}")
    found = scop.statement(name)
    if found.depth < 3:
        raise UsageError(f"{name} has {found.depth} loops, and a solid needs three",
                         hint="draw its tiles in the plane")
    return found


def _drawn(statement: Statement, axes: tuple[str, str, str] | None) -> tuple[int, int, int]:
    """The positions of the iterators to the right, to the back and upwards."""
    if axes is None:
        return statement.depth - 1, statement.depth - 2, statement.depth - 3
    if unknown := [name for name in axes if name not in statement.iterators]:
        raise UsageError(f"{statement.name} has no iterator {unknown[0]!r}",
                         hint=f"its iterators are {', '.join(statement.iterators)}")
    if len(set(axes)) < 3:
        raise UsageError(f"a solid needs three different iterators, not {', '.join(axes)}")
    first, second, third = (statement.iterators.index(name) for name in axes)
    return first, second, third


def _of_the_middle(arrows: tuple[tuple[Spot, Spot], ...]) -> tuple[tuple[Spot, Spot], ...]:
    """The arrows from and to the spot in the middle."""
    spots = sorted({spot for arrow in arrows for spot in arrow})
    middle = tuple(sum(values) / len(spots) for values in zip(*spots, strict=True))
    chosen = min(spots, key=lambda s: (sum((a - b) ** 2 for a, b in zip(s, middle, strict=True)), s))
    return tuple(arrow for arrow in arrows if chosen in arrow)
