"""Short forms of options: each a field of a part, read and set alike."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.short_options import SHORT, ShortOptions, by_part


def test_every_short_name_is_a_field_of_its_part() -> None:
    options = PipelineOptions()
    for name, (part, field) in SHORT.items():
        assert field in {f.name for f in fields(getattr(options, part))}, name
        if name != "register_block":   # where None stands for True
            assert getattr(options, name) == getattr(getattr(options, part), field), name
    assert options.register_block is None
    assert set(ShortOptions.__annotations__) == set(SHORT)


@pytest.mark.parametrize(("given", "part", "field", "value"), [
    ({"tile": 32}, "tiling", "sizes", 32), ({"tile": [8, 16]}, "tiling", "sizes", (8, 16)),
    ({"fusion": "none"}, "scheduling", "fusion", "none"), ({"vector_bits": 256}, "emission", "vector_bits", 256),
    ({"pure": ("f",)}, "source", "pure", ("f",))])
def test_the_short_form_is_the_long_one(given: dict[str, Any], part: str, field: str, value: object) -> None:
    made = PipelineOptions(**given)
    assert getattr(getattr(made, part), field) == value
    assert made == PipelineOptions(**given)


def test_fields_are_sorted_by_their_part() -> None:
    assert by_part({"tile": 32, "parallel": False, "fusion": "max"}) == {
        "tiling": {"sizes": 32, "parallel": False}, "scheduling": {"fusion": "max"}}
    assert by_part({}) == {}


def test_what_is_no_option_or_no_value() -> None:
    with pytest.raises(TypeError, match="no option 'tiles'"):
        by_part({"tiles": 32})
    with pytest.raises((UsageError, ValueError)):
        PipelineOptions(tile="large")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        by_part({"tile": 2.5})
