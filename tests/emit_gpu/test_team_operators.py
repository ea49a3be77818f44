"""How a team combines what its items found: neutral elements by C itself, results by the original."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from polysched.emit_gpu import emit_cuda
from polysched.emit_gpu.nvrtc import library, resources
from polysched.emit_gpu.team_operators import combined, neutral_element
from polysched.gpu import GpuOptions, map_to_device
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.pipeline.files import compiler_flags, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from polysched.target import find_compiler
from tests.emit_gpu.emitted import largest_difference, needs_device, verified
from tests.gpu.reduced import FLOATS, INTEGERS
from tests.tiers import and_campaign

TYPES = (FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
OPERATORS = ("sum", "product", "min", "max", "and", "or", "xor")


def test_neutral_elements_change_nothing(tmp_path: Path) -> None:
    lines = []
    for dtype in TYPES:
        for operator in OPERATORS[:4] if dtype.is_float else OPERATORS:
            lower, upper = (-2, 3) if dtype.is_float else dtype.value_range()
            for value in {lower, 0, 1, upper}:
                text = f"{value}ul" if value >= 1 << 63 else f"{value + 1} - 1" if value < 0 else str(value)
                lines.append(f"{{ {dtype.c_name} a = {text}, b = {neutral_element(operator, dtype)}, c = "
                             f"{combined(operator, 'a', 'b')}; bad += c != a; }}")
    (tmp_path / "f.c").write_text("\n".join(["int main(void) {", "int bad = 0;", *lines, "return bad; }"]))
    done = find_compiler(None).run(["-O1", "-w", "f.c", "-o", "f"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "f"], check=False).returncode == 0
    assert len(lines) > 150


@pytest.mark.parametrize("name", and_campaign(["twice"], sorted(set(INTEGERS) - {"twice"})))
def test_an_opencl_device_computes_the_same(name: str, tmp_path: Path) -> None:
    needs_device()
    text, sizes = INTEGERS[name]
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", sizes)) == 0


@pytest.mark.parametrize("reversed_order", ["0", "1"])
@pytest.mark.parametrize("name", and_campaign(["rows"], sorted(set(INTEGERS) - {"rows"})))
def test_threads_in_either_order_compute_the_same(name: str, reversed_order: str, tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", reversed_order)
    text, sizes = INTEGERS[name]
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", sizes, PipelineOptions(device="cuda"))) == 0


@pytest.mark.parametrize("size", [1, 255, 256, 257])
def test_rows_of_any_length(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    (tmp_path / "f.c").write_text(INTEGERS["total"][0])
    assert largest_difference(verified(tmp_path / "f.c", {"n": size}, PipelineOptions(device="cuda"))) == 0


def test_shuffles_do_the_levels_of_a_warp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    text, sizes = INTEGERS["total"]
    (tmp_path / "f.c").write_text(text)
    made = transform_file(tmp_path / "f.c", PipelineOptions(device="cuda"))
    assert made.text.count("__shfl_down_sync") == 1
    subject = Subject(scops=tuple(r.scop for r in made.regions),
                      transformed_text=made.text.replace("__shfl_down_sync(0xffffffffu, s_item1, ", "(0 * "))
    options = MeasureOptions(flags=("-O2", *compiler_flags(made.regions)), pairs=0, warmups=0)
    measured = compare_and_time(subject, sizes, options=options)
    assert measured.verification is not None
    assert any(array.largest_absolute for array in measured.verification.arrays)


@pytest.mark.parametrize(("name", "shares"), and_campaign([("twice", 3)], [
    (name, shares) for name in sorted(INTEGERS) for shares in (2, 5, 256) if (name, shares) != ("twice", 3)]))
@pytest.mark.parametrize("device", ["opencl", "cuda"])
def test_several_blocks_for_a_value_compute_the_same(name: str, shares: int, device: str, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "opencl":
        needs_device()
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    text, sizes = INTEGERS[name]
    (tmp_path / "f.c").write_text(text)
    options = PipelineOptions(device=device, gpu=GpuOptions(shares=shares))
    assert largest_difference(verified(tmp_path / "f.c", sizes, options)) == 0


@pytest.mark.parametrize("size", and_campaign([1, 600], [0, 599, 1023]))
def test_blocks_without_a_value_change_nothing(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    (tmp_path / "f.c").write_text(INTEGERS["twice"][0])
    options = PipelineOptions(device="cuda", gpu=GpuOptions(shares=4))
    assert largest_difference(verified(tmp_path / "f.c", {"n": 3, "m": size}, options)) == 0


def test_parts_that_are_left_out_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    text, sizes = INTEGERS["total"]
    (tmp_path / "f.c").write_text(text)
    made = transform_file(tmp_path / "f.c", PipelineOptions(device="cuda", gpu=GpuOptions(shares=3)))
    assert made.text.count("part < 3;") == 1
    subject = Subject(scops=tuple(r.scop for r in made.regions),
                      transformed_text=made.text.replace("part < 3;", "part < 2;"))
    options = MeasureOptions(flags=("-O2", *compiler_flags(made.regions)), pairs=0, warmups=0)
    measured = compare_and_time(subject, sizes, options=options)
    assert measured.verification is not None
    assert any(array.largest_absolute for array in measured.verification.arrays)


@pytest.mark.parametrize("shares", [0, 3])
def test_floats_in_another_order(shares: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    (tmp_path / "f.c").write_text(FLOATS)
    found = verified(tmp_path / "f.c", {"n": 5, "m": 900}, PipelineOptions(
        device="cuda", reassociate=True, gpu=GpuOptions(shares=shares)))
    assert 0 < largest_difference(found) < 1e-2


PICKED = ("void f(int n, int m, TYPE y[n], TYPE A[n][m], int p[m]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
          "    for (int j = 0; j < m; j++)\n      if (p[j] > 9) y[i] += A[i][j];\n#pragma endscop\n}\n")


@pytest.mark.parametrize("shares", [1, 3])
@pytest.mark.parametrize(("device", "kind", "bits"), [
    ("cuda", "float", "__float_as_int"), ("opencl", "double", "as_long")])
def test_a_sum_of_nothing_is_not_stored(device: str, kind: str, bits: str, shares: int, tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """A device may make another NaN of a NaN and -0.0."""
    if device == "opencl":
        needs_device()
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    (tmp_path / "f.c").write_text(PICKED.replace("TYPE", kind))
    options = PipelineOptions(device=device, reassociate=True, gpu=GpuOptions(shares=shares))
    text = transform_file(tmp_path / "f.c", options).text
    assert re.search(rf"if \({bits}\(\w+\[0\]\) != {bits}\(\({kind}\)\(-0\.0f\)\) && {bits}\(\w+\) != ", text), text
    assert largest_difference(verified(tmp_path / "f.c", {"n": 3, "m": 900}, options)) < 1e-2


@pytest.mark.parametrize("name", ["total", "twice", "narrow"])
@pytest.mark.parametrize("shares", [1, 5])
def test_nvrtc_compiles_teams(name: str, shares: int) -> None:
    if library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    schedule = scheduled(analysed(from_c_text(INTEGERS[name][0])).dependences, PipelineOptions())
    source = emit_cuda(map_to_device(schedule, options=GpuOptions(shares=shares), sizes={"n": 50, "m": 5000}))
    found = [own.shared > 0 for own in resources(source.program, "sm_90")]
    assert any(found) if shares > 1 else all(found)
