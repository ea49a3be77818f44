"""What a tile loads and stores."""

from __future__ import annotations

import pytest

from polysched.errors import UnsupportedScopError
from tests.gpu.scratchpad.accelerated import mapped, norm, program


def _moved(text: str) -> tuple[set[str], set[str]]:
    homes = [item for own in mapped(text).groups.values() for item in own.plan.homes.items()]
    return {a for a, h in homes if h.is_loaded}, {a for a, h in homes if h.is_stored}


def test_what_a_tile_writes_first_is_not_loaded() -> None:
    assert _moved(norm(8, 8)) == ({"X", "g"}, {"Y", "m", "v"})


def test_what_is_written_under_a_condition_is_loaded() -> None:
    text = program("float x[9], const float y[9]", "for (int i = 0; i < 9; i++) if (y[i] > 0.0f) x[i] = y[i];")
    assert _moved(text) == ({"x", "y"}, {"x"})


def test_an_array_of_the_region_is_neither() -> None:
    text = program("float x[9]", "for (int i = 0; i < 9; i++) { float t[1]; t[0] = x[i]; x[i] = t[0] + t[0]; }")
    loaded, stored = _moved(text)
    assert loaded == {"x"} == stored


@pytest.mark.parametrize(("body", "words"), [
    ("for (int i = 0; i < 9; i++) x[i - 1] = 0.0f;", "in front of its first element"),
    ("for (int i = 0; i < 9; i++) x[k[i]] = 0.0f;", "depends on data")])
def test_what_has_no_known_elements_is_refused(body: str, words: str) -> None:
    with pytest.raises(UnsupportedScopError, match=words):
        mapped(program("float x[9], const int k[9]", body))
