"""An independent walk over every message of a placement, step by step: the second witness for loads and rectangles.

It shares no code with what places: bytes are handed out by counting, routes are walked core by core, and every core on
the way is looked at.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from polysched.errors import PlacementError
from polysched.mesh.placement import Placement
from polysched.mesh.shapes import Rectangle

Core = tuple[int, int]


def walk(placement: Placement) -> dict[tuple[Core, Core], int]:
    """The bytes on every link that has some, by the cores that it joins.

    Raises
    ------
    PlacementError : a rectangle is outside, is dead somewhere, or meets another one; a route steps aside of the mesh,
        over a dead core, not to a neighbour, or ends elsewhere.
    """
    owner = _owners(placement)
    loads: Counter[tuple[Core, Core]] = Counter()
    for number, message in enumerate(placement.graph.messages):
        source = placement.rectangles[placement.graph.number[message.source]]
        sink = placement.rectangles[placement.graph.number[message.sink]]
        route = placement.routes[number]
        wanted = _cores(sink, by_columns=message.cut == "columns")
        given = {(way[0], way[-1]): way for way in route.detours}
        for start, end, size in _handed_out(message.bytes, _cores(source, by_columns=False), wanted):
            way = given.get((start, end)) or _straight(start, end, route.order)
            _check(placement, way, start, end)
            loads.update(dict.fromkeys(itertools.pairwise(way), size))
        _pass_on(message.bytes, message.cut, wanted, loads)
    assert len(owner) == sum(r.cores for r in placement.rectangles)
    return {link: size for link, size in loads.items() if size}


def verify(placement: Placement) -> None:
    """Compare the walked loads with those that the placement states.

    Raises
    ------
    PlacementError : they differ on a link, or `walk` refuses.
    """
    walked = walk(placement)
    stated = {}
    for direction, (down, right) in enumerate(((0, 1), (0, -1), (1, 0), (-1, 0))):
        for row in range(placement.target.rows):
            for column in range(placement.target.columns):
                size = int(placement.loads[direction, row, column])
                if size:
                    stated[(row, column), (row + down, column + right)] = size
    for link in sorted({*walked, *stated}):
        if walked.get(link, 0) != stated.get(link, 0):
            raise PlacementError("the loads are not those of the routes", where=f"link {link[0]} to {link[1]}",
                                 witness=f"{stated.get(link, 0)} bytes stated, {walked.get(link, 0)} walked")


def _owners(placement: Placement) -> dict[Core, str]:
    """The operator of each core."""
    owner: dict[Core, str] = {}
    dead = {(core[0], core[1]) for core in placement.target.dead}
    for operator, rectangle in zip(placement.graph.operators, placement.rectangles, strict=True):
        for core in _cores(rectangle, by_columns=False):
            inside = 0 <= core[0] < placement.target.rows and 0 <= core[1] < placement.target.columns
            if not inside or core in dead or core in owner:
                why = "is outside" if not inside else "is dead" if core in dead else f"is {owner[core]}'s"
                raise PlacementError(f"core {core} {why}", where=f"operator {operator.name}")
            owner[core] = operator.name
    return owner


def _cores(rectangle: Rectangle, *, by_columns: bool) -> list[Core]:
    rows = range(rectangle.row, rectangle.row + rectangle.rows)
    columns = range(rectangle.column, rectangle.column + rectangle.columns)
    return [(r, c) for c in columns for r in rows] if by_columns else [(r, c) for r in rows for c in columns]


def _share(size: int, parts: int, part: int) -> int:
    """The bytes of one part of several."""
    return size * (part + 1) // parts - size * part // parts


def _handed_out(size: int, sources: list[Core], sinks: list[Core]) -> Iterator[tuple[Core, Core, int]]:
    """Each source gives what it has to the sinks in turn, until each has its share."""
    to, missing = 0, _share(size, len(sinks), 0)
    for number, source in enumerate(sources):
        had = _share(size, len(sources), number)
        while had:
            while not missing:
                to += 1
                missing = _share(size, len(sinks), to)
            handed = min(had, missing)
            yield source, sinks[to], handed
            had, missing = had - handed, missing - handed


def _straight(start: Core, end: Core, order: str) -> tuple[Core, ...]:
    way = [start]
    for axis in (1, 0) if order == "xy" else (0, 1):
        while way[-1][axis] != end[axis]:
            step = 1 if end[axis] > way[-1][axis] else -1
            row, column = way[-1]
            way.append((row + step, column) if axis == 0 else (row, column + step))
    return tuple(way)


def _check(placement: Placement, way: tuple[Core, ...], start: Core, end: Core) -> None:
    dead = {(core[0], core[1]) for core in placement.target.dead}
    for core in way:
        if not (0 <= core[0] < placement.target.rows and 0 <= core[1] < placement.target.columns) or core in dead:
            raise PlacementError("a route leaves the cores that live", where=f"core {core}")
    far = [(a, b) for a, b in itertools.pairwise(way) if abs(a[0] - b[0]) + abs(a[1] - b[1]) != 1]
    if far or way[0] != start or way[-1] != end:
        raise PlacementError("a route is not a way between its ends", where=f"core {start} to core {end}",
                             witness=str(way))


def _pass_on(size: int, cut: str, wanted: list[Core], loads: Counter[tuple[Core, Core]]) -> None:
    """Every core of a sink sends its share to all others of its row or column, along the line."""
    if cut == "cells":
        return
    axis = 0 if cut == "rows" else 1
    for number, core in enumerate(wanted):
        share = _share(size, len(wanted), number)
        line = [other for other in wanted if other[axis] == core[axis]]
        place = line.index(core)
        for way in (line[place:], line[place::-1]):
            loads.update(dict.fromkeys(itertools.pairwise(way), share))
