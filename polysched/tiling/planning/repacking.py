"""What copying the operands of a register block into panels moves, by how often a plan's loops make the same copy."""

from __future__ import annotations

from math import prod

from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.traffic import footprint_bytes
from polysched.tiling.planning.band_plan import BandPlan, TileLevel
from polysched.tiling.planning.register_shape import panel_operands


def packing_bytes(plan: BandPlan, *, shares: bool, line_bytes: int, transfers: int) -> int:
    """Bytes that move while panels are filled; none without a register block.

    A panel is filled inside the innermost tile loop that moves its operand, again for every iteration of the loops
    around that one that leave it alone.

    Parameters
    ----------
    shares : what the loop on threads leaves alone, the outermost one but for steps, is packed once for all of it.
    transfers : lines that move for a line that is packed (`Costs.packing_transfers`).
    """
    shape, nest = plan.shape, plan.nest
    if shape is None:
        return 0
    return sum(transfers * _copies(plan, r, shares=shares) * footprint_bytes(r, nest.extents, line_bytes)
               for r in panel_operands(nest, shape))


def _copies(plan: BandPlan, reference: Reference, *, shares: bool) -> int:
    """How often each element is copied.

    Threads share no panel inside a further loop over parts of their own tiles, which begins elsewhere for each of them.
    """
    loops = _tile_loops(plan)
    moving = max((k for k, (loop, _) in enumerate(loops) if reference.moves_with(loop)), default=-1)
    threads = len(plan.outer[0].order) if plan.in_steps else 0
    parts = any(loop == loops[threads][0] for loop, _ in loops[threads + 1:moving + 1]) if loops else False
    return prod(trips for k, (loop, trips) in enumerate(loops[:moving + 1])
                if not reference.moves_with(loop) and not (shares and not parts and k == threads))


def _tile_loops(plan: BandPlan) -> list[tuple[int, int]]:
    """The tile loops of all levels, outermost first: the loop of the nest and its number of iterations."""
    inside, found = list(plan.nest.extents), []
    for level in (*plan.outer, TileLevel(plan.edges, plan.order)):
        for loop in level.order:
            edge = min(level.edges[loop] or inside[loop], inside[loop])
            found.append((loop, -(-inside[loop] // edge)))
            inside[loop] = edge
    return found
