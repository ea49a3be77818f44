"""`polysched fuzz`: which campaign is asked, what is told on the way, where results go, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import polysched.fuzz.campaign as programs
import polysched.fuzz.graph_campaign as graphs
import polysched.fuzz.matches.campaign as pairs
from polysched.cli.entry import main
from polysched.fuzz.campaign import CampaignOptions, ProgramResult
from polysched.fuzz.checking import Finding
from polysched.fuzz.graph_campaign import GraphRecord
from polysched.fuzz.matches.campaign import MatchCampaign
from polysched.fuzz.matches.records import CRASH, MATCHED, REFUSED, PairRecord

WRONG = ProgramResult(seed=5, findings=(Finding(subject="p5", configuration="isl_off", kind="order", detail="S0(1)"),))
DECLINED = ProgramResult(seed=6, findings=(Finding(subject="p6", configuration="pluto", kind="refused", detail="no"),))
Asked = list[Any]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    """The campaigns that were asked; each ends at once, with the results that stand in the second place."""
    found: Asked = []
    results: dict[str, list[Any]] = {"programs": [], "graphs": [], "pairs": []}

    def run(kind: str, argument: str) -> Any:
        def campaign(options: Any, **heard: Any) -> list[Any]:
            found.append(options)
            for result in results[kind]:
                heard[argument](result)
            return results[kind]
        return campaign

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(programs, "run_campaign", run("programs", "on_result"))
    monkeypatch.setattr(programs, "save_findings", lambda results, options, folder: [folder / "p5.c"] * any(
        r.wrong for r in results))
    monkeypatch.setattr(graphs, "run_graphs", run("graphs", "on_record"))
    monkeypatch.setattr(graphs, "save_faults", lambda records, folder: [])
    monkeypatch.setattr(pairs, "run_pairs", run("pairs", "on_record"))
    monkeypatch.setattr(pairs, "save_faults", lambda records, options, folder: [])
    found.append(results)
    return found


def test_options_come_to_the_campaign(asked: Asked) -> None:
    assert main(["fuzz", "--count", "7", "--seed", "3", "--jobs", "2", "--limit-seconds", "4.5",
                 "--data-dependent", "0", "--programs", "contractions", "-q"]) == 0
    assert asked[1:] == [CampaignOptions(count=7, seed=3, jobs=2, limit_seconds=4.5, data_dependent=0.0,
                                         programs="contractions")]
    assert main(["fuzz", "--instructions", "--pairs", "9", "--seed", "2", "--jobs", "1", "--time-limit", "3"]) == 0
    assert asked[2] == MatchCampaign(pairs=9, seed=2, jobs=1, limit_seconds=3.0)
    assert main(["fuzz", "--graphs", "--count", "4", "--jobs", "1"]) == 0
    assert (asked[3].count, asked[3].seed, asked[3].jobs) == (4, 0, 1)


@pytest.mark.parametrize("options", [
    ["--count", "0"], ["--jobs", "0"], ["--limit-seconds", "0"], ["--limit-seconds", "-1"],
    ["--limit-seconds", "nan"], ["--limit-seconds", "inf"], ["--data-dependent", "nan"],
    ["--instructions", "--time-limit", "nan"], ["--instructions", "--time-limit", "inf"], ["--data-dependent", "1.5"],
    ["--data-dependent", "-0.1"], ["--graphs", "--count", "0"], ["--instructions", "--pairs", "0"],
    ["--instructions", "--time-limit", "0"], ["--results", "pairs.jsonl"],
    ["--instructions", "--results", "-", "--json"], ["--graphs", "--instructions"]])
def test_what_cannot_be_is_refused_before_anything_runs(options: list[str], asked: Asked,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", *options]) == 2
    assert len(asked) == 1
    assert "hint: " in capsys.readouterr().err


def test_a_wrong_program_is_told_saved_and_the_exit_code(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked[0]["programs"] = [WRONG, DECLINED]
    assert main(["fuzz", "--count", "2", "--save", "found", "-q"]) == 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["WRONG order: p5 isl_off S0(1)", "refused: p6 pluto no", "saved found/p5.c"]
    assert lines[-1] == "2 programs, 1 wrong, 1 refused"
    asked[0]["programs"] = [DECLINED]
    assert main(["fuzz", "--count", "1", "-q"]) == 0


def test_json_on_standard_output_is_alone_there(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked[0]["programs"] = [WRONG]
    assert main(["fuzz", "--count", "1", "--json", "-", "-q"]) == 4
    captured = capsys.readouterr()
    assert json.loads(captured.out)["wrong"] == 1
    assert "WRONG order: p5" in captured.err
    assert captured.err.splitlines()[-1] == "1 programs, 1 wrong, 0 refused"


def test_a_faulty_graph_is_told(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked[0]["graphs"] = [GraphRecord(3, "wrong", "y[0]"), GraphRecord(4, "refused", "why")]
    code = main(["fuzz", "--graphs", "--count", "2", "--json", "graphs.json", "-q"])
    assert (code, capsys.readouterr().out.splitlines()[0]) == (4, "WRONG: graph 3 y[0]")
    assert [r["seed"] for r in json.loads(Path("graphs.json").read_text())] == [3, 4]


def test_a_faulty_pair_is_told_and_every_pair_is_a_line(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked[0]["pairs"] = [PairRecord(seed=1, kind="sum", relation="same", verdict=MATCHED, reason="m"),
                         PairRecord(seed=2, kind="sum", relation="near miss", verdict=CRASH, reason="KeyError: 'x'"),
                         PairRecord(seed=3, kind="sum", relation="same", verdict=REFUSED, reason="no")]
    assert main(["fuzz", "--instructions", "--pairs", "3", "--results", "pairs.jsonl", "-q"]) == 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "CRASH: pair 2 (sum, near miss) KeyError: 'x'"
    assert lines[-1] == "3 pairs, 0 wrong, 1 crashed, 0 over the time limit, 1 matched, 1 refused"
    assert len(Path("pairs.jsonl").read_text().splitlines()) == 3
    assert main(["fuzz", "--instructions", "--pairs", "3", "--json", "-q"]) == 4
    captured = capsys.readouterr()
    assert [own["seed"] for own in json.loads(captured.out)] == [1, 2, 3]
    assert captured.err.splitlines()[0] == "CRASH: pair 2 (sum, near miss) KeyError: 'x'"
    assert main(["fuzz", "--instructions", "--pairs", "3", "--results", "-", "-q"]) == 4
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_campaign_that_is_stopped_says_what_it_found(asked: Asked, monkeypatch: pytest.MonkeyPatch,
                                                       capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def stopped(options: CampaignOptions, on_result: Any) -> list[ProgramResult]:
        on_result(DECLINED)
        on_result(WRONG)
        raise KeyboardInterrupt

    monkeypatch.setattr(programs, "run_campaign", stopped)
    assert main(["fuzz", "--count", "9", "--json", "found.json"]) == 130
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("WRONG order: p5 isl_off")
    assert said[-2:] == ["2 programs, 1 wrong, 1 refused", "stopped: 2 of 9 programs were checked"]
    assert json.loads((tmp_path / "found.json").read_text())["wrong"] == 1


@pytest.mark.parametrize(("argument", "where", "run", "line"), [
    ("--graphs", graphs, "run_graphs", "stopped: 0 of 100 graphs were checked"),
    ("--target=cuda", graphs, "run_graphs", "stopped: 0 of 100 programs were checked"),
    ("--instructions", pairs, "run_pairs", "stopped: 0 of 200 pairs were checked")])
def test_so_do_the_other_kinds(asked: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
                               argument: str, where: Any, run: str, line: str) -> None:
    def stopped(options: Any, on_record: Any) -> list[Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, run, stopped)
    monkeypatch.setattr(graphs, "save_faults", lambda records, folder, *text: [])
    assert main(["fuzz", argument]) == 130
    assert capsys.readouterr().out.splitlines()[-1] == line
