"""Kernels on an OpenCL device, called with NumPy arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.errors import DeviceError, UnsupportedScopError, UsageError
from polysched.gpu import GpuOptions
from polysched.pipeline.options import PipelineOptions
from tests.emit_gpu.emitted import EXACT, needs_device


@pytest.fixture(autouse=True)
def device(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path_factory.mktemp("pocl")))
    needs_device()


def scaled(B: Any, A: Any, factor: Any) -> None:
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            B[j, i] = factor * A[i, j]


def row_sums(A: Any) -> Any:
    n, m = A.shape
    total = np.zeros(n)
    for i in range(n):
        for j in range(m):
            total[i] += A[i, j]
    return total


def prefix(a: Any) -> None:
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] * a[i]


def test_arrays_of_the_caller_hold_the_result() -> None:
    kernel = polysched.kernel(target="opencl")(scaled)
    A, B = np.arange(77.0).reshape(7, 11), np.zeros((22, 7))
    kernel(B[::2], A, 1.5)   # rows apart from each other
    assert np.array_equal(B[::2], 1.5 * A.T)
    assert not B[1::2].any()


def test_threads_call_one_kernel_at_once() -> None:
    kernel = polysched.kernel(target="opencl")(row_sums)

    def right(number: int) -> bool:
        A = np.full((50, 3 + number), 1.0 + number)
        return np.array_equal(kernel(A), A.sum(axis=1))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(right, range(60)))


def test_a_missing_device_is_an_error_and_the_next_call_works(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = polysched.kernel(options=PipelineOptions(device="opencl", scheduler="isl"))(scaled)
    A, B = np.ones((3, 4)), np.zeros((4, 3))
    with monkeypatch.context() as without:
        without.setenv("POLYSCHED_OPENCL_BUILD", "-no-such-option")
        with pytest.raises(DeviceError, match="the kernels do not compile"):
            kernel(B, A, 2.0)
    kernel(B, A, 2.0)
    assert np.array_equal(B, 2 * A.T)


def test_blocks_that_the_device_does_not_run_are_named() -> None:
    kernel = polysched.kernel(options=PipelineOptions(device="opencl", gpu=GpuOptions(block=(1 << 20,), points=(1,))))(
        scaled)
    with pytest.raises(DeviceError, match="no blocks of so many work items; --block names smaller ones"):
        kernel(np.zeros((4, 3)), np.ones((3, 4)), 2.0)


def test_a_kernel_without_parallel_loops_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="no loop can run on many work items"):
        polysched.kernel(target="opencl")(prefix)(np.ones(4))


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(UsageError, match="no device 'abacus'"):
        polysched.kernel(target="abacus")(prefix)


def test_a_program_of_any_kind_runs(tmp_path: Path) -> None:
    C = polysched.compile(polysched.kernel(row_sums), options=PipelineOptions(device="opencl"))
    assert np.array_equal(C(np.ones((3, 4))), np.full(3, 4.0))
