"""Campaigns: counting, children that hang, wrong programs saved as C, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from polysched.cli.entry import main
from polysched.errors import OutputError
from polysched.fuzz import campaign
from polysched.fuzz.campaign import (
    CampaignOptions,
    ProgramResult,
    as_json,
    run_campaign,
    save_findings,
    slow_summary,
    summary,
)
from polysched.fuzz.checking import Finding
from polysched.fuzz.generator import generate

WRONG = Finding(subject="p5", configuration="", kind="result", detail="A[1] is 3 instead of 4")
REFUSED = Finding(subject="p6", configuration="isl_off", kind="refused", detail="no")


def test_a_campaign_reports_every_program_once() -> None:
    told: list[int] = []
    results = run_campaign(CampaignOptions(count=3, seed=43, chunk=2, statements=1, depth=2),
                           on_result=lambda r: told.append(r.seed))
    assert [r.seed for r in results] == told == [43, 44, 45]
    assert all(r.configurations >= 2 for r in results)
    assert all(sum(n for kind, n in r.kinds.items() if kind.startswith("scheduler ")) >= 2 for r in results)
    assert summary(results) == "3 programs, 0 wrong, 0 refused"


def test_a_program_that_takes_too_long_is_slow_and_the_others_go_on(tmp_path: Path) -> None:
    options = CampaignOptions(count=2, chunk=2, limit_seconds=0.01)
    results = run_campaign(options)
    assert sorted(r.seed for r in results) == [0, 1]
    assert [r.outcome for r in results] == ["slow", "slow"]
    assert results[0].findings[0].detail.startswith("not done after 0.01 seconds; it was in ")
    assert ".py:" in results[0].findings[0].detail
    assert summary(results) == "2 programs, 0 wrong, 0 refused"
    assert slow_summary(results, options) == "2 slow (over 0.01 seconds): 0, 1"
    paths = save_findings(results, options, tmp_path)
    assert [path.name for path in paths] == ["slow_p0.c", "slow_p1.c"]
    assert paths[1].read_text().endswith(generate(1).text())


def test_the_line_of_slow_programs_is_there_without_any() -> None:
    assert slow_summary([ProgramResult(seed=5)], CampaignOptions(count=1)) == "0 slow (over 10 seconds)"


def test_the_summary_counts_programs() -> None:
    results = [ProgramResult(seed=5, findings=(WRONG, WRONG)), ProgramResult(seed=6, findings=(REFUSED,)),
               ProgramResult(seed=7, configurations=5)]
    assert summary(results) == "3 programs, 1 wrong, 1 refused"
    stored = json.loads(as_json(results, CampaignOptions(count=3, seed=5)))
    assert (stored["programs"], stored["wrong"], stored["refused"], stored["configurations"]) == (3, 1, 1, 5)
    assert stored["findings"][0] == {"subject": "p5", "configuration": "", "kind": "result",
                                     "detail": "A[1] is 3 instead of 4", "seed": 5}


def test_a_wrong_program_is_saved_with_what_is_wrong(tmp_path: Path) -> None:
    results = [ProgramResult(seed=5, findings=(WRONG,)), ProgramResult(seed=6, findings=(REFUSED,))]
    paths = save_findings(results, CampaignOptions(count=2, seed=5), tmp_path / "wrong")
    assert paths == [tmp_path / "wrong" / "p5.c"]
    text = paths[0].read_text()
    assert "A[1] is 3 instead of 4" in text
    assert "polysched fuzz --count 1 --seed 5" in text
    assert text.endswith(generate(5).text())


def test_a_wrong_program_is_saved_as_it_is_without_time_or_a_word_of_the_child(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind Ctrl-C, a child that had not begun within the limit of one program ended the command by an IndexError."""
    asked: list[float] = []

    def silent(request: Any, seconds: float, options: CampaignOptions) -> tuple[Any, str]:
        asked.append(seconds)
        return SimpleNamespace(reports=()), ""

    monkeypatch.setattr(campaign, "_worker", silent)
    for seconds in (0.0, 3.0):
        options = CampaignOptions(count=1, seed=5, limit_seconds=1.0, shrink_seconds=seconds)
        text = save_findings([ProgramResult(seed=5, findings=(WRONG,))], options, tmp_path)[0].read_text()
        assert text.endswith(generate(5).text())
        assert "made smaller" not in text
    assert asked == [4.0]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*p5\.c: .*\n  hint: name another folder with --save"):
        save_findings([ProgramResult(seed=5, findings=(WRONG,))], CampaignOptions(count=1, seed=5), tmp_path / "file")


def test_the_command_ends_with_the_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["fuzz", "--count", "2", "--seed", "117", "--jobs", "1", "--json", str(tmp_path / "r.json"),
                 "--save", str(tmp_path / "wrong")])
    assert code == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["0 slow (over 10 seconds)", "2 programs, 0 wrong, 0 refused"]
    assert json.loads((tmp_path / "r.json").read_text())["programs"] == 2


def test_bad_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--count", "0"]) == 2
    assert "--count and --jobs must be at least 1" in capsys.readouterr().err
