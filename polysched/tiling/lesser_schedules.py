"""What can be given up of a tiled schedule where no loops are found for it, piece by piece.

First tiles are not split, then one parallel loop per nest has to do, then the tiles go, then all marks, and at last
the program's own order is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import LEGALITY_OPERATIONS, LEGALITY_SECONDS, violation
from polysched.scheduling.marks import Role
from polysched.scheduling.tree import loop_tree
from polysched.scop.budget import with_budget
from polysched.tiling.tile_bands import tile
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule


def lesser_schedules(tiled: TiledSchedule) -> Iterator[tuple[str, TiledSchedule]]:
    """What was given up, and the schedule without it; each is made, and judged, when it is asked for.

    Only those that are legal as the budget for that question can tell.
    """
    dependences = tiled.schedule.dependences
    for lost, lesser in _versions(tiled):
        if with_budget(LEGALITY_OPERATIONS, partial(_is_legal, dependences, lesser.tree), seconds=LEGALITY_SECONDS):
            yield lost, lesser


def _versions(tiled: TiledSchedule) -> Iterator[tuple[str, TiledSchedule]]:
    options = tiled.options
    if options is not None and any(band.pieces for band in tiled.bands):
        yield "tiles were not split after all", tile(tiled.schedule, options.without_split_tiles(), alone=False)
    if options is not None and options.parallel_degrees > 1:
        yield "all parallel loops of a nest but one were given up", tile(
            tiled.schedule, replace(options, parallel_degrees=1), alone=False)
    bare = replace(tiled, one_at_a_time=None, bands=tuple(BandTiling(band=band.band) for band in tiled.bands))
    yield "the tiles were given up", replace(bare, tree=without_tiles(tiled.tree))
    yield "tiles and marks were given up", replace(bare, tree=tiled.schedule.tree)
    yield "the order as written was taken", replace(bare, tree=tiled.schedule.scop.schedule)


def _is_legal(dependences: Dependences, tree: isl.Schedule) -> bool:
    return violation(dependences, tree) is None


def without_tiles(tree: isl.Schedule) -> isl.Schedule:
    """The tree without its loops between tiles, and without register blocks."""
    decoded = loop_tree.from_isl(tree)
    return loop_tree.to_isl(replace(decoded, root=_untiled(decoded.root)))


def _untiled(node: loop_tree.Node) -> loop_tree.Node:
    below = tuple(_untiled(child) for child in loop_tree.children(node))
    if not isinstance(node, loop_tree.Band) or node.mark is None:
        return loop_tree.with_children(node, below)
    if node.mark.role in (Role.TILE, Role.WAVEFRONT):
        return below[0]
    return replace(node, child=below[0], mark=replace(node.mark, register=False, unroll=1, parallel=False))
