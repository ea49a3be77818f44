"""The room gives its names on first use."""

import pytest

import polysched.measure


@pytest.mark.parametrize("name", polysched.measure.__all__)
def test_every_name_of_the_room_is_found(name: str) -> None:
    assert getattr(polysched.measure, name).__name__ == name
