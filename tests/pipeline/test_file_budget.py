"""How long a file may take: what ends, and what is told."""

import re
import threading
import time
from functools import partial
from pathlib import Path

import pytest

import polysched
from polysched.cli.entry import main
from polysched.errors import BudgetExceededError
from polysched.pipeline import file_budget, files
from polysched.pipeline.file_budget import FileBudget, processor_clock
from polysched.pipeline.timing import timed
from polysched.scop.scop import Scop

FILE = """\
void f(int n, double *restrict A, double *restrict B) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] = 2 * B[i];
#pragma endscop
}
void g(int n, double *restrict A, double *restrict B) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] += 3 * B[i];
#pragma endscop
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file.c"
    file.write_text(FILE)
    return file


def spent(monkeypatch: pytest.MonkeyPatch, *, before: int) -> None:
    """Let the time of a file end when some regions were transformed."""
    done = []

    def left(self: FileBudget) -> float:
        return 0.0 if len(self.regions) >= before and done else 30.0

    def optimized(*arguments):
        done.append(arguments)
        return original(*arguments)
    original = files.optimized_region
    monkeypatch.setattr(FileBudget, "left", left)
    monkeypatch.setattr(files, "optimized_region", optimized)


def test_what_takes_too_long_stays_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spent(monkeypatch, before=1)
    made = polysched.pipeline.transform_file(path)
    assert [region.scop.name for region in made.regions] == ["f"]
    assert made.refused == (f"{path}:8: the region stays as it is: line 10: the file takes more than 25 s of processor "
                            "time, which were spent up to here",)
    assert FILE[FILE.index("void g"):] in made.text


@pytest.mark.parametrize("arguments", [[], ["--autodetect"]])
def test_a_file_without_time_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str],
                                        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(files, "FileBudget", lambda: FileBudget(limit=0.0))
    assert main(["c2c", str(path), "-o", str(path.with_suffix(".out.c")), *arguments]) == 2
    assert "the time that one file may take was spent before this region" in capsys.readouterr().err
    assert not path.with_suffix(".out.c").exists()


def endless(scop: Scop, stages: dict[str, float]):
    def loop() -> None:
        while True:
            scop.domain.subtract(scop.domain)
    timed(stages, "dependences", loop)


def test_a_found_region_leaves_time_to_others(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_budget, "FOUND_SECONDS", 0.1)
    scop, budget = polysched.scop.from_c_file(path, function="f"), FileBudget(limit=0.8)
    with pytest.raises(BudgetExceededError, match=r"file.c:4: the region takes more than its part of the file's time"):
        budget.run(scop, partial(endless, scop), found=True)
    assert 0.3 < budget.left() < 0.7
    assert budget.run(scop, lambda _: scop, found=True) is scop


def test_isl_is_stopped_in_a_stage(path: Path) -> None:
    scop = polysched.scop.from_c_file(path, function="f")
    with pytest.raises(BudgetExceededError, match=r"file.c:4: the file takes more than 0\.2 s") as caught:
        FileBudget(limit=0.2).run(scop, partial(endless, scop))
    assert re.search(r"witness: dependences 0\.[2-4] s", str(caught.value))


def test_the_stages_of_a_region_have_processor_time(path: Path) -> None:
    scop, budget, wall = polysched.scop.from_c_file(path, function="f"), FileBudget(), {}

    def waits(stages: dict[str, float]):
        wall.update(stages)
        timed(stages, "emitted", lambda: time.sleep(0.2))
        wall.update(stages)
        return scop
    budget.run(scop, waits)
    ((_, _, stages),) = budget.regions
    assert wall["emitted"] >= 0.2
    assert stages["emitted"] < 0.1


def test_what_takes_long_is_told() -> None:
    budget = FileBudget(clock=iter([1.0, 21.0]).__next__)
    budget.regions += [(7, 8.0, {"dependences": 8.0}), (30, 1.0, {"scop": 1.0}),   # it was tried as a whole, and halved
                       (7, 4.0, {"dependences": 1.0, "tiled": 2.9, "emitted": 0.1})]
    assert budget.told("a.c") == ("a.c: the file takes 20.0 s of processor time: the region of line 7 takes 12.0 s "
                                  "(dependences 9.0 s, tiled 2.9 s), reading takes 7.0 s")
    assert FileBudget().told("a.c") is None


def test_threads_of_solvers_count_but_not_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert processor_clock() is time.process_time
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert processor_clock() is time.thread_time


def test_the_search_for_tests_is_part_of_a_region(path: Path) -> None:
    scop, budget = polysched.scop.from_c_file(path, function="f"), FileBudget()
    assert budget.tests(scop, lambda: scop) is scop
    ((line, _, stages),) = budget.regions
    assert (line, [*stages]) == (4, ["tests"])
