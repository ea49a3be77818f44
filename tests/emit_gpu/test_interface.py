"""What each device's C is compiled and linked with, and how each spells a kernel."""

from __future__ import annotations

import pytest

from polysched.emit_gpu import emit_cuda, emit_opencl, interface
from polysched.emit_gpu.interface import CUDA, CUDA_ON_CPU, OPENCL, compiler_flags
from polysched.errors import UsageError
from polysched.gpu import GpuOptions, map_to_device
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.gpu.mapped import PRODUCT


def test_this_machine_s_cores_need_no_flags() -> None:
    assert compiler_flags(None) == ()


def test_the_place_of_cuda_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYSCHED_CUDA_ON_CPU", raising=False)
    monkeypatch.setenv("CUDA_HOME", "/opt/cuda")
    assert compiler_flags("cuda") == ("-I/opt/cuda/include", "-L/opt/cuda/lib64", "-L/opt/cuda/lib64/stubs", "-lcuda",
                                      "-lnvrtc")


@pytest.mark.parametrize(("value", "on_cpu"), [("1", True), ("0", False), ("", False)])
def test_the_cpu_stands_in_only_where_it_is_asked_to(value: str, on_cpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr(interface, "cuda_wheel_flags", lambda: None)
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", value)
    assert compiler_flags("cuda") == ((f"-I{CUDA_ON_CPU}", "-ldl") if on_cpu else ("-lcuda", "-lnvrtc"))


def test_both_runtimes_have_the_functions_that_regions_call() -> None:
    for name in ("build", "allocate", "write", "read", "set", "launch", "hold", "drop", "release", "end", "refuse"):
        assert all(f"polysched_device_{name}(" in own.runtime for own in (OPENCL, CUDA)), name


@pytest.mark.parametrize("block", [(64, 64), (1025,), (1, 1, 65)])
def test_blocks_that_no_device_of_cuda_runs_are_refused(block: tuple[int, ...]) -> None:
    OPENCL.check_block(block)
    with pytest.raises(UsageError, match=f"no device of cuda runs blocks of {'x'.join(map(str, block))}"):
        CUDA.check_block(block)


@pytest.mark.parametrize("block", [(), (1024,), (32, 32), (4, 4, 64)])
def test_blocks_that_all_devices_of_cuda_run(block: tuple[int, ...]) -> None:
    CUDA.check_block(block)


def test_a_mapping_with_such_a_block_is_refused() -> None:
    schedule = scheduled(analysed(from_c_text(PRODUCT)).dependences, PipelineOptions(scheduler="original"))
    mapping = map_to_device(schedule, options=GpuOptions(block=(64, 32), points=(1,)))
    assert "blocks of 64x32" in str(mapping)
    emit_opencl(mapping)
    with pytest.raises(UsageError, match="no device of cuda runs blocks of 64x32 work items"):
        emit_cuda(mapping)
