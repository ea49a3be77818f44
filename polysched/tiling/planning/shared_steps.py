"""Steps that all threads take together: tiles of one loop outside the loop for the threads, for the shared cache.

Rewrite:  parallel for i_tile: for k_tile: for j_tile        with the panels of all of B packed in front
      ->  for k_tile: parallel for i_tile: for j_tile        with those of one k_tile packed in front of the threads

Where all of B exceeds the shared cache, every i_tile brings it from memory anew; the panels of one step stay there.

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 34(3), 2008, section 4.1;
T. M. Smith et al., "Anatomy of High-Performance Many-Threaded Matrix Multiplication", IPDPS 2014, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.tiling.footprints.traffic import footprint_bytes
from polysched.tiling.limits import LIMITS
from polysched.tiling.planning.band_plan import BandPlan, TileLevel
from polysched.tiling.planning.tile_problem import TileProblem

MOST_SHARES = LIMITS.most_shared_steps
PASS = LIMITS.pass_transfers


def in_steps(plan: BandPlan, problem: TileProblem, free: tuple[int, ...]) -> Iterator[BandPlan]:
    """The plan with one of its tile loops, or one over larger tiles of the same loop, outside the threads.

    Nothing where threads share no panels, or tiles for a further cache are there already.

    Parameters
    ----------
    free : loops that can run on threads: outside of the others they would.
    """
    if plan.shape is None or plan.outer or not problem.shares:
        return
    for loop in (k for k in plan.order[1:] if k not in free):
        edge, extent = plan.edges[loop] or plan.nest.extents[loop], plan.nest.extents[loop]
        shares = (_even_share(extent, count, problem.granules[loop]) for count in range(2, MOST_SHARES + 1))
        for step in sorted({edge, *shares, *_doubled(edge, extent)}):
            level = TileLevel(tuple(step if k == loop else None for k in range(plan.nest.depth)), (loop,))
            parts = -(-step // edge)
            inside = _even_share(step, parts, problem.granules[loop]) if parts > 1 else None
            if step < extent:
                yield replace(plan, outer=(level,), in_steps=True,
                              order=tuple(k for k in plan.order if k != loop or inside is not None),
                              edges=tuple(inside if k == loop else e for k, e in enumerate(plan.edges)))


def _even_share(extent: int, count: int, granule: int) -> int:
    """Whole granules of a loop in so many pieces."""
    return -(-extent // (count * granule)) * granule


def _doubled(edge: int, extent: int) -> Iterator[int]:
    while 2 * edge < extent:
        edge *= 2
        yield edge


def lost_by_steps(plan: BandPlan, line_bytes: int) -> int:
    """Bytes that start values and last steps move, if any: a stepping sum has no place for them in its tiles."""
    if not plan.in_steps or plan.shape is None or not set(plan.outer[0].order) & set(plan.shape.inner):
        return 0
    return PASS * sum(footprint_bytes(r, plan.nest.extents, line_bytes) for r in plan.nest.references
                      if r.writes and r.elsewhere)
