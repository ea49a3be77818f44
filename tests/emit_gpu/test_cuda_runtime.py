"""CUDA programs on the CPU: emitted ones are equal to the original bit for bit, hand-written ones keep the rules."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_gpu.cuda_runtime import RUNTIME
from polysched.emit_gpu.interface import CUDA_ON_CPU
from polysched.errors import DeviceError
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_file
from polysched.target import find_compiler
from tests.emit_gpu.emitted import largest_difference, verified
from tests.emit_gpu.test_host_text import CORNER
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, WAVEFRONT
from tests.tiers import and_campaign

KERNELS = Path(__file__).parents[1] / "kernels"
ON_DEVICE = PipelineOptions(device="cuda")


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")


MIXED = ("#include <math.h>\n#include <stdlib.h>\nvoid f(int n, float A[n], double B[n], long C[n], _Bool flag) {\n"
         "#pragma scop\n  for (int i = 0; i < n; i++) {\n    A[i] = sqrtf(fabsf(A[i])) + fmaxf(A[i], 0.1f) / 3;\n"
         "    B[i] = flag ? exp2(floor(B[i])) : pow(B[i], 2);\n"
         "    C[i] = labs(C[i]) % 7 + (C[i] >> 2) + abs((int)C[i]);\n"
         "  }\n#pragma endscop\n}\n")
WORDS = ("void f(int new, double class[new], double template) {\n#pragma scop\n"
         "  for (int threadIdx = 0; threadIdx < new; threadIdx++)\n    class[threadIdx] *= template;\n"
         "#pragma endscop\n}\n")


@pytest.mark.parametrize(("text", "sizes"), and_campaign(
    [(PRODUCT, {"n": 33}), (WAVEFRONT, {"n": 33}), (MIXED, {"n": 300}), (WORDS, {"new": 40})],
    [(SCALE, {"n": 33}), (STENCIL, {"n": 7, "t": 3}), (CORNER, {"n": 7, "m": 3})]))
def test_small_programs(text: str, sizes: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", sizes, ON_DEVICE)) == 0


@pytest.mark.parametrize("name", and_campaign(["gramschmidt"], ["nussinov", "row_statistics", "adi"]))
def test_kernels(name: str, tmp_path: Path) -> None:
    path = KERNELS / f"{name}.c"
    sizes = {p.spelling: 19 + k for k, p in enumerate(from_c_file(str(path)).parameters)}
    assert largest_difference(verified(path, sizes, ON_DEVICE)) == 0


def scaled(B: np.ndarray, A: np.ndarray, factor: float) -> None:
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            B[j, i] = factor * A[i, j]


def doubled(a: np.ndarray) -> None:
    for i in range(a.shape[0]):
        a[i] = 2 * a[i]


def test_a_kernel_is_called_with_arrays() -> None:
    A, B = np.arange(77.0).reshape(7, 11), np.zeros((11, 7))
    polysched.kernel(target="cuda")(scaled)(B, A, 1.5)
    assert np.array_equal(B, 1.5 * A.T)


def test_a_driver_that_refuses_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_DEVICE", "7")
    with pytest.raises(DeviceError, match="POLYSCHED_CUDA_DEVICE names no device"):
        polysched.kernel(target="cuda")(doubled)(np.zeros(3))


SUMS = r"""
extern "C" __global__ void sums(const int *a, int *b) {
  __shared__ int part[2];
  int value = a[blockIdx.x * 64 + threadIdx.x];
  for (int by = 16; by; by /= 2) value += __shfl_down_sync(~0u, value, by);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  BARRIER;
  if (threadIdx.x == 63) b[blockIdx.x] = part[0] + part[1];
  if (threadIdx.x == 1) atomicAdd(&b[2], part[0]);
}
"""
CALLED = r"""
int main(void) {
  int a[128], b[3] = {0};
  for (int k = 0; k < 128; k++) a[k] = k + 1;
  static polysched_device_program program;
  polysched_device_kernel kernels[1];
  static const char *const names[] = {"sums"};
  polysched_device_build(&program, kernels, 1, text, names);
  polysched_device_buffer from = polysched_device_allocate(128, 1, sizeof(int));
  polysched_device_buffer to = polysched_device_allocate(3, 1, sizeof(int));
  polysched_device_write(from, a, 0, 128, 1, sizeof(int));
  polysched_device_write(to, b, 0, 3, 1, sizeof(int));
  polysched_device_set(&kernels[0], 0, sizeof from, &from);
  polysched_device_set(&kernels[0], 1, sizeof to, &to);
  polysched_device_launch(&kernels[0], 1, (const long[]){128}, (const size_t[]){64});
  polysched_device_read(to, b, 0, 3, 1, sizeof(int));
  printf("%d %d %d", b[0], b[1], b[2]);
  return 0;
}
"""


def ran(folder: Path, barrier: str, reversed_order: str) -> subprocess.CompletedProcess[str]:
    """What the sums of two blocks of 64 threads are, with something in the place of the barrier."""
    literal = SUMS.replace("BARRIER", barrier).strip().replace('"', '\\"').replace("\n", '\\n"\n"')
    source, program = folder / "sums.c", folder / "sums"
    source.write_text(f'{RUNTIME}static const char text[] = "{literal}\\n";\n{CALLED}')
    made = find_compiler(None).run(["-w", f"-I{CUDA_ON_CPU}", str(source), "-o", str(program), "-ldl"], folder=folder)
    assert made.returncode == 0, made.stderr
    environment = {**os.environ, "TMPDIR": str(folder), "POLYSCHED_CUDA_REVERSED": reversed_order}
    return subprocess.run([program], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("order", ["0", "1"])
def test_threads_of_a_block_meet_at_barriers_and_shuffles(order: str, tmp_path: Path) -> None:
    first, second, warps = sum(range(1, 65)), sum(range(65, 129)), sum(range(1, 33)) + sum(range(65, 97))
    assert ran(tmp_path, "__syncthreads()", order).stdout == f"{first} {second} {warps}"


def test_a_missing_barrier_shows_in_one_of_two_orders(tmp_path: Path) -> None:
    found = {ran(tmp_path, "", order).stdout for order in "01"}
    assert len(found) == 2


def test_a_barrier_that_some_threads_pass_by_is_an_error(tmp_path: Path) -> None:
    done = ran(tmp_path, "if (threadIdx.x < 10) __syncthreads(); else { \n__syncthreads(); }", "0")
    assert done.returncode == 1
    assert "not all threads reach one barrier" in done.stderr
