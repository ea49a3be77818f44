"""Rows that share the sets of a cache: as many stay as have places of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.target.target import CacheLevel
from polysched.tiling.footprints.conflicts import OWN_WAYS, most_rows
from polysched.tiling.footprints.references import Reference
from tests.tiling.footprints.test_traffic import reference

L1 = CacheLevel(level=1, size_bytes=32 * 1024, ways=8)


def rows(elements: int, element_bytes: int = 8) -> Reference:
    return replace(reference("A", ((1, 0), (0, 1))), row_elements=elements, element_bytes=element_bytes)


@pytest.mark.parametrize(("elements", "places"), [
    (512, 1),      # 4096 bytes, a whole way: every row begins in the same set
    (1024, 1),
    (256, 2),
    (8, 64),       # one line a row
    (513, 512),    # 4104 bytes: places are a row's greatest common divisor with the way apart
])
def test_rows_apart_by_powers_of_two_share_their_sets(elements: int, places: int) -> None:
    assert most_rows(rows(elements), L1) == int(places * L1.ways * OWN_WAYS)


def test_rows_shorter_than_a_line_count_as_a_line() -> None:
    assert most_rows(rows(1), L1) == most_rows(rows(8), L1)


def test_nothing_is_known_of_other_arrays_or_caches() -> None:
    assert most_rows(rows(0), L1) is None, "the length of a row is not known"
    assert most_rows(rows(512), CacheLevel(level=1, size_bytes=32 * 1024, ways=0)) is None
    assert most_rows(reference("x", ((1, 0),)), L1) is None, "no rows"


def test_one_row_always_stays() -> None:
    direct = CacheLevel(level=1, size_bytes=4096, ways=1)
    assert most_rows(rows(512), direct) == 1
