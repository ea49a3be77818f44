"""Whether register blocks read their operand in lanes where it lies, instead of from a copy of it.

A panel brings the rows that a block walks into one piece.  That pays where rows lie a power of two apart, so that they
push each other out of the sets that they share, where vectors lie on two lines, or where rows are so many that their
pages are not all known to the processor.  Where none of that is so and a row arrives from the second cache behind the
arithmetic on the row before (`TileProblem.streams`), a copy costs what it moves and gains nothing, however often blocks
read it: a step of so many multiply-adds leaves the processor room to ask for rows several steps ahead.

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 34(3), 2008, section 4.2.2
(what packing is for: contiguous access, and entries of the TLB).
"""

from __future__ import annotations

from math import prod

from polysched.target.target import CacheLevel, Target
from polysched.tiling.conflicts import most_rows
from polysched.tiling.nest import Nest
from polysched.tiling.references import Reference
from polysched.tiling.register_shape import RegisterShape, panel_operands
from polysched.tiling.strides import Stride

MOST_PAGES = 1024   # that processors know in the second level of their TLB, at least, beside those of other operands


def lies_well(nest: Nest, shape: RegisterShape, target: Target) -> bool:
    """Whether every operand that blocks read in lanes serves them as well where it lies as in a panel.

    Known sizes only: what follows from them is right for one size and wrong for the next.  Whether rows arrive in time
    is another question.
    """
    known = all(nest.constant[k:k + 1] == (True,) for k in (shape.columns, *shape.inner))
    operands = [r for r in panel_operands(nest, shape) if r.moves_with(shape.columns)]
    return (known and nest.is_box and not shape.transposed and bool(operands)
            and all(_lies_well(r, nest, shape, target.last_private) for r in operands))


def _lies_well(reference: Reference, nest: Nest, shape: RegisterShape, cache: CacheLevel) -> bool:
    """Whether rows begin on lines, blocks take whole lines of them, and all that a sum walks stay in a cache."""
    size, line = reference.element_bytes, cache.line_bytes
    lengths = (reference.row_elements, shape.column_count, nest.extents[shape.columns])
    along_row = reference.coefficients[-1]
    alone = not any(step for loop, step in enumerate(along_row) if loop != shape.columns)
    if (reference.stride(shape.columns) is not Stride.UNIT or not alone or any(reference.spans) or reference.row_dim != -1
            or not reference.row_elements or any(length * size % line for length in lengths)):
        return False
    rows = prod(nest.extents[loop] for loop in shape.inner if reference.moves_with(loop))
    most = most_rows(reference, cache)
    return most is not None and rows <= min(most, MOST_PAGES) and 2 * rows * shape.column_count * size <= cache.size_bytes
