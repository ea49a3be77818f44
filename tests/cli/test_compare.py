"""`polysched compare` and `polysched run --resume`, on real results files."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import PRODUCT, is_refusal, polysched

RUN = ("run", "in.c", "--size", "n=40", "--pairs", "3", "--budget", "1", "--threads", "2")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "in.c").write_text(PRODUCT)
    done = polysched(*RUN, "--results", "r.jsonl", folder=folder)
    assert done.returncode == 0, done.stderr
    value = json.loads((folder / "r.jsonl").read_text())
    for side, seconds in (("original", 1e-3), ("transformed", 5e-4)):  # whatever else this machine did meanwhile
        for number, sample in enumerate(value["timing"][side]):
            sample["wall_seconds"] = seconds * (1 + number / 100)
    (folder / "r.jsonl").write_text(json.dumps(value) + "\n")
    return folder


def edited(folder: Path, name: str, factor: float, **changes: Any) -> None:
    value = json.loads((folder / "r.jsonl").read_text()) | changes
    for sample in value["timing"]["transformed"]:
        sample["wall_seconds"] *= factor
    (folder / name).write_text(json.dumps(value) + "\n")


def test_the_same_file_has_no_change(measured: Path) -> None:
    done = polysched("compare", "r.jsonl", "r.jsonl", folder=measured)
    assert done.returncode == 0, done.stderr
    assert "product(n=40), 2 threads" in done.stdout
    assert "same" in done.stdout


@pytest.mark.parametrize(("factor", "code", "verdict"), [(100.0, 5, "slower"), (0.01, 0, "faster")])
def test_the_exit_code_tells_a_slowdown(measured: Path, factor: float, code: int, verdict: str) -> None:
    edited(measured, "other.jsonl", factor)
    done = polysched("compare", "r.jsonl", "other.jsonl", folder=measured)
    assert done.returncode == code, done.stderr
    assert verdict in done.stdout


def test_another_machine_is_refused_unless_meant(measured: Path) -> None:
    machine = json.loads((measured / "r.jsonl").read_text())["machine"] | {"cpu": "another"}
    edited(measured, "far.jsonl", 1.0, machine=machine)
    done = polysched("compare", "r.jsonl", "far.jsonl", folder=measured)
    assert is_refusal(done), done.stderr
    assert "--any-machine" in done.stderr
    assert polysched("compare", "r.jsonl", "far.jsonl", "--any-machine", folder=measured).returncode == 0


@pytest.mark.parametrize("name", ["missing.jsonl", "in.c"])
def test_what_is_no_results_file_is_refused(measured: Path, name: str) -> None:
    assert is_refusal(polysched("compare", "r.jsonl", name, folder=measured))


def test_resume_measures_nothing_twice(measured: Path) -> None:
    before = (measured / "r.jsonl").read_text()
    done = polysched(*RUN, "--results", "r.jsonl", "--resume", folder=measured)
    assert done.returncode == 0, done.stderr
    assert "verified: " in done.stdout
    assert (measured / "r.jsonl").read_text() == before
    done = polysched(*RUN, "--size", "n=41", "--results", "more.jsonl", "--resume", folder=measured)
    assert done.returncode == 0, done.stderr
    assert len((measured / "more.jsonl").read_text().splitlines()) == 1


def test_resume_needs_a_file(measured: Path) -> None:
    done = polysched(*RUN, "--resume", folder=measured)
    assert is_refusal(done)
    assert "--resume needs a results file" in done.stderr
