"""Caches without anything of use: other memory was walked through since.

The walk touches twice what the last cache holds, and before that, on every processor that the measured threads use,
twice what is private to it: another core's second-level cache is not emptied by what this one reads.

Every child that times loads this file, and few walk: what only the walk needs is loaded there.
"""

from __future__ import annotations

import os
from collections.abc import Collection

import numpy as np

from polysched.records import dataclass

FACTOR = 2
MOST_BYTES = 256 << 20


@dataclass(frozen=True, kw_only=True)
class Flush:
    """What is walked through before a call.

    Parameters
    ----------
    shared_bytes : for the cache that all processors share.
    private_bytes : for the caches of each processor.
    processors : those that the measured threads may use.
    """

    shared_bytes: int
    private_bytes: int
    processors: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(map(str, (self.shared_bytes, self.private_bytes, *self.processors)))


def flush_for(processors: Collection[int]) -> Flush:
    """The walk that empties this machine's caches for these processors."""
    from polysched.measure.timing.machine import describe_machine
    sizes = sorted(describe_machine().caches.values())
    last = min(MOST_BYTES, FACTOR * sizes[-1]) if sizes else MOST_BYTES
    private = min(MOST_BYTES, FACTOR * sizes[-2]) if len(sizes) > 1 else 0
    return Flush(shared_bytes=last, private_bytes=private, processors=tuple(sorted(processors)))


def flush_from(words: Collection[str]) -> Flush | None:
    """The walk that `str` of a `Flush` describes; None for no words."""
    if not words:
        return None
    shared, private, *processors = map(int, words)
    return Flush(shared_bytes=shared, private_bytes=private, processors=tuple(processors))


class FlushMemory:
    """The memory that is walked through."""

    def __init__(self, flush: Flush) -> None:
        from polysched.target.target import LINE_BYTES
        self._flush, self._step = flush, LINE_BYTES
        self._memory = np.zeros(max(flush.shared_bytes, flush.private_bytes), dtype=np.uint8)

    def walk(self) -> None:
        """Leave nothing else in the caches; the thread stays on the processors to which it is bound."""
        if len(self._flush.processors) > 1 and hasattr(os, "sched_setaffinity"):
            bound = os.sched_getaffinity(0)
            for processor in self._flush.processors:
                os.sched_setaffinity(0, {processor})
                self._memory[:self._flush.private_bytes:self._step] += 1
            os.sched_setaffinity(0, bound)
        self._memory[:self._flush.shared_bytes:self._step] += 1
