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
    assert [page[f"`polysched bench {name}`"][1] for name in ("amos_mappings --extra", "reproduced/injected_orders")]
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
        ("`polysched bench toy`", "the experiment's file is not Python: invalid syntax: 1 +"),
        ("`polysched bench group/good`", "good")]
    assert (tmp_path / "out/group/good/results.jsonl").read_text().count("\n") == 3
    assert is_refusal(polysched("bench", "--all", "out", "toy", folder=tmp_path))


def outcomes(stdout: str) -> dict[str, str]:
    rows = [line.split("|") for line in stdout.splitlines() if "`polysched bench" in line]
    return {row[1].strip().strip("`").split(" ", 2)[2]: row[-2].strip() for row in rows}


def several(tmp_path: Path, **changes: tuple[str, str]) -> None:
    """The toy experiment under several names, each with a part of its program replaced."""
    folder = write_toy(tmp_path)
    for name, (old, new) in changes.items():
        own = tmp_path / "experiments" / name
        own.mkdir()
        (own / "experiment.toml").write_text((folder / "experiment.toml").read_text())
        text = (folder / "run.py").read_text()
        assert old in text
        (own / "run.py").write_text(text.replace(old, new))


def test_whatever_an_experiment_does_the_others_run(tmp_path: Path) -> None:
    several(tmp_path, absent=("import os\n", "import os\nimport no_such_peer\n"), bug=("def cases(settings):", (
        "def cases(settings):\n    raise KeyError('x')\n\n\ndef _cases(settings):")),
        refused=('if case.name == "refuse"', "if True"), zero=("[[r.case,", "[[1 / 0,"))
    done = polysched("bench", "--all", "out", "-q", folder=tmp_path)
    assert done.returncode == RUN_FAILED
    assert "ZeroDivisionError" in done.stderr
    assert "4 of 5 experiments did not end well" in done.stderr
    assert outcomes(done.stdout) == {
        "absent": "the experiment needs no_such_peer, which is not installed",
        "bug": "an error of its own: KeyError: 'x'",
        "refused": "3 of 3 cases have no result: one: this case is refused hint: choose another",
        "toy": "good", "zero": "an error of its own: ZeroDivisionError: division by zero"}


def test_a_dry_run_counts_what_is_measured_and_a_killed_run_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    several(tmp_path, other=("report(\"counting\")", f"open({str(log)!r}, 'a').write(case.name + ' ')"))
    (tmp_path / "experiments/other/experiment.toml").open("a").write('arguments = ["--cases", "one", "four"]\n')
    dry = polysched("bench", "--all", "out", "--dry-run", folder=tmp_path)
    assert outcomes(dry.stdout) == {"other --cases one four": "0 of 2 cases are measured",
                                    "toy": "0 of 3 cases are measured"}
    assert not (tmp_path / "out").exists()
    assert polysched("bench", "--all", "out", "-q", "--only", "oth*", folder=tmp_path).returncode == 0
    results = tmp_path / "out/other/results.jsonl"
    lines = results.read_text().splitlines()
    results.write_text(f"{lines[0]}\n{lines[1][:100]}")   # killed while the second record was written
    dry = polysched("bench", "--all", "out", "--dry-run", "--only", "other", folder=tmp_path)
    assert outcomes(dry.stdout) == {"other --cases one four": "1 of 2 cases are measured"}
    assert polysched("bench", "--all", "out", "-q", "--only", "other", folder=tmp_path).returncode == 0
    assert log.read_text().split() == ["one", "four", "four"]


def test_a_dry_run_counts_the_cases_that_the_committed_run_chose(tmp_path: Path) -> None:
    (write_toy(tmp_path) / "experiment.toml").open("a").write('arguments = ["--only", "t*"]\n')
    dry = polysched("bench", "--all", "out", "--dry-run", folder=tmp_path)
    assert outcomes(dry.stdout) == {"toy --only 't*'": "0 of 2 cases are measured"}


@pytest.mark.parametrize("words", [["--only", "toy"], ["--dry-run"], ["--all", "out", "--only", "no*"]])
def test_what_chooses_is_refused_where_it_chooses_nothing(words: list[str], tmp_path: Path) -> None:
    write_toy(tmp_path)
    assert is_refusal(polysched("bench", *words, folder=tmp_path))


def test_arguments_of_the_committed_run_are_texts(tmp_path: Path) -> None:
    (write_toy(tmp_path) / "experiment.toml").open("a").write("arguments = 3\n")
    done = polysched("bench", "--all", "out", "--dry-run", folder=tmp_path)
    assert is_refusal(done)
    assert "arguments are no list of texts\n  witness: 3" in done.stderr
