"""What each device's C is compiled and linked with, and how each spells a kernel."""

from __future__ import annotations

import pytest

from polysched.emit_gpu import interface
from polysched.emit_gpu.interface import CUDA, CUDA_ON_CPU, OPENCL, compiler_flags


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
