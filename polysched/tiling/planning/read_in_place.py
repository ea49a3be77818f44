"""Whether register blocks read their operand in lanes where it lies, instead of from a copy of it.

A panel brings the rows that a block walks into one piece.  That pays where rows lie a power of two apart, so that they
push each other out of the sets that they share, where vectors lie on two lines, or where rows are so many that their
pages are not all known to the processor.  Where none of that is so and a row arrives from the second cache behind the
arithmetic on the row before (`TileProblem.streams`), a copy costs what it moves and gains nothing, however often blocks
read it there: steps of so many multiply-adds leave the processor room to ask for rows several steps ahead.  Beyond the
second cache that room does not suffice, so what comes from there has to come only once.

Nor does it pay where few rows read it and blocks take whole lines of it: a copy is a load and a store for each vector,
which is then used for as many multiply-adds as there are rows.  What comes from beyond the second cache row by row has
to arrive behind the arithmetic on the rows before, though: short steps wait for it, where a copy asks for many lines
at a time.

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 34(3), 2008, section 4.2.2
(what packing is for: contiguous access, and entries of the TLB).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from polysched.target.target import CacheLevel, Target
from polysched.tiling.footprints.conflicts import most_rows
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.footprints.traffic import footprint_bytes
from polysched.tiling.limits import LIMITS
from polysched.tiling.planning.register_shape import RegisterShape, panel_operands, step_cycles

FEWEST_PANEL_READS = LIMITS.fewest_panel_reads
"""Blocks of rows that read a panel, or it is not packed.

Blocks of half a line are no such blocks.
"""


SHORTEST_STEP_CYCLES = LIMITS.shortest_step_cycles


def read_in_lanes(nest: Nest, shape: RegisterShape) -> tuple[Reference, ...]:
    """The operands of a block along its columns that a panel could hold."""
    return tuple(r for r in panel_operands(nest, replace(shape, in_place=False)) if r.moves_with(shape.columns))


def lies_well(nest: Nest, shape: RegisterShape, target: Target) -> bool:
    """Whether every operand that blocks read in lanes serves them as well where it lies as in a panel.

    Known sizes only: what follows from them is right for one size and wrong for the next.  Whether rows arrive in time
    is another question.
    """
    known = all(nest.constant[k:k + 1] == (True,) for k in (shape.columns, *shape.inner))
    operands = read_in_lanes(nest, shape)
    return (known and nest.is_box and not shape.transposed and bool(operands)
            and all(_lies_well(r, nest, shape, target.last_private, target.costs.tlb_pages) for r in operands))


def read_by_few_rows(nest: Nest, shape: RegisterShape, target: Target) -> bool:
    """Whether blocks read whole lines of every operand in lanes, fewer than `FEWEST_PANEL_READS` times each.

    Known sizes only.
    """
    operands, line = read_in_lanes(nest, shape), target.last_private.line_bytes
    return nest.is_box and not shape.transposed and bool(operands) and all(
        r.stride(shape.columns) is Stride.UNIT and not shape.column_count * r.element_bytes % line
        and 0 < _known_reads(r, nest, shape) < FEWEST_PANEL_READS for r in operands)


def reads_once(nest: Nest, shape: RegisterShape) -> bool:
    """Whether blocks read every operand in lanes where it lies, each element once: no tile has anything of it again."""
    operands = read_in_lanes(nest, shape)
    return shape.in_place and bool(operands) and all(_known_reads(r, nest, shape) == 1 for r in operands)


def waits_for_rows(nest: Nest, shape: RegisterShape, target: Target) -> bool:
    """Whether steps are too short for what they read again from beyond the second cache, row by row."""
    def waits(reference: Reference) -> bool:
        lanes = target.lanes(8 * reference.element_bytes)
        return _known_reads(reference, nest, shape) > 1 and (
            step_cycles(shape, lanes, target) < SHORTEST_STEP_CYCLES) and footprint_bytes(
                reference, nest.extents, target.last_private.line_bytes) > target.last_private.size_bytes
    return any(waits(r) for r in read_in_lanes(nest, shape))


def edges_within_pages(nest: Nest, shape: RegisterShape, edges: tuple[int, ...], granules: tuple[int, ...],
                       threads: int, target: Target) -> tuple[int, ...] | None:
    """Edges with which tiles walk no more rows of what they read in place than there are pages at hand; None for those
    given.

    All the columns of a thread come before the next rows.  So rows are walked from end to end, a few vectors at a time,
    which prefetchers follow, and rows a power of two apart do not push each other out before the next block of rows
    reads them again.
    """
    inner, columns, pages = shape.inner[-1], shape.columns, target.costs.first_tlb_pages
    rows = [max(r.row_elements * r.element_bytes, 1) for r in read_in_lanes(nest, shape) if r.moves_with(inner)]
    if not rows:
        return None
    most = pages * max(1, target.costs.page_bytes // max(rows))
    most -= most % granules[inner]
    if not 0 < most < edges[inner]:
        return None
    share = -(-nest.extents[columns] // (threads * granules[columns])) * granules[columns]
    return tuple(most if loop == inner else share if loop == columns else edge for loop, edge in enumerate(edges))


def _known_reads(reference: Reference, nest: Nest, shape: RegisterShape) -> int:
    """How many blocks read each element; 0 where that is not known."""
    again = [loop for loop in (shape.rows, *shape.outer) if not reference.moves_with(loop)]
    if not all(nest.constant[loop:loop + 1] == (True,) for loop in again):
        return 0
    return prod(-(-nest.extents[loop] // (shape.row_count if loop == shape.rows else 1)) for loop in again)


def stays_near(nest: Nest, shape: RegisterShape, edges: tuple[int, ...], order: tuple[int, ...],
               capacity_bytes: int, line_bytes: int) -> bool:
    """Whether tiles fetch every operand in lanes once, or it stays in a cache for the tile loops that repeat it.

    Parameters
    ----------
    edges, order : of the tiles.
    capacity_bytes : what of the cache they may take.
    """
    return all(_stays_near(r, nest, edges, order, capacity_bytes, line_bytes) for r in read_in_lanes(nest, shape))


def _stays_near(reference: Reference, nest: Nest, edges: tuple[int, ...], order: tuple[int, ...],
                capacity_bytes: int, line_bytes: int) -> bool:
    moving = max((at for at, loop in enumerate(order) if reference.moves_with(loop)), default=-1)
    repeats = [at for at, loop in enumerate(order[:moving])
               if not reference.moves_with(loop) and edges[loop] < nest.extents[loop]]
    if not repeats:
        return True
    inside = tuple(nest.extents[loop] if order.index(loop) > repeats[0] else min(edge, nest.extents[loop])
                   for loop, edge in enumerate(edges))
    return footprint_bytes(reference, inside, line_bytes) <= capacity_bytes


def _lies_well(reference: Reference, nest: Nest, shape: RegisterShape, cache: CacheLevel,
               tlb_pages: int) -> bool:
    """Whether rows begin on lines, blocks take whole lines of them, and all that a sum walks stay in a cache."""
    size, line = reference.element_bytes, cache.line_bytes
    lengths = (reference.row_elements, shape.column_count, nest.extents[shape.columns])
    along_row = reference.coefficients[-1]
    alone = not any(step for loop, step in enumerate(along_row) if loop != shape.columns)
    if (reference.stride(shape.columns) is not Stride.UNIT or not alone or any(reference.spans)
            or reference.row_dim != -1 or not reference.row_elements
            or any(length * size % line for length in lengths)):
        return False
    rows = prod(nest.extents[loop] for loop in shape.inner if reference.moves_with(loop))
    most = most_rows(reference, cache)
    fits = 2 * rows * shape.column_count * size <= cache.size_bytes
    return fits and most is not None and rows <= min(most, tlb_pages)
