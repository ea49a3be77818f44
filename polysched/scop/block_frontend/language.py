"""The words of block programs.

They have a meaning only inside one; calling them elsewhere is refused.  For instance::

    import polysched.scop.block_frontend.language as bl

    @polysched.block_program
    def add(x, y, out, BLOCK=256):
        n = out.shape[0]
        at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
        total = bl.load(bl.block(x, (n,), (at,), (BLOCK,))) + bl.load(bl.block(y, (n,), (at,), (BLOCK,)))
        bl.store(bl.block(out, (n,), (at,), (BLOCK,)), total)
"""

from __future__ import annotations

from typing import Any, NoReturn

from polysched.errors import UsageError

inf = float("inf")


def _outside(word: str) -> NoReturn:
    raise UsageError(f"{word} has a meaning only in a block program",
                     hint="decorate the function with @polysched.block_program")


def program_id(axis: int, programs: Any) -> Any:
    """The number of this program along an axis, of 0 to `programs - 1`."""
    _outside("program_id")


def cdiv(size: Any, edge: int) -> Any:
    """How many blocks of `edge` elements cover `size` elements."""
    _outside("cdiv")


def block(array: Any, extents: Any, offsets: Any, shape: Any) -> Any:
    """A block of an array: its elements from `offsets` on; those outside 0 to `extents` are masked.

    A dimension whose entry in `shape` is None has one element, and no place in the tile.
    """
    _outside("block")


def load(block: Any, mask: Any = None, other: Any = 0) -> Any:
    """The elements of a block as a tile; `other` in masked lanes.  A lane with 0 adds nothing to `sum` and `dot`."""
    _outside("load")


def store(block: Any, tile: Any, mask: Any = None) -> None:
    """Write a tile into the lanes of a block that are not masked."""
    _outside("store")


def arange(first: int, end: int) -> Any:
    """The integers of a range as a tile of one dimension.

    These, ids and sizes take the type of an array's elements that they meet, as Python's integers do.
    """
    _outside("arange")


def zeros(shape: Any) -> Any:
    """A tile of zeros: of the type of all that is assigned to its name, else of that of the first array."""
    _outside("zeros")


def full(shape: Any, value: Any) -> Any:
    """A tile of equal numbers."""
    _outside("full")


def dot(a: Any, b: Any) -> Any:
    """The matrix product of two tiles, summed in order."""
    _outside("dot")


def trans(tile: Any) -> Any:
    """A tile of two dimensions with these exchanged."""
    _outside("trans")


def sum(tile: Any, axis: int) -> Any:
    """The sums along one dimension, in order and in the type of the tile."""
    _outside("sum")


def max(tile: Any, axis: int) -> Any:
    """The largest elements along one dimension."""
    _outside("max")


def min(tile: Any, axis: int) -> Any:
    """The least elements along one dimension."""
    _outside("min")


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """Per lane, one of two tiles."""
    _outside("where")


def maximum(a: Any, b: Any) -> Any:
    """Per lane, the larger of two tiles."""
    _outside("maximum")


def minimum(a: Any, b: Any) -> Any:
    """Per lane, the lesser of two tiles."""
    _outside("minimum")


def exp(tile: Any) -> Any:
    """Per lane, e to that power."""
    _outside("exp")


def log(tile: Any) -> Any:
    """Per lane, the natural logarithm."""
    _outside("log")


def sqrt(tile: Any) -> Any:
    """Per lane, the square root."""
    _outside("sqrt")


def abs(tile: Any) -> Any:
    """Per lane, the value without its sign."""
    _outside("abs")


def uint64(tile: Any) -> Any:
    """Per lane, the number as an unsigned integer of 64 bits, which wraps."""
    _outside("uint64")
