"""The lines about what kernels are expected to take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_gpu import emit_cuda, emit_opencl
from polysched.emit_gpu.nvrtc import KernelResources, library
from polysched.gpu import GpuOptions, map_to_device
from polysched.pipeline import device_figures
from polysched.pipeline.device_figures import told_choices, told_figures
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.target.gpus import SM_80
from tests.gpu.mapped import PRODUCT, SCALE, mapped
from tests.gpu.products import PLAIN


def test_a_line_for_each_gpu() -> None:
    lines = told_figures(emit_opencl(mapped(PRODUCT)), {"n": 4096})
    assert [line.split()[3] for line in lines] == ["sm_80", "sm_90", "xe_lp", "pocl"]


def test_what_a_block_was_chosen_from_is_told() -> None:
    schedule = scheduled(analysed(from_c_text(SCALE)).dependences, PipelineOptions(scheduler="original"))
    (line,) = told_choices(emit_opencl(map_to_device(schedule, sizes={"n": 4096})))
    assert line.startswith("chosen: kernel0: best of ")
    assert told_choices(emit_opencl(map_to_device(schedule, options=GpuOptions(block=(32, 8))))) == ()


def test_what_a_gpu_lacks_is_said() -> None:
    lines = told_figures(emit_opencl(mapped(SCALE)), {"n": 4096})
    assert [line.split()[3] for line in (*lines[:2], lines[3])] == ["sm_80", "sm_90", "pocl"]
    assert lines[2] == "expected: xe_lp (Iris Xe, 96 execution units) has no float64"


def test_a_block_that_is_too_large_for_a_gpu_is_told() -> None:
    schedule = scheduled(analysed(from_c_text(PRODUCT)).dependences, PipelineOptions(scheduler="original"))
    mapping = map_to_device(schedule, options=GpuOptions(block=(64, 64), points=(1,)))
    lines = told_figures(emit_opencl(mapping), {"n": 4096})
    assert lines[0] == "expected: sm_80 (A100 SXM) has no room for a block of 4096 work items (threads)"
    assert len(lines) == 4
    assert "occupancy 100% by threads" in lines[3]


@pytest.mark.skipif(library() is None, reason="no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
def test_registers_are_those_that_the_compiler_tells() -> None:
    for line in told_figures(emit_cuda(mapped(PRODUCT)), {"n": 4096}):
        count = int(line.rpartition("; ")[2].removesuffix(" registers"))
        assert 16 <= count <= 255


def test_a_gpu_is_compiled_for_by_its_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, made = [], emit_cuda(mapped(PRODUCT))

    def resources(program: str, architecture: str) -> tuple[KernelResources, ...]:
        asked.append(architecture)
        return tuple(KernelResources(name=k.name, registers=40, spilled=0, shared=0) for k in made.kernels)

    monkeypatch.setattr(device_figures, "GPUS", {"half": replace(SM_80, name="half", multiprocessors=54)})
    monkeypatch.setattr(device_figures, "library", lambda: "here")
    monkeypatch.setattr(device_figures, "resources", resources)
    (line,) = told_figures(made, {"n": 4096})
    assert "on half" in line
    assert line.endswith("; 40 registers")
    assert asked == ["sm_80"]


def test_only_one_architecture_has_warpgroups() -> None:
    schedule = scheduled(analysed(from_c_text(PLAIN)).dependences, PipelineOptions(scheduler="original"))
    options = GpuOptions(tensor_cores=("int8",), tensor_instruction="wgmma")
    first, second, *_ = told_figures(emit_cuda(map_to_device(schedule, options=options)), {"n": 64})
    assert first == "expected: sm_80 (A100 SXM) has no warpgroup8"
    assert "kernel0 on sm_90" in second


def test_without_nvrtc_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_figures, "library", lambda: None)
    *lines, last = told_figures(emit_cuda(mapped(PRODUCT)), {"n": 4096})
    assert len(lines) == 2
    assert "pip install nvidia-cuda-nvrtc-cu12" in last
