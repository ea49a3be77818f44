"""Constants that steer choices: each with a unit and a source, read from the fields of a record."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from polysched.target.constant import Constant, constant, constants


@dataclass(frozen=True, kw_only=True)
class Record:
    """An example."""

    row_cycles: float = constant(20, unit="cycles", source="measured", experiment="a command")
    share: float = constant(0.5, unit="1", source="assumed")


def test_fields_are_read_in_their_order_with_the_values_of_the_record() -> None:
    assert list(constants(Record())) == [
        Constant(name="row_cycles", value=20, unit="cycles", source="measured", experiment="a command"),
        Constant(name="share", value=0.5, unit="1", source="assumed")]
    changed = replace(Record(), share=0.25)
    assert [c.value for c in constants(changed)] == [20, 0.25]


@pytest.mark.parametrize("given", [{"unit": "", "source": "measured"}, {"unit": "s", "source": ""}])
def test_a_constant_has_a_unit_and_a_source(given: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="a unit and a source"):
        constant(3, **given)


def test_a_plain_field_is_no_constant() -> None:
    @dataclass(frozen=True)
    class Careless:
        count: int = 3

    with pytest.raises(ValueError, match=r"Careless\.count has no unit"):
        list(constants(Careless()))
