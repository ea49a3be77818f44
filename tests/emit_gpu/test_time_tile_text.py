"""Several steps in a launch: equal to the original, and each of its barriers is needed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polysched.emit_gpu import emit_cuda
from polysched.emit_gpu.nvrtc import library, resources
from polysched.gpu import GpuOptions, map_to_device
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_file, from_c_text
from tests.emit_gpu.emitted import EXACT, largest_difference, needs_device, transformed, verified
from tests.emit_gpu.grinding import is_here, said_of
from tests.gpu.stencils import GROWING, LINE, PLANE
from tests.tiers import and_campaign

KERNELS = Path(__file__).parents[1] / "kernels"
SMALL = {"line": (LINE, {"t": 13, "n": 30}), "plane": (PLANE, {"t": 9, "n": 20, "m": 71}),
         "growing": (GROWING, {"t": 5, "n": 9}), "short": (LINE, {"t": 1, "n": 3}), "long": (LINE, {"t": 2, "n": 700})}


def asked(device: str, time_tile: int, scheduler: str = "original") -> PipelineOptions:
    return PipelineOptions(device=device, scheduler=scheduler, gpu=GpuOptions(time_tile=time_tile))


@pytest.mark.parametrize(("name", "device", "iterations"), and_campaign(
    [("line", "opencl", 3), ("plane", "cuda", 2)],
    [(name, device, count) for name in SMALL for device in ("opencl", "cuda") for count in (1, 2, 5)]))
def test_small_programs(name: str, device: str, iterations: int, tmp_path: Path,
                        monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "opencl":
        needs_device()
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    text, sizes = SMALL[name]
    (tmp_path / "f.c").write_text(text)
    options = asked(device, iterations)
    assert ("at_step" in transformed(tmp_path / "f.c", options).text) == (name != "growing")   # no loop of the host
    assert largest_difference(verified(tmp_path / "f.c", sizes, options)) == 0


@pytest.mark.parametrize(("name", "scheduler", "device"), and_campaign([("seidel_2d", "pluto", "opencl")], [
    (name, scheduler, device) for name, scheduler in (
        ("jacobi_2d", "original"), ("jacobi_2d", "pluto"), ("fdtd_2d", "pluto"), ("heat_3d", "original"),
        ("jacobi_1d", "pluto")) for device in ("opencl", "cuda")]))
def test_kernels(name: str, scheduler: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "opencl":
        needs_device()
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    path = KERNELS / f"{name}.c"
    sizes = {p.spelling: 11 + 3 * k for k, p in enumerate(from_c_file(str(path)).parameters)}
    options = asked(device, 3, scheduler)
    assert "at_step" in transformed(path, options).text
    assert largest_difference(verified(path, sizes, options)) == 0


@pytest.mark.parametrize("barrier", [True, False])
def test_oclgrind_finds_a_race_where_the_barrier_is_missing(barrier: bool, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(LINE)
    text = transformed(tmp_path / "f.c", asked("opencl", 3)).text
    (place,) = [found.span() for found in re.finditer(r"barrier\(CLK_LOCAL_MEM_FENCE \| CLK_GLOBAL_MEM_FENCE\);", text)]
    if not is_here():
        pytest.skip("no Oclgrind: install the package oclgrind")
    needs_device()
    if barrier:
        assert said_of(tmp_path / "f.c", text, 20) == ""
    else:
        assert "race" in said_of(tmp_path / "f.c", text[:place[0]] + text[place[1]:], 20)


def test_there_are_fewer_launches_than_iterations(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(LINE)
    text = transformed(tmp_path / "f.c", asked("cuda", 100)).text
    text = text[text.rindex("void f("):]   # the host
    (line,) = (line for line in text.splitlines() if "for (long at_step" in line)
    assert "at_step <= ((long)t - 1) / 50" in line


@pytest.mark.parametrize("architecture", and_campaign(["sm_80"], ["sm_90"]))
def test_nvrtc_compiles_them(architecture: str) -> None:
    if library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    schedule = scheduled(analysed(from_c_text(PLANE)).dependences, PipelineOptions(scheduler="original"))
    source = emit_cuda(map_to_device(schedule, options=GpuOptions(time_tile=8)))
    assert all(own.registers <= 128 and not own.spilled for own in resources(source.program, architecture))
