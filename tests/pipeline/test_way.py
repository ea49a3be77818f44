"""The whole order from Python: `polysched.optimize` and its neighbours."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import polysched
import polysched.emit_gpu
import polysched.gpu.scratchpad
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.errors import BudgetExceededError, OutputError, UnsupportedScopError, UsageError
from polysched.pipeline import optimize, source_to_source, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stage_texts import STAGES, dump_stages
from polysched.scop.scop import Scop

TEXT = """\
void smooth(int n, double A[n], double B[n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    B[i] = A[i - 1] + A[i + 1];
#pragma endscop
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "smooth.c"
    path.write_text(TEXT)
    return path


def test_every_stage_holds_the_one_before(source: Path) -> None:
    result = polysched.optimize(source)
    assert result.source.tiled is result.tiled
    assert result.tiled.schedule is result.schedule
    assert result.schedule.dependences is result.dependences
    assert result.dependences.scop is result.scop
    assert set(result.seconds) == set(STAGES)
    assert all(s >= 0 for s in result.seconds.values())
    assert "B[" in result.text
    assert result.steps()[0] == "schedule: pluto"


def test_a_scop_may_be_given_instead_of_a_file(source: Path) -> None:
    scop = polysched.scop.from_c_file(source)
    result = optimize(scop, PipelineOptions(scheduler="original", tile="off", parallel=False))
    assert result.scop is scop
    assert "scop" not in result.seconds
    assert "omp parallel" not in result.text


@pytest.mark.parametrize("scheduler", ["pluto", "feautrier", "isl", "original"])
def test_every_scheduler_by_its_name(source: Path, scheduler: str) -> None:
    assert optimize(source, PipelineOptions(scheduler=scheduler)).schedule.algorithm


def test_source_to_source_replaces_the_region_only(source: Path) -> None:
    text = source_to_source(source, PipelineOptions(portable=False))
    assert text.startswith(TEXT[:TEXT.index("#pragma scop")])
    assert text.endswith("\n}\n")
    assert "#pragma scop" not in text
    assert transform_file(source).text == text


def test_preprocessor_options_are_used(tmp_path: Path) -> None:
    path = tmp_path / "in.c"
    path.write_text(TEXT.replace("n - 1", "LIMIT"))
    assert optimize(path, PipelineOptions(defines=("LIMIT=17",))).scop.statements[0].domain.is_bounded()


def test_the_same_input_gives_the_same_text(source: Path) -> None:
    assert source_to_source(source) == source_to_source(source)


@pytest.mark.parametrize(("options", "message"), [
    ({"scheduler": "magic"}, "no scheduler 'magic'"), ({"fusion": "cold"}, "no fusion policy 'cold'"),
    ({"tile": 0}, "a tile size must be at least 1"), ({"tile": "much"}, "tile sizes cannot be 'much'"),
    ({"tile": ()}, "no tile size was given")])
def test_senseless_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PipelineOptions(**options)


FOUND = """
void shift(int n, double *a, double *b) {
  for (int i = 0; i < n; i++)
    a[i] = 2.0 * b[i];
}
void gather(int n, double *a, double **b, int *at) {
  for (int i = 0; i < n; i++)
    a[i] = 2.0 * b[i][at[i]];
}
"""
APART = "(const char *)&b["


def test_loops_that_were_found_are_guarded_or_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = tmp_path / "found.c"
    source.write_text(FOUND)
    (shift,) = transform_file(source, PipelineOptions(autodetect=True)).regions
    assert shift.text.startswith("if (")
    assert APART in shift.text
    assert "stays as it is" in caplog.text
    assert "the memory of a, b does not overlap" in caplog.text
    trusted = transform_file(source, PipelineOptions(autodetect=True, guard=False)).regions
    assert [region.scop.name for region in trusted] == ["shift", "gather"]
    assert not any(APART in region.text for region in trusted)


def refuse(monkeypatch: pytest.MonkeyPatch, wrong: Callable[[Scop], bool]) -> None:
    """Make the analysis refuse some regions."""
    analyse = polysched.pipeline.way.analysed

    def refusing(scop: Scop, **options: Any) -> Any:
        if wrong(scop):
            raise BudgetExceededError("too many operations", where=scop.name)
        return analyse(scop, **options)

    monkeypatch.setattr(polysched.pipeline.way, "analysed", refusing)


def test_a_region_that_a_stage_refuses_does_not_refuse_the_file(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    source = tmp_path / "found.c"
    source.write_text(FOUND)
    refuse(monkeypatch, lambda scop: scop.name == "shift")
    (gather,) = transform_file(source, PipelineOptions(autodetect=True, guard=False)).regions
    assert gather.scop.name == "gather"
    assert "the `for` loop stays as it is: too many operations" in caplog.text
    with pytest.raises(BudgetExceededError):
        transform_file(source, PipelineOptions(autodetect=True))


SEVERAL = """
static double a[100], b[100], c[100];
void three(void) {
  for (int i = 0; i < 100; i++) a[i] = 1.0;
  for (int i = 0; i < 100; i++) b[i] = 2.0;
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 9; j++)
      c[i] += j;
    c[0] = 3.0;
  }
}
"""


def test_a_region_that_a_stage_refuses_is_taken_in_parts(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    source = tmp_path / "several.c"
    source.write_text(SEVERAL)
    assert len(transform_file(source, PipelineOptions(autodetect=True)).regions) == 1
    refuse(monkeypatch, lambda scop: len(scop.statements) > 1)
    regions = transform_file(source, PipelineOptions(autodetect=True)).regions
    assert [[s.depth for s in region.scop.statements] for region in regions] == [[1], [1], [1]]
    assert "stays as it is:" not in caplog.text


def test_a_file_with_several_regions_is_for_transform_file(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(TEXT + TEXT.replace("smooth", "again"))
    assert len(transform_file(path).regions) == 2
    with pytest.raises((UsageError, UnsupportedScopError), match="region"):
        optimize(path)


def test_stages_are_written_as_text(source: Path, tmp_path: Path) -> None:
    result = optimize(source)
    dump_stages([result], tmp_path / "one")
    files = sorted((tmp_path / "one").iterdir())
    assert [p.name for p in files] == [
        "1-scop.txt", "2-dependences.txt", "3-schedule.txt", "4-tiled.txt", "5-emitted.c", "passes"]
    passes = sorted(p.name for p in files[5].iterdir())
    assert passes[0] == "01-conditional_pieces.txt"
    assert passes[-1] == "changes.diff"
    assert parse_loops((files[5] / passes[0]).read_text())
    assert "S0[i] : 0 < i <= -2 + n" in files[0].read_text()
    assert files[4].read_text() == result.text
    dump_stages([result, result], tmp_path / "two")
    assert sorted(p.name for p in (tmp_path / "two").iterdir()) == ["region-0", "region-1"]


def test_stages_that_cannot_be_written_are_refused(source: Path) -> None:
    with pytest.raises(OutputError, match="the stages cannot be written"):
        dump_stages([optimize(source)], source / "below")


def test_importing_polysched_is_cheap() -> None:
    assert polysched.__version__
    assert {"optimize", "PipelineOptions", "scop", "scheduling"} <= set(dir(polysched))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = polysched.nonsense


def test_tile_edges_may_be_a_list_and_nothing_else():
    assert PipelineOptions(tile=[32, 16]) == PipelineOptions(tile=(32, 16))
    for wrong in (["a"], (2.5,), True, None, {}, [32, [4]]):
        with pytest.raises(UsageError, match="tile sizes cannot be"):
            PipelineOptions(tile=wrong)


STREAM = """\
void stream(int n, float a[restrict n], float b[restrict n], float c[restrict n], float d[restrict n])
{
#pragma scop
  for (int i = 1; i < n; i++) {
    float t = a[i] + b[i];
    a[i] = t + c[i - 1];
    t = VALUE;
    c[i] = t;
  }
#pragma endscop
}
"""


def test_a_scalar_is_computed_where_it_is_read_rather_than_kept_in_memory_per_iteration(tmp_path: Path) -> None:
    for value in ("c[i] * d[i]", "c[i] * d[i] + (b[i] > 0 ? b[i] : 1)", "d[i] * c[n - 1 - i]"):
        path = tmp_path / "stream.c"
        path.write_text(STREAM.replace("VALUE", value))
        result = optimize(path)
        assert not result.source.allocated, (value, result.text)
        assert "simd" in result.text, (value, result.text)
    kept = optimize(path, PipelineOptions(expand=False))
    assert kept.text.count("for (") == 1


def test_a_row_that_has_to_be_kept_does_not_keep_scalars_in_memory(tmp_path: Path) -> None:
    row = """\
  for (int i = 0; i < n; i++) {
    float s = b[i] / c[i];
    for (int j = 0; j < n; j++)
      m[j][i] += s * d[j];
  }
#pragma endscop
"""
    path = tmp_path / "stream.c"
    path.write_text(STREAM.replace("VALUE", "c[i] * d[i]").replace("#pragma endscop\n", row).replace(
        "float d[restrict n]", "float d[restrict n], float m[restrict n][n]"))
    result = optimize(path)
    assert len(result.source.allocated) == 1, result.text
    assert not any(array.before == "t" for array in result.expanded), result.text


PRODUCT = """\
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_copies_of_operands_are_chosen_by_name_in_any_region(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(PRODUCT + TEXT)
    made = transform_file(path, PipelineOptions(packed=("B",), tile=(32, 48, 32), vector_bits=256))
    assert [[b.arrays for b in region.source.packed] for region in made.regions] == [[("B",)], []]
    assert made.regions[0].options.chosen()["packed"] == ["B"]
    with pytest.raises(UsageError, match="no array D to pack") as refusal:
        transform_file(path, PipelineOptions(packed=("B", "D")))
    assert "arrays are A, B, C" in str(refusal.value.hint)


def test_the_rooms_of_devices_are_loaded_where_one_is_asked_for() -> None:
    loaded = ("import sys, polysched.pipeline; "
              "print(*(n for n in sys.modules if n.startswith(('polysched.gpu', 'polysched.emit_gpu'))))")
    names = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True).stdout.split()
    assert "polysched.gpu.options" in names
    assert not {"polysched.gpu.mapping", "polysched.gpu.decide", "polysched.emit_gpu.emission"} & set(names)


@pytest.mark.parametrize("room", [polysched.gpu, polysched.gpu.scratchpad, polysched.emit_gpu])
def test_rooms_of_devices_have_the_names_that_they_list(room: ModuleType) -> None:
    assert dir(room) == sorted(room.__all__)
    assert all(getattr(room, name).__name__ == name for name in room.__all__)
    with pytest.raises(AttributeError, match=f"module '{room.__name__}' has no attribute 'nonsense'"):
        _ = room.nonsense
