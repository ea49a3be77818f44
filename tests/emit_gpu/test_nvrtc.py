"""NVRTC compiles what is printed, for two architectures, and says what it takes."""

from __future__ import annotations

import pytest

from polysched.emit_gpu import emit_cuda
from polysched.emit_gpu.nvrtc import KernelResources, library, resources
from polysched.errors import CompileError
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, WAVEFRONT, mapped
from tests.tiers import and_campaign

needs_nvrtc = pytest.mark.skipif(library() is None, reason="no NVRTC: pip install nvidia-cuda-nvrtc-cu12")


@needs_nvrtc
@pytest.mark.parametrize("architecture", and_campaign(["sm_90"], ["sm_80"]))
def test_every_kernel_compiles_and_spills_nothing(architecture: str) -> None:
    for text in (PRODUCT, SCALE, STENCIL, WAVEFRONT):
        made = emit_cuda(mapped(text, "original"))
        found = resources(made.program, architecture)
        assert sorted(own.name for own in found) == sorted(kernel.name for kernel in made.kernels)
        assert all(8 <= own.registers <= 64 and not own.spilled for own in found)


@needs_nvrtc
def test_shared_bytes_are_told() -> None:
    text = ('extern "C" __global__ void turn(float *a) {\n  __shared__ float own[64];\n'
            "  own[threadIdx.x] = a[threadIdx.x];\n  __syncthreads();\n  a[threadIdx.x] = own[63 - threadIdx.x];\n}\n")
    (found,) = resources(text, "sm_90")
    assert (found.name, found.shared) == ("turn", 256)


@needs_nvrtc
def test_what_is_no_cuda_is_refused_with_the_words_of_the_compiler() -> None:
    with pytest.raises(CompileError, match="for sm_80") as error:
        resources('extern "C" __global__ void f(float *a) { a[0] = b; }\n', "sm_80")
    assert 'identifier "b" is undefined' in str(error.value.witness)


def test_resources_show_themselves_in_a_line() -> None:
    shown = repr(KernelResources(name="kernel0", registers=24, spilled=8, shared=256))
    assert "kernel0: 24 registers, 8 bytes spilled, 256 bytes shared" in shown
