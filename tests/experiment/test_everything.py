"""All experiments one after the other: one that fails does not stop the others; the table says how each ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.experiment.everything import NO_TOLERANCE, expected_table
from polysched.experiment.folders import list_experiments
from tests.cli.command import RUN_FAILED, is_refusal, polysched
from tests.experiment.toy import write_toy

ROOT = Path(__file__).parents[2]


def test_every_experiment_of_the_checkout_says_what_is_tolerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    table = expected_table(list_experiments())
    assert NO_TOLERANCE not in table
    assert "| `polysched bench reproduced/injected_orders`" in table
    assert table in (ROOT / "experiments/README.md").read_text()


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
