"""The stages of a region as files: one text each, a folder per region where there are several, every pass behind it."""

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.errors import OutputError
from polysched.pipeline import PipelineOptions, optimize
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.stage_texts import STAGES, dump_stages, stage_texts
from polysched.scheduling.schedule import Candidate, SolverReport
from polysched.scop import from_c_text
from tests.scop.c_frontend.read_region import in_function


@pytest.fixture(scope="module")
def region() -> Optimized:
    scop = from_c_text(in_function("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];",
                                   head="int n, double a[restrict n][n], double x[restrict n], double y[restrict n]"))
    return optimize(scop, PipelineOptions(tile=8, parallel=False))


def test_one_text_per_stage(region: Optimized) -> None:
    texts = stage_texts(region)
    assert tuple(texts) == STAGES
    assert texts["emitted"] == region.text
    assert f"algorithm: {region.schedule.algorithm}\n" in texts["schedule"]
    assert all(step in texts["tiled"].splitlines() for step in region.steps())
    assert all(text.endswith("\n") for text in texts.values())


def test_the_report_of_a_schedule_is_written_to_its_end(region: Optimized) -> None:
    reasons = tuple(f"reason {number}" for number in range(60))
    schedule = replace(region.schedule, report=SolverReport(rungs=reasons, candidates=(Candidate(name="the last"),)))
    text = stage_texts(replace(region, schedule=schedule))["schedule"]
    assert all(f"{reason!r}" in text for reason in (*reasons, "the last"))


def test_files_of_one_region_and_of_several(region: Optimized, tmp_path: Path) -> None:
    dump_stages([region], tmp_path / "one")
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == [
        "1-scop.txt", "2-dependences.txt", "3-schedule.txt", "4-tiled.txt", "5-emitted.c", "passes"]
    assert (tmp_path / "one" / "5-emitted.c").read_text() == region.text
    passes = sorted(p.name for p in (tmp_path / "one" / "passes").iterdir() if p.suffix == ".txt")
    assert [name[:2] for name in passes] == [f"{k:02}" for k in range(1, len(passes) + 1)]
    dump_stages([region, region], tmp_path / "two")
    assert sorted(p.name for p in (tmp_path / "two").iterdir()) == ["region-0", "region-1"]
    dump_stages([], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_written_is_told(region: Optimized, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the stages cannot be written"):
        dump_stages([region], tmp_path / "file")
