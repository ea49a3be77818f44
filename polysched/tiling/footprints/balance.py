"""How evenly tiles share out among threads."""

from __future__ import annotations


def idle_share(tiles: int, threads: int) -> float:
    """Share of the threads' time that is lost because the tiles do not divide evenly."""
    rounds = -(-tiles // threads)
    return 1.0 - tiles / (rounds * threads)


def first_share(extent: int, edge: int, threads: int) -> float:
    """What the first thread does beyond its part, as a share of all, where each gets as many tiles in one piece."""
    tiles = -(-extent // edge)
    return min(1.0, -(-tiles // threads) * edge / extent) - 1 / threads


def uneven_share(extent: int, edge: int, threads: int) -> float:
    """What the busiest thread does beyond its part, as a share of all; tiles of `edge`, the last one what is left."""
    full, rest = divmod(extent, edge)
    most = -(-full // threads) * edge if full % threads else full // threads * edge + rest
    return most / extent - 1 / threads
