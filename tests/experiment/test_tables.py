"""Tables as Markdown: aligned, numbers to the right, nothing where there is no value."""

from __future__ import annotations

import pytest

from polysched.experiment.tables import markdown_table


def test_columns_are_aligned() -> None:
    assert markdown_table(["kernel", "s"], [["gemm", 0.5], ["lu", 12.25]]) == "\n".join([
        "| kernel |    s |", "|--------|-----:|", "| gemm   |  0.5 |", "| lu     | 12.2 |"])


@pytest.mark.parametrize(("value", "text"), [
    (None, "-"), (0.12345, "0.123"), (1234.5, "1234"), (999.4, "999"), (-2e-7, "-2e-07"), (3, "3"), ("a", "a"),
    (True, "True"), (0.0, "0")])
def test_cells(value: object, text: str) -> None:
    row = markdown_table(["name", "value"], [["x", value]]).splitlines()[-1]
    assert row.split("|")[2].strip() == text


def test_text_stands_on_the_left_and_numbers_with_a_unit_on_the_right() -> None:
    rows = [["a", "yes", "3 us", "2 minutes on one idle core", None],
            ["b", "no", "1.02 (clang)", "a few minutes, most of it compiling", "-0.5"]]
    rule = markdown_table(["case", "kept", "time", "expected", "share"], rows).splitlines()[1]
    assert [cell.endswith(":") for cell in rule.strip("|").split("|")] == [False, False, True, False, True]


def test_a_table_without_rows_has_its_head() -> None:
    assert markdown_table(["a", "b"], []).splitlines() == ["| a | b |", "|---|--:|"]


def test_a_row_of_another_length_is_an_error() -> None:
    with pytest.raises((ValueError, IndexError)):
        markdown_table(["a", "b"], [["x"]])
