"""The driver, started as a user does: cases, resuming, isolation, tables, plots, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import polysched as package
from polysched.experiment.record import read
from polysched.measure.timing.machine import available_cores, git_revision
from tests.cli.command import REFUSED, RUN_FAILED, WRONG_RESULT, is_refusal, polysched
from tests.experiment.toy import write_toy


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write_toy(tmp_path)


def bench(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return polysched("bench", "toy", *arguments, folder=folder, environment=environment)


def test_a_run_writes_one_record_per_case_and_prints_the_table(toy: Path, tmp_path: Path) -> None:
    done = bench(tmp_path, "--threads", "2", environment={"OPENBLAS_CORETYPE": "Prescott"})
    assert done.returncode == 0, done.stderr
    assert "| three |     5 |" in done.stdout
    records = read(tmp_path / "toy.jsonl", experiment="toy")
    assert [r.case for r in records] == ["one", "two", "three"]
    assert all(r.done and r.machine["cores"] >= 1 and "numpy" in r.libraries for r in records)
    assert {r.git_revision for r in records} == {git_revision(Path(package.__file__).parent)}
    assert {r.values["threads"] for r in records} == {"2"}
    assert {r.values["core_type"] for r in records} == {None}, "the variable halves a baseline and is removed"
    assert len({r.values["process"] for r in records}) == 3, "every case has a process of its own"
    assert "[3/3] three" in done.stderr, "plain lines where the output is no terminal"


def test_the_experiments_own_file_does_the_same(toy: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, toy / "run.py", "--only", "t*", "--quiet"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [r.case for r in read(tmp_path / "toy.jsonl")] == ["two", "three"]
    assert "1 of 2 cases: the table and its verdict are about these alone" in bench(
        tmp_path, "--show", "--only", "two").stderr


def test_resume_measures_only_what_is_not_done(toy: Path, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    arguments = ("--cases", "one", "crash", "--log", log)
    assert is_refusal(bench(tmp_path, *arguments, "-q"), code=RUN_FAILED)
    done = bench(tmp_path, *arguments, "--resume", "-v")
    assert "polysched: crash: counting" in done.stderr
    assert "1 case is done already, 1 to go" in done.stderr
    assert str(tmp_path) not in (tmp_path / "toy.jsonl").read_text(), "where things are is not recorded"
    assert [line.split()[0] for line in Path(log).read_text().splitlines()] == ["one", "crash", "crash"]


@pytest.mark.parametrize(("case", "status", "message"), [
    ("crash", "crashed", "crashed with SIGSEGV"), ("memory", "memory", "ran out of memory"),
    ("bug", "failed", "ValueError: an unexpected error"), ("refuse", "refused", "this case is refused"),
    ("hang", "hung", "no progress for 3 seconds while it was counting")])
def test_what_a_case_does_is_its_own_affair(toy: Path, tmp_path: Path, case: str, status: str, message: str) -> None:
    done = bench(tmp_path, "--cases", case, "one", "--limit", "3", "--memory", "2000", "-q")
    assert is_refusal(done, code=RUN_FAILED)
    assert "1 of 2 cases have no result" in done.stderr
    failed, good = read(tmp_path / "toy.jsonl")
    assert good.done
    assert failed.status == status
    assert message in failed.problem
    assert failed.values == {}


def test_the_verdict_decides_the_exit_code(toy: Path, tmp_path: Path) -> None:
    done = polysched("bench", "-q", "toy", "--cases", "thirteen_long", folder=tmp_path)
    assert is_refusal(done, code=WRONG_RESULT)
    assert "1/1" not in done.stderr
    assert "thirteen is not liked" in done.stderr


def test_show_measures_nothing_and_refuses_several_machines(toy: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert bench(tmp_path, "--log", str(log), "-q").returncode == 0
    before = log.read_text()
    assert "| two" in bench(tmp_path, "--show").stdout
    assert log.read_text() == before
    line = json.loads((tmp_path / "toy.jsonl").read_text().splitlines()[0])
    other = line | {"key": "another", "machine": line["machine"] | {"cpu": "another processor"}}
    with (tmp_path / "toy.jsonl").open("a") as file:
        file.write(json.dumps(other) + "\n")
    done = bench(tmp_path, "--show")
    assert is_refusal(done)
    assert "several machines" in done.stderr
    assert "another processor" in done.stderr
    assert bench(tmp_path, "--show", "--any-machine").returncode == 0
    (tmp_path / "toy.jsonl").rename(tmp_path / "experiments" / "toy" / "results.jsonl")
    for asked in ((), ("--any-machine",)):
        committed = bench(tmp_path, "--show", *asked)
        assert "| two" in committed.stdout
        assert "the committed results" in committed.stderr
        assert "another processor" in committed.stderr


@pytest.mark.parametrize("name", ["pet", "polybench"])
def test_committed_results_are_shown_whole_without_the_suite_that_they_come_from(name: str, tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "experiments" / name
    done = polysched("bench", str(folder), "--show", "--results", str(folder / "results.jsonl"), "--any-machine",
                     folder=tmp_path)
    assert done.returncode == 0, done.stderr
    records = read(folder / "results.jsonl")
    listed = [r.case for r in records if name == "polybench" or r.values["outcome"] == "refused"]
    assert len(listed) >= 30
    assert not [case for case in listed if f"| {case} " not in done.stdout]


def test_pinned_and_cold_results_are_others_than_warm_ones(toy: Path, tmp_path: Path) -> None:
    how = ("--pin", "--cold-cache")
    assert bench(tmp_path, "--cases", "one", "-q").returncode == 0
    refused = bench(tmp_path, "--show", *how)
    assert is_refusal(refused)
    assert "no record of these cases was measured like this" in refused.stderr
    done = bench(tmp_path, "--cases", "one", "--resume", *how)
    assert "done already" not in done.stderr
    warm, cold = read(tmp_path / "toy.jsonl")
    assert (warm.values["cores"], warm.values["cold"]) == (available_cores(), False)
    assert (cold.values["cores"], cold.values["cold"]) == (1, True)
    assert {"pin", "cold_cache"} <= cold.options.keys() - warm.options.keys()
    assert done.stdout.count("| one") == 1, "the table has only what was measured in one way"


def test_interrupting_leaves_a_valid_file_and_no_process(toy: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    whatever_is_inherited = ["env", "--default-signal=INT"]    # shells start what runs behind them without interrupts
    run = subprocess.Popen([*whatever_is_inherited, sys.executable, "-m", "polysched", "bench", "toy", "--cases", "one",
                            "hang", "two", "--log", str(log)], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while "hang" not in (log.read_text() if log.exists() else ""):
        assert run.poll() is None
        time.sleep(0.05)
    child = int(log.read_text().splitlines()[-1].split()[1])
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "polysched: interrupted" in errors
    assert "what was measured is in toy.jsonl" in errors
    assert [r.case for r in read(tmp_path / "toy.jsonl")] == ["one"]
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_the_plot_is_written_and_the_same_every_time(toy: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="a plot needs matplotlib")
    for name in ("a.svg", "b.svg"):
        assert bench(tmp_path, "-q", "--plot", name, "--resume").returncode == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "three" in (tmp_path / "a.svg").read_text()
    assert "the plot is in c.svg" in bench(tmp_path, "--show", "--plot", "c.svg").stderr
    done = bench(tmp_path, "--show", "--plot", "a.unknown")
    assert is_refusal(done)
    assert "endings are" in done.stderr


def test_refusals_say_what_there_is(toy: Path, tmp_path: Path) -> None:
    assert "toy               Does the driver" in polysched("bench", folder=tmp_path).stdout
    for arguments, message in ((("nothing",), "those that exist: toy"), (("toy", "--only", "four"), "one, two, three"),
                               (("toy", "--show"), "cannot be read")):
        done = polysched("bench", *arguments, folder=tmp_path)
        assert is_refusal(done, code=REFUSED), done
        assert message in done.stderr
    done = polysched("bench", "toy", "--cases", "@nowhere/list", folder=tmp_path)
    assert is_refusal(done, code=REFUSED)
    assert "nowhere/list: the cases cannot be listed: No such file or directory" in done.stderr
    (toy / "run.py").write_text("def measure(\n")
    done = polysched("bench", "toy", folder=tmp_path)
    assert is_refusal(done)
    assert "run.py:1: the experiment's file is not Python" in done.stderr
    (toy / "experiment.toml").write_text('question = "?"\n')
    done = polysched("bench", "toy", folder=tmp_path)
    assert is_refusal(done)
    assert "expected_time" in done.stderr


def test_the_help_of_an_experiment_has_its_question_and_its_options(toy: Path, tmp_path: Path) -> None:
    text = bench(tmp_path, "--help").stdout
    assert "Does the driver do what it says?" in text
    assert "expected time: a second" in text
    assert "--log" in text
    assert "--resume" in text


def test_every_shipped_experiment_loads_and_lists_its_cases(tmp_path: Path) -> None:
    root = Path(__file__).parents[2] / "experiments"
    names = [path.parent.name for path in sorted(root.glob("*/experiment.toml"))]
    assert len(names) >= 8
    suite = tmp_path / "suite"
    (suite / "utilities").mkdir(parents=True)
    (suite / "utilities" / "benchmark_list").write_text("./linear-algebra/kernels/2mm/2mm.c\n")
    (suite / "tests").mkdir()
    (suite / "tests" / "one.c").touch()
    roots = {"polybench_exact": ("--polybench-root", str(suite)), "pet": ("--pet-root", str(suite))}
    for name in names:
        more = roots.get(name, ())
        done = polysched("bench", str(root / name), "--list", *more, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split(), name
        readme = (root / name / "README.md").read_text()
        assert "Question: " in readme
        assert "xpected time: " in readme
        assert f"bench {name}" in readme or f"{name}/run.py" in readme
