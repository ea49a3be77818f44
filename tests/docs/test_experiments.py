"""READMEs of experiments open with question, command, time, one table and one figure; what was tried is their diary.

An experiment without a record has no table yet, one without a plot no figure.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
NAMES = sorted(str(path.parent.relative_to(EXPERIMENTS)) for depth in ("*", "*/*")
               for path in EXPERIMENTS.glob(f"{depth}/experiment.toml"))
LONGEST = 80


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
