"""READMEs of experiments open with question, command, time, one table and one figure; what was tried is their diary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
NAMES = sorted(path.parent.name for path in EXPERIMENTS.glob("*/experiment.toml"))
LONGEST = 80
WITHOUT_FIGURE = ("matches",)   # its record has counts only


def positions(text: str) -> list[int]:
    """Where the parts of the opening begin; -1 for one that is missing."""
    parts = [r"^Question: ", r"^    .*polysched bench ", r"^Expected time: ", r"^\|", r"^!\["]
    found = [re.search(part, text, re.MULTILINE) for part in parts]
    return [match.start() if match else -1 for match in found]


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_opens_with_question_command_table_and_figure(name: str) -> None:
    text = (EXPERIMENTS / name / "README.md").read_text()
    places = positions(text)[:4 if name in WITHOUT_FIGURE else 5]
    assert -1 not in places
    assert places == sorted(places)
    opening = text.split("\n## ")[0]
    assert places[-1] < len(opening)
    assert len(re.findall(r"^\|[-|: ]+\|$", opening, re.MULTILINE)) == 1, "one table in the opening"
    assert len(re.findall(r"^!\[", text, re.MULTILINE)) == (name not in WITHOUT_FIGURE), "one figure"


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_is_short_and_names_its_diary(name: str) -> None:
    folder = EXPERIMENTS / name
    text = (folder / "README.md").read_text()
    assert len(text.splitlines()) <= LONGEST
    assert (folder / "DIARY.md").exists() == ("(DIARY.md)" in text)
