"""A marked region that is refused stays as it is and is told; the other regions of the file are transformed."""

import ctypes
import logging
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.cli.entry import main
from polysched.errors import (
    BrokenLoopsError,
    BudgetExceededError,
    IllegalScheduleError,
    NoLoopsError,
    UnsupportedScopError,
    UsageError,
)
from polysched.scop.scop import Scop

FILE = """\
#include <stdlib.h>
void scale(int n, double *restrict A, const double *restrict B) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] = 2 * B[i];
#pragma endscop
}
void walk(int n, double *A) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i == 7) goto out;
    A[i] += 1;
  }
out:
  A[0] = 0;
#pragma endscop
}
void add(int n, double *restrict A, const double *restrict B) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] += B[i];
#pragma endscop
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "regions.c"
    file.write_text(FILE)
    return file


def called(path: Path, function: str, *arguments: object) -> None:
    library = path.with_suffix(".so")
    subprocess.run(["gcc", "-O2", "-march=native", "-fopenmp", "-shared", "-fPIC", str(path), "-o", str(library)],
                   check=True)
    getattr(ctypes.CDLL(str(library)), function)(
        *(ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments))


def test_the_others_are_transformed_and_it_is_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        made = polysched.pipeline.transform_file(path)
    assert [region.scop.name for region in made.regions] == ["scale", "add"]
    (line,) = made.refused
    assert line.startswith(f"{path}:9: the region stays as it is: line 11: ")
    assert line in caplog.text
    assert made.text.count("#pragma scop") == 1
    assert "if (i == 7) goto out;" in made.text


@pytest.mark.parametrize("function", ["scale", "walk", "add"])
def test_the_file_computes_the_same(path: Path, tmp_path: Path, function: str) -> None:
    transformed = tmp_path / "transformed.c"
    transformed.write_text(polysched.source_to_source(path))
    B = np.random.default_rng(1).random(33)
    arrays = [np.ones(33), np.ones(33)]
    for file, array in zip((path, transformed), arrays, strict=True):
        called(file, function, 33, array, *([] if function == "walk" else [B]))
    np.testing.assert_array_equal(*arrays)


def test_a_refusal_behind_the_reading_is_told_as_well(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = polysched.pipeline.files.optimized_region

    def refusing(scop, options, seconds):
        if scop.name == "add":
            raise UnsupportedScopError("a stage refuses")
        return kept(scop, options, seconds)
    monkeypatch.setattr(polysched.pipeline.files, "optimized_region", refusing)
    made = polysched.pipeline.transform_file(path)
    assert [region.scop.name for region in made.regions] == ["scale"]
    assert made.refused[1] == f"{path}:19: the region stays as it is: a stage refuses"
    assert FILE[FILE.index("void add"):] in made.text


def test_exit_codes(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.c"
    assert main(["c2c", str(path), "-o", str(out)]) == 0
    assert out.exists()
    out.unlink()
    path.write_text(FILE[FILE.index("void walk"):FILE.index("void add")])
    assert main(["c2c", str(path), "-o", str(out)]) == 2
    assert "goto" in capsys.readouterr().err
    assert not out.exists()


def test_the_only_region_is_refused_for_its_own_reason_not_for_a_choice(tmp_path: Path) -> None:
    file = tmp_path / "walk.c"
    file.write_text("void walk" + FILE.split("void walk")[1].split("void add")[0])
    with pytest.raises(UnsupportedScopError, match="goto"):
        polysched.pipeline.transform_file(file, polysched.PipelineOptions(packed=("A",)))


def test_refusals_are_told_where_a_choice_fits_no_other_region(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text(FILE.replace("double *A)", "double *D)").replace("    A[i] += 1;", "    D[i] += 1;").replace(
        "  A[0] = 0;", "  D[0] = 0;"))
    with caplog.at_level(logging.WARNING), pytest.raises(UsageError, match="no array D to pack"):
        polysched.pipeline.transform_file(path, polysched.PipelineOptions(packed=("D",)))
    assert f"{path}:9: the region stays as it is: line 11: " in caplog.text


FOUND = FILE.replace("#pragma scop\n", "").replace("#pragma endscop\n", "")


@pytest.mark.parametrize(("stage", "error", "told"), [
    ("analysed", BudgetExceededError("the flow dependences need more"), "the flow dependences need more"),
    ("scheduled", IllegalScheduleError("no order"), "no order"),
    ("tile", RecursionError("depth"), "deeper inside one another"),
    ("scan", NoLoopsError("no loops"), "no loops"),
    ("lower", BrokenLoopsError("a loop is lost"), "a loop is lost"),
    ("printed", KeyError("S1"), "polysched itself fails at it, KeyError: 'S1'"),
    ("guarded", AssertionError(), "polysched itself fails at it, AssertionError"),
])
def test_a_found_region_that_a_stage_fails_at_stays_alone(
        path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, stage: str,
        error: Exception, told: str) -> None:
    kept = getattr(polysched.pipeline.way, stage)

    def failing(value, *arguments, **named):
        scop = value
        while not isinstance(scop, Scop):
            scop = scop.schedule if hasattr(scop, "schedule") else scop.scop
        if scop.name == "add":
            raise error
        return kept(value, *arguments, **named)
    monkeypatch.setattr(polysched.pipeline.way, stage, failing)
    path.write_text(FOUND)
    out = tmp_path / "out.c"
    assert main(["c2c", str(path), "--autodetect", "--intrinsic", "none", "-o", str(out)]) == 0
    (line,) = [line for line in caplog.messages if line.startswith(f"{path}:15: the `for` loop stays as it is: ")]
    assert told in line
    assert FOUND[FOUND.index("void add"):] in out.read_text()
    assert FOUND[:FOUND.index("void walk")] not in out.read_text()
