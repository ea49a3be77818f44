"""Schedule tree -> loop IR, held against the instances that it has to visit."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast, read_function
from polysched.emit_c.generation.order_check import keeps_order
from polysched.emit_c.generation.piece_loops import ends_of_pieces, with_width
from polysched.emit_c.generation.scan_check import visits_every_instance
from polysched.emit_c.loop_ir.loops import Node
from polysched.errors import NoLoopsError
from polysched.tiling.shapes.split_tiles import Pieces
from polysched.tiling.tiled_schedule import TiledSchedule


def generate_loops(tiled: TiledSchedule, *, context: isl.Set, max_operations: int) -> tuple[Node, tuple[str, ...]]:
    """The loops of a tiled schedule, and what had to be given up for them.

    isl's generator loses or misplaces instances of some strided loops, and may find no end of others.  Whoever has
    other schedules of the program (`tiling.lesser_schedules`) tries these then.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `max_operations`.
    NoLoopsError : the loops do not visit exactly the instances of the schedule, in its order.
    """
    scop, dependences = tiled.schedule.scop, tiled.schedule.dependences
    one = tiled.one_at_a_time
    tree = tiled.tree if one is None else one.tree
    pieces: Mapping[int, Pieces] = {} if one is None else one.pieces
    built = build_ast(tree, context=ends_of_pieces(context, pieces.values()) if pieces else context,
                      max_operations=max_operations)
    loops = read_ast(built.root)
    for band, found in pieces.items():
        loops = with_width(loops, band, found, read_function(found.extent))
    if not visits_every_instance(loops, scop):
        raise _refused("isl's loops did not visit every instance of the strided statements", scop.name)
    if not keeps_order(loops, tree, dependences):
        raise _refused("isl's loops ran strided statements ahead of what they depend on", scop.name)
    return loops, built.fallbacks


def _refused(problem: str, where: str) -> NoLoopsError:
    return NoLoopsError(problem, where=where,
                        hint="write the strided loops over dense iterators, for instance A[3 * i]")
