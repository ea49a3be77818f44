"""Rows of a panel that the first cache does not hold are fetched into it while rows before them are used."""

from __future__ import annotations

from collections.abc import Iterator

from polysched.target.target import Target
from polysched.tiling.limits import LIMITS

STREAMED_WAYS = LIMITS.streamed_ways
STREAM_BYTES_AHEAD = LIMITS.stream_bytes_ahead


def fetched_ahead(address: str, *, row_bytes: int, panel_bytes: int, target: Target,
                  read_again: bool = False) -> Iterator[str]:
    """C that fetches the row that will be used some rows later; nothing for panels that the first cache holds.

    Nothing either for a panel that the next block reads from its beginning again, where a step reads one line of it:
    what lies behind its end is not used, and the hardware follows the lines.

    Parameters
    ----------
    address : of the row that is used now, as C.
    row_bytes : of what one step reads; rows lie one behind the other.
    panel_bytes : of all rows that one block of registers reads.
    target : the machine, for its first cache.
    read_again : the next block reads the same rows.
    """
    if panel_bytes >= STREAMED_WAYS * target.way_bytes and not (read_again and row_bytes <= target.line_bytes):
        yield from fetched(address, count_bytes=row_bytes, bytes_ahead=STREAM_BYTES_AHEAD,
                           line_bytes=target.line_bytes)


def fetched(address: str, *, count_bytes: int, bytes_ahead: int, line_bytes: int) -> Iterator[str]:
    """C that fetches the lines of so many bytes, which lie some bytes behind an address."""
    for line in range(0, count_bytes, line_bytes):
        yield f"__builtin_prefetch({beyond(address, str(bytes_ahead + line))});"


def beyond(address: str, count: str) -> str:
    """C for a place so many bytes behind an address; it may lie outside of the array.

    A sum of a pointer may not (C11 6.5.6p8), one of integers may.
    """
    return f"(const void *)((__UINTPTR_TYPE__){address} + {count})"
