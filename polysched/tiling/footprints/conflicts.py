"""Cache sets: rows that lie a power of two apart fall into few of them, so that less than the cache's size fits.

Rows that are S bytes apart, in a cache of W ways of B bytes each, begin in B / gcd(B, S) different places of a way; one
more row than that and two share their sets.

Source: M. D. Lam, E. E. Rothberg, M. E. Wolf, "The Cache Performance and Optimizations of Blocked Algorithms",
ASPLOS 1991, section 3 (self-interference).
"""

from __future__ import annotations

from math import gcd

from polysched.target.target import CacheLevel
from polysched.tiling.footprints.references import Reference
from polysched.tiling.limits import LIMITS

OWN_WAYS = LIMITS.own_ways_share


def most_rows(reference: Reference, cache: CacheLevel) -> int | None:
    """How many rows of an array stay in a cache beside each other; None where nothing is known about them.

    Parameters
    ----------
    cache : with its ways; 0 of them are unknown.
    """
    row_bytes = reference.row_elements * reference.element_bytes
    if not cache.ways or not row_bytes or len(reference.coefficients) < 2:
        return None
    way_bytes = cache.size_bytes // cache.ways
    places = way_bytes // gcd(way_bytes, max(row_bytes, cache.line_bytes))
    return max(1, int(places * cache.ways * OWN_WAYS))
