"""Which rows of a panel are fetched ahead."""

from __future__ import annotations

import pytest

from polysched.target import CacheLevel, Target
from polysched.tiling.footprints.streams import STREAMED_WAYS, fetched_ahead

MACHINE = Target(caches=(CacheLevel(level=1, size_bytes=1 << 16, ways=4),))
FEWEST_BYTES = STREAMED_WAYS * (1 << 14)


@pytest.mark.parametrize(("row_bytes", "panel_bytes", "read_again", "lines"), [
    (64, FEWEST_BYTES, False, 1),
    (192, FEWEST_BYTES, False, 3),
    (64, FEWEST_BYTES - 1, False, 0),   # stays in the first cache
    (64, FEWEST_BYTES, True, 0),        # the next block begins at its first row again
    (128, FEWEST_BYTES, True, 2),       # more than a line for each step
])
def test_rows_that_the_cache_does_not_hold_are_fetched_where_they_are_used(
        row_bytes: int, panel_bytes: int, read_again: bool, lines: int) -> None:
    text = list(fetched_ahead("p", row_bytes=row_bytes, panel_bytes=panel_bytes, target=MACHINE,
                              read_again=read_again))
    assert len(text) == lines
    assert all(line.startswith("__builtin_prefetch((const void *)((__UINTPTR_TYPE__)p + ") for line in text)
