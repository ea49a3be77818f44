"""Memory: which values share memory, and where in one arena the others stand.

Offsets are given greedily, the largest values first, each at the lowest place where it overlaps no value that lives at
the same time.  While the arena is larger than the most that lives at once, the values that end it go first in the next
attempt; the best attempt counts.

Source: Y. Pisarchyk and J. Lee, Efficient Memory Management for Deep Neural Net Inference, 2020, section 5.2.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from itertools import accumulate

from polysched.graph.limits import LIMITS
from polysched.records import dataclass
from polysched.target.target import BUFFER_ALIGNMENT_BYTES

ALIGNMENT = BUFFER_ALIGNMENT_BYTES


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """A value that needs memory while it lives.

    Parameters
    ----------
    name : the value.
    bytes : its size.
    first, last : the steps that write it first and read it last.
    """

    name: str
    bytes: int
    first: int
    last: int

    def meets(self, other: Buffer) -> bool:
        """Whether both live at one step."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, kw_only=True)
class Arena:
    """Where every buffer stands.

    Parameters
    ----------
    offsets : bytes from the start, by value; multiples of 64.
    bytes : the size of the whole.
    peak_bytes : the most that lives at one step: no arena is smaller.
    """

    offsets: Mapping[str, int]
    bytes: int
    peak_bytes: int


def rounded(size: int) -> int:
    """Bytes up to the next alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def arena_of(buffers: Sequence[Buffer]) -> Arena:
    """Offsets for buffers whose sizes are known."""
    peak = most_at_once(buffers)
    order = sorted(buffers, key=lambda b: (-rounded(b.bytes), b.first))
    best: list[Placed] = []
    least = -1
    for _ in range(attempts(len(buffers))):
        placed = _placed(order)
        end = max((end for _, end, _ in placed), default=0)
        if least < 0 or end < least:
            best, least = placed, end
        if least == peak:
            break
        at_end = {b.name for _, e, b in placed if e == end}
        order = [*(b for b in order if b.name in at_end), *(b for b in order if b.name not in at_end)]
    return Arena(offsets={b.name: start for start, _, b in best}, bytes=max(least, 0), peak_bytes=peak)


def most_at_once(buffers: Sequence[Buffer]) -> int:
    """The most bytes that live at one step."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        changes[buffer.first] = changes.get(buffer.first, 0) + rounded(buffer.bytes)
        changes[buffer.last + 1] = changes.get(buffer.last + 1, 0) - rounded(buffer.bytes)
    return max(accumulate(changes[step] for step in sorted(changes)), default=0)


def attempts(count: int) -> int:
    """How often a number of buffers may be placed: each time takes the square of it."""
    return max(1, min(LIMITS.most_arenas, LIMITS.most_placements // max(count * count, 1)))


Placed = tuple[int, int, Buffer]
"""Start and end of a buffer."""


def _placed(order: Sequence[Buffer]) -> list[Placed]:
    """Buffers one after the other, each at the lowest place that is free."""
    placed: list[Placed] = []
    for buffer in order:
        size, offset, first, last = rounded(buffer.bytes), 0, buffer.first, buffer.last
        for start, end, other in placed:
            if offset + size <= start:
                break
            if end > offset and first <= other.last and other.first <= last:
                offset = end
        insort(placed, (offset, offset + size, buffer), key=_start)
    return placed


def _start(placed: Placed) -> int:
    return placed[0]
