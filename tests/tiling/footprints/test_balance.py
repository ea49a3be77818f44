"""How evenly tiles share out among threads: idle time, and what one thread does beyond its part."""

from __future__ import annotations

import pytest

from polysched.tiling.footprints.balance import first_share, idle_share, uneven_share


@pytest.mark.parametrize(("tiles", "threads", "share"), [
    (8, 4, 0.0), (1, 4, 0.75), (5, 4, 3 / 8), (7, 2, 1 / 8), (100, 1, 0.0)])
def test_threads_that_wait_for_the_last_round(tiles: int, threads: int, share: float) -> None:
    assert idle_share(tiles, threads) == pytest.approx(share)


@pytest.mark.parametrize(("extent", "edge", "threads", "share"), [
    (64, 8, 4, 0.0),
    (72, 8, 4, 3 * 8 / 72 - 1 / 4),     # nine tiles: three for the first thread
    (10, 16, 4, 1.0 - 1 / 4),           # one tile: all of it
    (64, 64, 1, 0.0),
])
def test_the_first_thread(extent: int, edge: int, threads: int, share: float) -> None:
    assert first_share(extent, edge, threads) == pytest.approx(share)


@pytest.mark.parametrize(("extent", "edge", "threads", "share"), [
    (64, 8, 4, 0.0),
    (66, 8, 4, 18 / 66 - 1 / 4),        # two tiles each, and the rest of two for one of them
    (72, 8, 4, 24 / 72 - 1 / 4),
    (5, 8, 2, 1 - 1 / 2),
])
def test_the_busiest_thread(extent: int, edge: int, threads: int, share: float) -> None:
    assert uneven_share(extent, edge, threads) == pytest.approx(share)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("extent", [1, 7, 16, 100])
@pytest.mark.parametrize("edge", [1, 3, 16])
def test_shares_are_shares(extent: int, edge: int, threads: int) -> None:
    for share in (idle_share(extent, threads), first_share(extent, edge, threads),
                  uneven_share(extent, edge, threads)):
        assert -1e-12 <= share < 1
