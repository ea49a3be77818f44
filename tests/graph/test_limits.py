"""Limits have units and sources."""

from polysched.graph.limits import LIMITS
from polysched.target.constant import constants


def test_every_limit_says_where_it_is_from() -> None:
    assert all(c.source and c.unit for c in constants(LIMITS))
    assert LIMITS.most_bytes < 2 ** 62
