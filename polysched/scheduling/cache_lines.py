"""Which elements and cache lines each tile touches, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.scheduling.picture import THREADS, placed_tiles
from polysched.scheduling.tiles_of import Tile
from polysched.scop.picture import Point, choose_sizes, nothing_runs, slice_points, small_parameters
from polysched.scop.pictures.memory import Memory, MemoryPicture, Touched
from polysched.scop.points import fix_parameters, pairs_of, value_at
from polysched.scop.scop import Array, Scop
from polysched.target.target import LINE_BYTES

MOST_ELEMENTS = 6000  # of an array whose elements are drawn one by one
WRAPPED_LINES = 4  # of an array of one dimension, in each row of the drawing


def draw_cache_lines(dependences: Dependences, tree: isl.Schedule, *, parameters: Mapping[str, int] | None = None,
                     line_bytes: int = LINE_BYTES, tile: int | None = None, threads: int = THREADS) -> MemoryPicture:
    """The elements that tiles read and write, and the cache lines that come with them.

    Every array begins at a line, and lies as C lays it out; structures are drawn as if their members lay apart.

    Parameters
    ----------
    tree : a tree whose tile loops carry `LoopMark` marks with role tile; of one without, the whole region is one tile.
    parameters : values of the sizes; small ones are chosen otherwise.
    line_bytes : of a cache line.
    tile : the tile that a static drawing shows; the one in the middle otherwise.

    Raises
    ------
    UsageError : an array is too large to draw, or there is no such tile.
    """
    if line_bytes < 1:
        raise UsageError(f"a cache line has no {line_bytes} bytes")
    scop = dependences.scop
    values = dict(parameters) if parameters is not None else small_parameters(scop)
    for statement in scop.statements:
        slice_points(statement, values)   # refuses what is too large
    reached = _reached(scop, values)
    drawn = [array for array in scop.arrays if not array.is_scalar and reached.get(array.name)]
    shapes = {array.name: _extents(array, reached[array.name], values) for array in drawn}
    arrays = tuple(_memory(array, shapes[array.name], line_bytes) for array in drawn)
    placed = placed_tiles(dependences, tree, values, threads)
    numbers = placed.numbers or {(): 0}
    touched = _touched(scop, values, shapes, placed.tiles, numbers)
    if not touched:
        raise nothing_runs(scop, values)
    picture = MemoryPicture(arrays=arrays, tiles=touched, shown=sorted(touched)[len(touched) // 2],
                            turns=placed.turns, order=placed.order,
                            note="" if placed.numbers else "No loop runs over tiles: the whole region is shown.")
    return picture if tile is None else picture.of(tile)


def _reached(scop: Scop, parameters: Mapping[str, int]) -> dict[str, list[Point]]:
    """Every element of each array that some instance reads or writes."""
    found: dict[str, set[Point]] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            found.setdefault(access.array, set()).update(
                element for _, element in pairs_of(fix_parameters(access.relation, parameters)))
    return {name: sorted(elements) for name, elements in found.items()}


def _extents(array: Array, reached: list[Point], parameters: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of an array; what is not declared ends behind the last element that is reached."""
    last = [max(values) + 1 for values in zip(*reached, strict=True)]
    extents = tuple(end if extent is None else value_at(extent, parameters)
                    for extent, end in zip(array.extents, last, strict=True))
    if prod(extents) > MOST_ELEMENTS:
        raise UsageError(f"{prod(extents)} elements of {array.name} are too many to draw",
                         hint=f"{choose_sizes('smaller', parameters)}at most {MOST_ELEMENTS} elements of an array are "
                              "drawn")
    return extents


def _memory(array: Array, extents: tuple[int, ...], line_bytes: int) -> Memory:
    element = array.dtype.bytes
    wrapped = max(1, WRAPPED_LINES * line_bytes // element)
    columns = extents[-1] if len(extents) > 1 else min(extents[0], wrapped)
    return Memory(name=array.name, elements=prod(extents), columns=max(columns, 1), element_bytes=element,
                  line_bytes=line_bytes)


def _touched(scop: Scop, parameters: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]],
             tiles: Mapping[str, Mapping[Point, Tile]], numbers: Mapping[Tile, int]) -> dict[int, Touched]:
    reads: dict[int, dict[str, set[int]]] = {}
    writes: dict[int, dict[str, set[int]]] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array not in shapes:
                continue
            into = writes if access.is_write else reads
            for instance, element in pairs_of(fix_parameters(access.relation, parameters)):
                number = numbers.get(tiles[statement.name].get(instance, ()))
                if number is not None:
                    into.setdefault(number, {}).setdefault(access.array, set()).add(
                        _offset(element, shapes[access.array]))
    return {number: Touched(reads=_frozen(reads.get(number, {})), writes=_frozen(writes.get(number, {})))
            for number in sorted({*reads, *writes})}


def _offset(element: Point, extents: tuple[int, ...]) -> int:
    offset = 0
    for index, extent in zip(element, extents, strict=True):
        offset = offset * extent + index
    return offset


def _frozen(elements: Mapping[str, set[int]]) -> dict[str, frozenset[int]]:
    return {name: frozenset(found) for name, found in elements.items()}
