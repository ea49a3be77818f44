"""What a library function demands of an operand in memory: one unit stride, one leading dimension, whole matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class LibraryOperand:
    """How an operand is handed over.

    Parameters
    ----------
    rows, columns : as they lie in memory; of a vector 1 and its length.
    distance : elements between rows; of a vector between its elements.
    transposed : the function reads columns as rows.
    batch : elements between matrices; 0 for a single one.
    """

    rows: int
    columns: int
    distance: int
    transposed: bool = False
    batch: int = 0


def library_operand(strides: Sequence[int | None], extents: Sequence[int], *, written: bool) -> LibraryOperand | str:
    """An operand as arguments of a call, or why it cannot be handed over.

    The stride of a dimension with one element does not count. Matrices of a batch lie one behind the other.

    Parameters
    ----------
    strides, extents : per subscript of the operand; a stride is None where it is not constant.
    written : it is the result, which no function transposes.
    """
    if any(s is None for s, e in zip(strides, extents, strict=True) if e > 1):
        return "its strides are not constant"
    known = [s or 0 for s in strides]
    if len(known) == 1:
        return _vector(known[0], extents[0])
    matrix = _matrix(known[-2:], extents[-2:], written=written)
    if isinstance(matrix, str) or len(known) < 3:
        return matrix
    lines, distance, batch = matrix.rows, matrix.distance, known[0]
    if extents[0] > 1 and batch < distance * lines:
        return f"its matrices of {lines} rows {distance} elements apart do not lie one behind the other (step {batch})"
    return replace(matrix, batch=batch)


def _vector(step: int, count: int) -> LibraryOperand | str:
    if count == 1:
        step = 1
    return LibraryOperand(rows=1, columns=count, distance=step) if step > 0 else f"its step is {step}"


def _matrix(strides: Sequence[int], extents: Sequence[int], *, written: bool) -> LibraryOperand | str:
    """Two subscripts of which one walks along neighbours."""
    (row, column), (rows, columns) = strides, extents
    if columns == 1:
        column = 1
    if rows == 1:
        row = columns if column == 1 else 1
    transposed = column != 1 and row == 1
    if written and transposed:
        return "the result would be transposed"
    distance, lines, length = (column, columns, rows) if transposed else (row, rows, columns)
    if (row if transposed else column) != 1 or distance < length:
        return f"its strides are {strides[0]} and {strides[1]}"
    return LibraryOperand(rows=lines, columns=length, distance=distance, transposed=transposed)
