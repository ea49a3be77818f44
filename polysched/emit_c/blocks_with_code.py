"""Which register blocks of a schedule became vector code.

A block is a plan for vector registers.  Where its statement has no vector code, as with a call that has no vector
form or a type that no lane holds, what is left of it is an order of loops that nobody would choose for scalar code.
`pipeline.way.emit_blocks` then tiles anew without it.
"""

from __future__ import annotations

from polysched.emit_c.c_source import CSource
from polysched.emit_c.loop_ir.loops import RegisterTile, instances, walk_nodes


def blocks_without_code(source: CSource) -> frozenset[str]:
    """The statements with a register block in the schedule and none in the loops."""
    planned = {band.plan.shape.statement for band in source.tiled.bands
               if band.plan is not None and band.plan.shape is not None and band.register}
    return frozenset(planned - statements_in_blocks(source)) if planned else frozenset()


def statements_in_blocks(source: CSource) -> set[str]:
    """The statements that register tiles of two edges compute."""
    return {instance.statement for node in walk_nodes(source.loops)
            if isinstance(node, RegisterTile) and len(node.edges) > 1 for instance in instances(node.body)}
