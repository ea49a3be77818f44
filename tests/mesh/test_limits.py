"""The limits have units and sources."""

from polysched.mesh.limits import LIMITS
from polysched.target.constant import constants


def test_annealing_cools() -> None:
    assert LIMITS.cold_share < LIMITS.hot_share
    assert all(c.unit and c.source for c in constants(LIMITS))
