"""The way to a device, and what it refuses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.errors import UnsupportedScopError, UsageError
from polysched.gpu import GpuOptions
from polysched.measure.processes.opencl_device import OpenClDevice
from polysched.pipeline import device_way
from polysched.pipeline.files import compiler_flags, optimize, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling.primitives.requests import UseInstruction
from polysched.scop import from_c_text
from tests.gpu.mapped import CHAIN, PRODUCT, STENCIL
from tests.gpu.reduced import FLOATS

DEVICE = PipelineOptions(device="opencl", gpu=GpuOptions(devices=("sm_80", "sm_90")))


def test_steps_tell_the_kernels() -> None:
    made = optimize(from_c_text(PRODUCT), DEVICE)
    head = "device: kernel0: 2 dimensions in blocks of 32x8 work items, 4x8 points each, run S0, S1;"
    assert any(step.startswith(head) for step in made.steps())


def test_the_better_schedule_is_taken() -> None:
    assert optimize(from_c_text(STENCIL), DEVICE).schedule.algorithm == "original"
    assert optimize(from_c_text(STENCIL), PipelineOptions(device="opencl", scheduler="isl")).schedule.algorithm == "isl"


def test_a_schedule_with_parallel_loops_is_taken_where_the_program_has_none() -> None:
    text = ("void f(int n, double L[n][n], double x[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
            "    for (int j = 0; j < i; j++)\n      x[i] -= L[i][j] * x[j];\n    x[i] = x[i] / L[i][i];\n  }\n"
            "#pragma endscop\n}\n")
    found = optimize(from_c_text(text), DEVICE)
    assert found.schedule.algorithm == "pluto"
    assert any("1 dimensions in blocks of 256 work items run S0" in step for step in found.steps())


def test_a_region_without_parallel_loops_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="no loop can run on many work items"):
        optimize(from_c_text(CHAIN), DEVICE)


def test_wishes_that_no_kernel_has_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "f.c").write_text(PRODUCT)
    gpu = GpuOptions(time_tile=4, tensor_cores=("int8",))
    transform_file(tmp_path / "f.c", PipelineOptions(device="cuda", gpu=gpu))
    assert [text.partition("f.c:5: ")[2] for text in caplog.messages] == [
        "no loop of the host may run several iterations in a launch", "no product of int8 may run on tensor cores"]


def test_the_library_is_linked(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PRODUCT)
    made = transform_file(tmp_path / "f.c", DEVICE)
    assert compiler_flags(made.regions) == ("-lOpenCL",)
    assert made.text.count("#define POLYSCHED_OPENCL\n") == 1


@pytest.mark.parametrize(("options", "words"), [
    ({"tile": 32}, "tile is for"), ({"safe": True}, "safe is for"), ({"database": "t.db"}, "database is for"),
    ({"scheduler": "best"}, "scheduler best is for"), ({"parallel": False}, "one thread is for"),
    ({"parallel_degrees": 2}, "a number of parallel degrees is for"), ({"vector_bits": 0}, "a width of vectors is for"),
    ({"math": "libm"}, "a library of math.h is for"),
    ({"register_block": (2, 4)}, "register_block is for"),
    ({"steps": (UseInstruction(statement="S0", name="avx2.vpmaddwd"),)}, "an instruction is for")])
def test_choices_for_cores_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        PipelineOptions(device="opencl", **options)


def test_sums_in_another_order() -> None:
    made = [optimize(from_c_text(FLOATS), PipelineOptions(device="opencl", reassociate=own)).steps()
            for own in (False, True)]
    assert ["by a tree" in "".join(steps) for steps in made] == [False, True]
    with pytest.raises(UsageError, match="sums in another order is for"):
        PipelineOptions(device="davinci", reassociate=True)


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(UsageError, match="no device 'abacus'"):
        PipelineOptions(device="abacus")


def test_blocks_by_hand() -> None:
    made = optimize(from_c_text(PRODUCT), PipelineOptions(device="opencl", gpu=GpuOptions(block=(16, 2), points=(1,))))
    assert any(step.startswith("device: kernel0: 2 dimensions in blocks of 16x2 work items run S0, S1;")
               for step in made.steps())


FOUND = OpenClDevice(platform="Portable Computing Language", device="some cores", is_cpu=True, units=7, gigahertz=3.0)
UNKNOWN = replace(FOUND, platform="rusticl", device="Mali-G610", is_cpu=False)


@pytest.mark.parametrize(("device", "found", "names"), [
    ("opencl", FOUND, ["pocl"]), ("opencl", UNKNOWN, ["sm_80", "sm_90"]), ("opencl", None, ["sm_80", "sm_90"]),
    ("cuda", FOUND, ["sm_80", "sm_90"])])
def test_the_device_that_would_run_chooses_if_it_is_described(
        device: str, found: OpenClDevice | None, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_way, "opencl_device", lambda: found)
    made = optimize(from_c_text(PRODUCT), PipelineOptions(device=device)).on_device
    assert made is not None
    assert [gpu.name for gpu in made.mapping.gpus] == names
    assert made.mapping.gpus[0].multiprocessors == (7 if names == ["pocl"] else 108)


def test_named_devices_choose_and_none_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> None:
        raise AssertionError

    monkeypatch.setattr(device_way, "opencl_device", asked)
    options = PipelineOptions(device="opencl", gpu=GpuOptions(devices=("xe_lp",)))
    made = optimize(from_c_text(PRODUCT.replace("double", "float")), options).on_device
    assert made is not None
    assert [gpu.name for gpu in made.mapping.gpus] == ["xe_lp"]


def test_what_runs_no_cuda_chooses_none_of_its_blocks() -> None:
    with pytest.raises(UsageError, match=r"xe_lp .* runs no CUDA"):
        PipelineOptions(device="cuda", gpu=GpuOptions(devices=("sm_90", "xe_lp")))


def test_blocks_without_a_device_are_refused() -> None:
    with pytest.raises(UsageError, match="blocks of work items are for a device"):
        PipelineOptions(gpu=GpuOptions(block=(16,)))
