"""`emit_blocks`: C in which every register block of the schedule is vector code.

A block is a plan for vector registers.  Where its statement has no vector code, as with a call that has no vector
form or a type that no lane holds, what is left of it is an order of loops that nobody would choose for scalar code.
Only the emission knows that, so it is asked, and the schedule is tiled anew without the blocks that came to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.emit_c.c_source import CSource
from polysched.emit_c.emission import emit
from polysched.emit_c.loop_ir.loops import RegisterTile, instances, walk_nodes
from polysched.tiling.options import TilingOptions
from polysched.tiling.tiled_schedule import TiledSchedule


def emit_blocks(tiled_by: Callable[[TilingOptions], TiledSchedule], tiling: TilingOptions,
                emitted_by: Callable[[TiledSchedule], CSource] = emit) -> CSource:
    """Tile and emit, until no block is without code; `TiledSchedule.fallbacks` says for which statements.

    Parameters
    ----------
    tiled_by : tiles the program, as the options say.
    emitted_by : what makes the C.

    Raises
    ------
    PolyschedError : tiling or emission refuses.
    """
    while True:
        source = emitted_by(tiled_by(tiling))
        bare = blocks_without_code(source)
        if not bare:
            return source
        tiling = replace(tiling, unblocked=tiling.unblocked | bare)


def blocks_without_code(source: CSource) -> frozenset[str]:
    """The statements with a register block in the schedule and none in the loops."""
    planned = {band.plan.shape.statement for band in source.tiled.bands
               if band.plan is not None and band.plan.shape is not None and band.register}
    return frozenset(planned - statements_in_blocks(source)) if planned else frozenset()


def statements_in_blocks(source: CSource) -> set[str]:
    """The statements that register tiles of two edges compute."""
    return {instance.statement for node in walk_nodes(source.loops)
            if isinstance(node, RegisterTile) and len(node.edges) > 1 for instance in instances(node.body)}
