"""`polysched bench`: the list, one experiment with options of its own, and all of them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import polysched.experiment.driver as driver
import polysched.experiment.everything as everything
from polysched.cli.entry import main
from tests.experiment.toy import write_toy

QUESTION = "Does the driver do what it says?"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_toy(tmp_path)
    monkeypatch.chdir(tmp_path)
    return folder


def test_experiments_are_listed_with_their_questions(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    assert capsys.readouterr().out == f"toy               {QUESTION} (a second)\n"
    assert main(["bench", "--names"]) == 0
    assert capsys.readouterr().out == "toy\n"


def test_a_long_name_has_room(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy.rename(toy.with_name("a_name_of_twenty_four_ch"))
    assert main(["bench"]) == 0
    assert capsys.readouterr().out == f"a_name_of_twenty_four_ch  {QUESTION} (a second)\n"


def test_the_list_is_json_where_it_is_asked_for(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["name"], found["question"], found["threads"]) == ("toy", QUESTION, [1])
    assert main(["bench", "--names", "--json", "names.json"]) == 0
    assert capsys.readouterr().out == "toy\n"
    assert json.loads(Path("names.json").read_text()) == ["toy"]


@pytest.mark.parametrize(("words", "passed"), [
    (["toy"], []), (["toy", "--only", "x*", "--json", "f"], ["--only", "x*", "--json", "f"]),
    (["-q", "toy", "--resume"], ["--resume", "--quiet"]), (["toy", "-v"], ["-v"]), (["-v", "toy"], ["--verbose"])])
def test_what_stands_behind_a_name_is_its_own(words: list[str], passed: list[str], toy: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(driver, "run_experiment",
                        lambda name, options, parser_class: asked.append((name, options)) or 3)
    assert main(["bench", *words]) == 3
    assert asked == [("toy", passed)]


@pytest.mark.parametrize("words", [["--names", "toy"], ["--json", "f", "toy"], ["--all", "d", "toy"],
                                   ["--all", "d", "--names"], ["--all", "d", "--json"]])
def test_the_list_one_and_all_do_not_go_together(words: list[str], toy: Path,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 2
    assert "hint: " in capsys.readouterr().err


@pytest.mark.parametrize(("problem", "code"), [("", 0), ("it crashed", 3)])
def test_all_are_run_and_one_that_ends_badly_is_the_exit_code(problem: str, code: int, toy: Path,
                                                              monkeypatch: pytest.MonkeyPatch,
                                                              capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Any] = []

    def run_all(experiments: Any, folder: Path, options: list[str], *, parser_class: Any, told: Any) -> list[Any]:
        asked.append(([e.name for e in experiments], folder, options))
        told("toy")
        return [SimpleNamespace(name="toy", problem=problem)]

    monkeypatch.setattr(everything, "run_all", run_all)
    monkeypatch.setattr(everything, "expected_table", lambda experiments, outcomes: "the table")
    assert main(["bench", "--all", "results", "-q"]) == code
    assert asked == [(["toy"], Path("results"), ["--quiet"])]
    captured = capsys.readouterr()
    assert captured.out == "\n== toy\n\nthe table\n"
    assert ("1 of 1 experiments did not end well" in captured.err) == bool(problem)
