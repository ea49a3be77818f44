"""READMEs of experiments open with question, command, time, one table and one figure; what was tried is their diary.

An experiment without a record has no table yet, one without a plot no figure.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
NAMES = sorted(str(path.parent.relative_to(EXPERIMENTS)) for depth in ("*", "*/*")
               for path in EXPERIMENTS.glob(f"{depth}/experiment.toml"))
LONGEST = 80
WORDS = dict(zip(("a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
                  "twelve"), ("1", "1", *map(str, range(1, 13))), strict=True))
DURATION = re.compile(rf"\b(\d+|{'|'.join(WORDS)})\s+(second|minute|hour)s?\b")


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_opens_with_question_command_table_and_figure(name: str) -> None:
    folder = EXPERIMENTS / name
    text = (folder / "README.md").read_text()
    has_record, has_plot = any(folder.glob("*.jsonl")), any(folder.glob("*.svg"))
    parts = [r"^Question: ", r"^    .*polysched bench ", r"^Expected time: "]
    parts += [r"^\|"] * has_record + [r"^!\["] * has_plot
    found = [re.search(part, text, re.MULTILINE) for part in parts]
    places = [match.start() if match else -1 for match in found]
    assert -1 not in places
    assert places == sorted(places)
    opening = text.split("\n## ")[0]
    assert places[-1] < len(opening)
    tables = len(re.findall(r"^\|[-|: ]+\|$", opening, re.MULTILINE))
    assert has_record <= tables <= 1, "one table in the opening"
    assert len(re.findall(r"^!\[", text, re.MULTILINE)) == has_plot, "one figure"


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_is_short_and_names_its_diary(name: str) -> None:
    folder = EXPERIMENTS / name
    text = (folder / "README.md").read_text()
    assert len(text.splitlines()) <= LONGEST
    assert (folder / "DIARY.md").exists() == ("(DIARY.md)" in text)


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_expects_the_time_that_the_table_of_all_says(name: str) -> None:
    folder = EXPERIMENTS / name
    expected = tomllib.loads((folder / "experiment.toml").read_text())["expected_time"]
    told = (folder / "README.md").read_text().split("Expected time: ", 1)[1]
    assert duration(told) == duration(expected)


def duration(text: str) -> tuple[str, str]:
    """The first duration in a text."""
    found = DURATION.search(text)
    assert found is not None, text[:80]
    return WORDS.get(found[1], found[1]), found[2]
