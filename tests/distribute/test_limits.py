"""Every limit has a unit and a source."""

from polysched.distribute.limits import LIMITS
from polysched.target.constant import constants


def test_limits_say_what_they_are() -> None:
    found = list(constants(LIMITS))
    assert found
    assert all(row.unit and row.source for row in found)
