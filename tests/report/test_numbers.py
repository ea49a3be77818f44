"""How numbers are written, and which means are quoted."""

import pytest

from polysched.report.numbers import quantity, seconds_text


@pytest.mark.parametrize(("seconds", "text"), [
    (0.0, "0"), (0.0001234, "0.000123"), (0.5, "0.500"), (12.345, "12.3"), (123.9, "124"), (98765.0, "98765")])
def test_seconds_have_three_digits_and_no_powers(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(("value", "text"), [
    (2.134e9, "2.13 GB"), (0.5, "0.5 B"), (999.0, "999 B"), (999.9, "1 kB"), (1000.0, "1 kB"), (999_960_000.0, "1 GB"),
    (5e12, "5 TB")])
def test_quantities_have_the_prefix_of_what_is_shown(value: float, text: str) -> None:
    assert quantity(value, "B") == text
