"""Schedule tree -> loop IR, held against the instances that it has to visit."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import LEGALITY_OPERATIONS, LEGALITY_SECONDS, violation
from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast, read_function
from polysched.emit_c.generation.order_check import keeps_order
from polysched.emit_c.generation.piece_loops import ends_of_pieces, with_width
from polysched.emit_c.generation.scan_check import visits_every_instance
from polysched.emit_c.loop_ir.loops import Node
from polysched.errors import BudgetExceededError, UnsupportedScopError
from polysched.scheduling.marks import Role
from polysched.scheduling.tree import loop_tree
from polysched.scop.budget import with_budget
from polysched.tiling.shapes.split_tiles import Pieces
from polysched.tiling.tile_bands import tile
from polysched.tiling.tiled_schedule import TiledSchedule

_LOG = logging.getLogger(__name__)


def generate_loops(tiled: TiledSchedule, *, context: isl.Set, max_operations: int) -> tuple[Node, tuple[str, ...]]:
    """The loops of a tiled schedule, and what had to be given up for them.

    isl's generator loses or misplaces instances of some strided loops, and may find no end of others; then all parallel
    loops per nest but one are given up, then the tiles, then the schedule's own loops are taken, and last those of the
    program.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `max_operations` for any version of the loops.
    UnsupportedScopError : no version of the loops visits exactly the instances of the schedule.
    """
    scop, dependences = tiled.schedule.scop, tiled.schedule.dependences
    fallbacks: list[str] = []
    spent: BudgetExceededError | None = None
    why = ""
    for lost, tree, pieces in _ladder(tiled):
        if lost and not with_budget(LEGALITY_OPERATIONS, partial(_is_legal, dependences, tree),
                                    seconds=LEGALITY_SECONDS):
            continue
        try:
            built = build_ast(tree, context=ends_of_pieces(context, pieces.values()) if pieces else context,
                              max_operations=max_operations)
        except BudgetExceededError as error:
            spent, why = error, error.problem
            continue
        loops = read_ast(built.root)
        for band, found in pieces.items():
            loops = with_width(loops, band, found, read_function(found.extent))
        if lost:
            fallbacks.append(f"{lost}: {why}")
            _LOG.warning(fallbacks[-1])
        if not visits_every_instance(loops, scop):
            why = "isl's loops did not visit every instance of the strided statements"
        elif not keeps_order(loops, tree, dependences):
            why = "isl's loops ran strided statements ahead of what they depend on"
        else:
            return loops, (*fallbacks, *built.fallbacks)
    if spent is not None and not fallbacks:
        raise spent
    raise UnsupportedScopError(
        "isl's loop generator loses or misplaces instances of the strided statements", where=scop.name,
        hint="write the strided loops over dense iterators, for instance A[3 * i]")


def _ladder(tiled: TiledSchedule) -> Iterator[tuple[str, isl.Schedule, Mapping[int, Pieces]]]:
    """What to give up and the tree without it, each made only when those before it were of no use.

    With the pieces that the tree has one of at a time.
    """
    if tiled.one_at_a_time is None:
        yield "", tiled.tree, {}
    else:
        yield "", tiled.one_at_a_time.tree, tiled.one_at_a_time.pieces
    options = tiled.options
    if options is not None and any(band.pieces for band in tiled.bands):
        again = tile(tiled.schedule, replace(options, split=False), alone=False)
        yield "tiles were not split after all", again.tree, {}
    if options is not None and options.parallel_degrees > 1:
        again = tile(tiled.schedule, replace(options, parallel_degrees=1), alone=False)
        yield "all parallel loops of a nest but one were given up", again.tree, {}
    yield "the tiles were given up", without_tiles(tiled.tree), {}
    yield "tiles and marks were given up", tiled.schedule.tree, {}
    yield "the order as written was taken", tiled.schedule.scop.schedule, {}


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
