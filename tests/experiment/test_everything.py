"""All experiments one after the other: one that fails does not stop the others; the table says how each ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.experiment.everything import NO_TOLERANCE, expected_table
from polysched.experiment.folders import list_experiments
from tests.cli.command import RUN_FAILED, is_refusal, polysched
from tests.experiment.toy import write_toy

ROOT = Path(__file__).parents[2]


def rows(table: str) -> dict[str, list[str]]:
    lines = [line.strip("|") for line in table.splitlines() if "`polysched" in line]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells if len(row) > 1}


def test_the_page_of_the_experiments_says_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    table = rows(expected_table(list_experiments()))
    page = rows((ROOT / "experiments/README.md").read_text())
    assert page == table
    assert [page[f"`polysched bench {name}`"][1] for name in ("amos_mappings", "reproduced/injected_orders")]
    assert NO_TOLERANCE not in [cells[1] for cells in page.values()]


def test_a_failure_is_told_and_the_others_run(tmp_path: Path) -> None:
    folder = write_toy(tmp_path)
    good = tmp_path / "experiments" / "group" / "good"
    good.mkdir(parents=True)
    for file in ("experiment.toml", "run.py"):
        (good / file).write_text((folder / file).read_text())
    (folder / "run.py").write_text("1 +")
    done = polysched("bench", "--all", "out", "-q", folder=tmp_path)
    assert is_refusal(done, code=RUN_FAILED)
    assert "1 of 2 experiments did not end well" in done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines() if "`polysched bench" in line]
    assert [(row[1].strip(), row[-2].strip()) for row in rows] == [
        ("`polysched bench toy`", "the experiment's file is not Python: invalid syntax"),
        ("`polysched bench group/good`", "good")]
    assert (tmp_path / "out/group/good/results.jsonl").read_text().count("\n") == 3
    assert is_refusal(polysched("bench", "--all", "out", "toy", folder=tmp_path))
