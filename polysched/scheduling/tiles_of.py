"""The tiles of a schedule tree: which instances each holds, what it looks like in a slice, when and where it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import islpy as isl

from polysched.dependence.picture import Instance
from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Band, LoopTree, walk
from polysched.scop.picture import Place, Point, Turn
from polysched.scop.pictures.polytopes import HalfSpace, half_spaces, outline
from polysched.scop.points import fix_parameters, isl_value, pairs_of, points_of

Tile = tuple[tuple[int, int], ...]
"""For each loop around a tile, outermost first: its position in the tree in pre-order, and its value.

Tiles compare in the order in which they run: of one loop by its values, of several in a sequence by their positions.
"""
MOST_POINTS_OF_HULL = 60  # of a tile whose outline is made from its points
AS_THE_CODE_RUNS = "Steps as the code runs them: all threads wait after each one."
THREADS_IN_EQUAL_PARTS = "Threads: the tiles of a step in equal parts, as libgomp hands out schedule(static)."
EARLIEST = "No loop around the tiles is parallel. Steps: the earliest that the dependences between tiles allow."
ONE_BY_ONE = "Steps: one tile after the other; the dependences between these tiles are circular."


@dataclass(frozen=True, eq=False)
class TileLoop:
    """A loop around tiles: where it stands in the tree, its value per instance, and whether threads share it."""

    position: int
    member: isl.UnionPwAff
    parallel: bool


def tile_loops(tree: LoopTree) -> tuple[TileLoop, ...]:
    """The loops between tiles."""
    return tuple(TileLoop(number, node.members[0], node.mark is not None and node.mark.parallel)
                 for number, node in enumerate(walk(tree.root)) if isinstance(node, Band) and between_tiles(node))


def between_tiles(band: Band) -> bool:
    """Whether a band runs over tiles."""
    return band.mark is not None and band.mark.role in (Role.TILE, Role.WAVEFRONT)


def tile_of(loops: Iterable[TileLoop], domain: isl.Set, parameters: Mapping[str, int]) -> dict[Point, Tile]:
    """The tile of every instance of a statement that is in one."""
    found: dict[Point, Tile] = {}
    for loop in loops:
        for point, (value,) in member_values(loop.member, domain, parameters):
            found[point] = (*found.get(point, ()), (loop.position, value))
    return found


def member_values(member: isl.UnionPwAff, domain: isl.Set, parameters: Mapping[str, int]
                  ) -> list[tuple[Point, Point]]:
    """The instances of a domain that a loop has, each with the loop's value."""
    return [pair for piece in _pieces(member, domain) for pair in pairs_of(fix_parameters(piece, parameters))]


def fibre(loops: Iterable[TileLoop], tile: Tile, domain: isl.Set, parameters: Mapping[str, int]) -> isl.Set:
    """The instances of a statement in a tile, as a set without parameters."""
    found = fix_parameters(domain, parameters)
    values = dict(tile)
    for loop in loops:
        if loop.position not in values:
            continue
        found = found.intersect(_with_value(_pieces(loop.member, domain), values[loop.position], found.get_space(),
                                            parameters))
    return found


def _with_value(pieces: Iterable[isl.Map], value: int, space: isl.Space, parameters: Mapping[str, int]) -> isl.Set:
    """The instances at which a loop has a value."""
    own = isl.Set.empty(space)
    for piece in pieces:
        own = own.union(fix_parameters(piece, parameters).fix_val(isl.dim_type.out, 0, isl_value(value)).domain())
    return own


def whole_tile(loops: Iterable[TileLoop], tile: Tile, domain: isl.Set, parameters: Mapping[str, int]) -> isl.Set:
    """What a tile would hold if the domain went on in all directions, as a set without parameters."""
    found = isl.Set.universe(fix_parameters(domain, parameters).get_space())
    values = dict(tile)
    for loop in loops:
        if loop.position in values:
            pieces = (piece.gist_domain(domain) for piece in _pieces(loop.member, domain))
            found = found.intersect(_with_value(pieces, values[loop.position], found.get_space(), parameters))
    return found.detect_equalities().coalesce()


def bodies(instances: isl.Set, domain: isl.Set, drawn: tuple[int, ...], fixed: Mapping[int, int],
           expected: set[Point], *, around: isl.Set | None = None) -> tuple[tuple[HalfSpace, ...], ...]:
    """The half-spaces of each convex piece of a slice; nothing where they would hold other points than those drawn.

    Parameters
    ----------
    instances : those of the tile, as `fibre` gives them.
    around : the tile without the border of the domain, as `whole_tile` gives it. Within the border it is the body where
        both are polyhedra: isl leaves out constraints that are redundant for integers, and tightens others, so that
        the instances alone would be drawn over a neighbour or apart from it.
    domain : all of the statement, without parameters; its constraints cut every tile at the border.
    drawn : the dimensions that stay, in the order of the axes.
    fixed : the values of all others.
    expected : the points of the slice that the pieces together must hold.
    """
    wanted = {_in_order(point, drawn) for point in expected}
    border = sliced(domain, fixed)
    outside = _one_polyhedron(border)
    if around is not None:
        whole = sliced(around, fixed)
        outside = (*outside, *_one_polyhedron(whole))
        if _one_polyhedron(whole) and _one_polyhedron(border) and set(points_of(whole.intersect(border))) == wanted:
            return (_along(outside, drawn),)
    piece = sliced(instances, fixed).remove_divs()
    if set(points_of(piece)) != wanted:   # isl has tightened a border with a division
        if len(wanted) > MOST_POINTS_OF_HULL:
            return ()
        piece = isl.Set.from_basic_set(_set_of(wanted).convex_hull())
        if set(points_of(piece)) != wanted:
            return ()
    found = []
    for part in _basic_sets(piece):
        spaces = half_spaces(part)
        if spaces is None:
            return ()
        found.append(_along((*spaces, *outside), drawn))
    return tuple(found)


def _along(spaces: Iterable[HalfSpace], drawn: tuple[int, ...]) -> tuple[HalfSpace, ...]:
    """Half-spaces over the dimensions in the order of the axes."""
    ranks = [sorted(drawn).index(d) for d in drawn]
    return tuple(HalfSpace(tuple(space.normal[r] for r in ranks), space.offset) for space in spaces)


def _one_polyhedron(instances: isl.Set) -> tuple[HalfSpace, ...]:
    """The half-spaces of a set; none where it is several polyhedra, or none."""
    parts = _basic_sets(instances)
    return half_spaces(parts[0]) or () if len(parts) == 1 else ()


def _set_of(points: Iterable[Point]) -> isl.Set:
    return isl.Set("{ " + "; ".join(f"[{', '.join(map(str, point))}]" for point in sorted(points)) + " }")


def sliced(instances: isl.Set, fixed: Mapping[int, int]) -> isl.Set:
    """A set with some dimensions fixed and left out."""
    for dimension, value in fixed.items():
        instances = instances.fix_val(isl.dim_type.set, dimension, isl_value(value))
    for dimension in sorted(fixed, reverse=True):
        instances = instances.project_out(isl.dim_type.set, dimension, 1)
    return instances


def polygons(pieces: Iterable[tuple[HalfSpace, ...]]) -> tuple[tuple[Place, ...], ...]:
    """The outlines of pieces of two dimensions."""
    found = (outline(spaces) for spaces in pieces)
    return tuple(tuple((x, y) for x, y in polygon) for polygon in found if polygon)


def turns(loops: tuple[TileLoop, ...], numbers: Mapping[Tile, int], tiles: Mapping[Instance, Tile],
          pairs: Iterable[tuple[Instance, Instance]], *, threads: int) -> tuple[dict[int, Turn], str]:
    """When each tile runs, on which thread, and in words which order that is.

    Parameters
    ----------
    numbers : the number of each tile.
    tiles : the tile of each instance.
    pairs : dependent instances; asked for only where no loop around the tiles is parallel.
    threads : among how many threads the iterations of a parallel loop are shared.
    """
    parallel = {loop.position for loop in loops if loop.parallel}
    if not parallel:
        steps = _earliest(numbers, tiles, pairs)
        if steps is None:
            return {number: Turn(number) for number in numbers.values()}, ONE_BY_ONE
        return {numbers[tile]: Turn(step) for tile, step in steps.items()}, EARLIEST
    before = {tile: _before_threads(tile, parallel) for tile in numbers}
    steps_of = {prefix: step for step, prefix in enumerate(sorted(set(before.values())))}
    shared: dict[Tile, set[int]] = {}
    for tile in numbers:
        shared.setdefault(before[tile], set()).add(_shared_value(tile, parallel))
    thread_of = {prefix: {value: _thread(rank, len(values), threads) for rank, value in enumerate(sorted(values))}
                 for prefix, values in shared.items()}
    return {number: Turn(steps_of[before[tile]], thread_of[before[tile]][_shared_value(tile, parallel)])
            for tile, number in numbers.items()}, f"{AS_THE_CODE_RUNS} {THREADS_IN_EQUAL_PARTS}"


def _thread(rank: int, count: int, threads: int) -> int:
    """The thread of one of some iterations: equal parts, the first ones longer by one.

    Source: GCC, libgomp/iter.c, `gomp_iter_static_next`; OpenMP leaves the parts of `schedule(static)` open.
    """
    least, longer = divmod(count, threads)
    border = longer * (least + 1)
    return rank // (least + 1) if rank < border else longer + (rank - border) // least


def _before_threads(tile: Tile, parallel: set[int]) -> Tile:
    """The part of a tile's name before the first loop that threads share, and that loop's position.

    Two nests that run one after the other are two steps.
    """
    for number, (position, _) in enumerate(tile):
        if position in parallel:
            return (*tile[:number], (position, 0))
    return tile


def _shared_value(tile: Tile, parallel: set[int]) -> int:
    return next((value for position, value in tile if position in parallel), 0)


def _earliest(numbers: Mapping[Tile, int], tiles: Mapping[Instance, Tile],
              pairs: Iterable[tuple[Instance, Instance]]) -> dict[Tile, int] | None:
    """The longest chain of dependent tiles that ends before each; None where the tiles depend on each other."""
    later: dict[Tile, set[Tile]] = {tile: set() for tile in numbers}
    waits = dict.fromkeys(numbers, 0)
    for source, sink in pairs:
        first, second = tiles.get(source), tiles.get(sink)
        if first is None or second is None or first == second or second in later[first]:
            continue
        later[first].add(second)
        waits[second] += 1
    steps = dict.fromkeys(numbers, 0)
    ready = [tile for tile, count in waits.items() if not count]
    done = 0
    while ready:
        tile = ready.pop()
        done += 1
        for other in later[tile]:
            steps[other] = max(steps[other], steps[tile] + 1)
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    return steps if done == len(numbers) else None


def _pieces(member: isl.UnionPwAff, domain: isl.Set) -> list[isl.Map]:
    maps = isl.UnionMap.from_union_pw_aff(member).intersect_domain(isl.UnionSet.from_set(domain)).get_map_list()
    return [maps.get_at(i) for i in range(maps.n_map())]


def _basic_sets(union: isl.Set) -> list[isl.BasicSet]:
    found = union.get_basic_set_list()
    return [found.get_at(i) for i in range(found.n_basic_set())]


def _in_order(point: Point, drawn: tuple[int, ...]) -> Point:
    """The drawn coordinates of an instance, in the order of its dimensions."""
    return tuple(point[d] for d in sorted(drawn))
