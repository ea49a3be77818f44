"""In which order the loops around a register block run: what moves least, and whose panels stay for others."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from polysched.target.target import Target
from polysched.tiling.footprints.balance import uneven_share
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.traffic import traffic_bytes
from polysched.tiling.limits import LIMITS
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.band_plan import BandPlan, plan_structure
from polysched.tiling.planning.read_in_place import FEWEST_PANEL_READS
from polysched.tiling.planning.register_shape import RegisterShape

LARGEST_PANEL_BYTES = LIMITS.largest_panel_bytes


def with_blocks(plan: BandPlan, target: Target) -> BandPlan:
    """Choose the order of the block loops that moves less into the first cache, operands being packed there."""
    if plan.shape is None:
        return plan
    first = target.caches[0]
    orders = [replace(plan, rows_first=rows_first) for rows_first in (True, False)]
    element = min((r.element_bytes for r in plan.nest.references), default=1)
    return min(orders, key=lambda p: sum(traffic_bytes(p.nest, plan_structure(p), first.size_bytes, element)))


def without_tiles(nest: Nest, shape: RegisterShape | None, target: Target) -> BandPlan | None:
    """The plan of a register block alone; None without one."""
    if shape is None:
        return None
    return with_blocks(BandPlan(nest=nest, edges=(None,) * nest.depth, order=(), shape=shape), target)


def around_panels(plan: BandPlan, options: TilingOptions) -> tuple[BandPlan, ...]:
    """The orders of a transposed block's loops in which its columns are packed for several blocks of rows.

    Either all threads share the panel of each block of columns, and the outermost loop of the others runs on threads,
    or every thread has blocks of columns to itself, and keeps their panel while all the other loops run.  No panel has
    room for a sum of unknown length.
    """
    shape, nest = plan.shape, plan.nest
    assert shape is not None
    steps = nest.density * prod(nest.extents[loop] for loop in shape.inner)
    if not all(nest.constant[loop] for loop in shape.inner) or (
            steps * shape.column_count * nest.element_bytes > LARGEST_PANEL_BYTES):
        return ()
    rows, columns = (-(-nest.extents[loop] // count) for loop, count in (
        (shape.rows, shape.row_count), (shape.columns, shape.column_count)))
    reuses = rows * prod(nest.extents[loop] for loop in shape.outer)
    plan = replace(plan, rows_first=False)
    found = [plan] if shape.outer and rows >= FEWEST_PANEL_READS else []
    threads = options.target.cores if options.parallel else 1
    if columns >= threads and reuses >= FEWEST_PANEL_READS:
        found.append(replace(plan, columns_outside=True))
    return tuple(found)


def waiting_seconds(plan: BandPlan, options: TilingOptions) -> float:
    """What the data moved into the last private cache and the last iterations on threads cost."""
    shape, nest, target = plan.shape, plan.nest, options.target
    assert shape is not None
    private = target.last_private
    kept = int(private.size_bytes * target.costs.usable_share)
    moved = sum(traffic_bytes(nest, plan_structure(plan), kept, private.line_bytes))
    first, edge = (shape.columns, shape.column_count) if plan.columns_outside else (shape.outer[0], 1)
    waits = 0.5 * edge / nest.extents[first] + uneven_share(nest.extents[first], edge, target.cores)
    cycles = nest.density * nest.instances * shape.cycles / target.lanes(8 * nest.element_bytes)
    return moved / target.bandwidth(target.beyond(private)) + waits * cycles * target.cores / target.frequency_hz
