"""Arrays in a GPU's memory: they are used where they lie, and nothing here touches their elements."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.errors import CompileError, DeviceError, UnsupportedScopError, UsageError
from polysched.kernel.cuda_arrays import CudaArray, cuda_array
from polysched.pipeline.options import PipelineOptions
from polysched.scop.expression import compute, placeholder, symbols
from tests.kernel.on_device import ByDlpack, OnDevice


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")


def scaled(B: Any, A: Any, factor: Any) -> None:
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            B[j, i] = factor * A[i, j]


def gathered(B: Any, A: Any, index: Any) -> None:
    for i in range(index.shape[0]):
        B[i] = A[index[i]]


@pytest.mark.parametrize("make", [OnDevice, ByDlpack])
@pytest.mark.usefixtures("on_cpu")
def test_arrays_of_the_device_hold_the_result(make: Any) -> None:
    kernel = polysched.kernel(target="cuda")(scaled)
    A, B = make(np.arange(77.0).reshape(7, 11)), make(np.zeros((11, 7)))
    kernel(B, A, 1.5)
    assert np.array_equal(B.array, 1.5 * A.array.T)
    kernel(B, A, 2.0)
    assert np.array_equal(B.array, 2 * A.array.T)


@pytest.mark.usefixtures("on_cpu")
def test_a_call_may_have_arrays_of_both_memories() -> None:
    kernel = polysched.kernel(target="cuda")(scaled)
    A, B = np.arange(6.0).reshape(2, 3), OnDevice(np.zeros((3, 2)))
    kernel(B, A, 3.0)
    assert np.array_equal(B.array, 3 * A.T)
    back = np.zeros((2, 3))
    kernel(back, B, 1.0)
    assert np.array_equal(back, 3 * A)


@pytest.mark.usefixtures("on_cpu")
def test_subscripts_from_data_are_checked_on_the_device() -> None:
    kernel = polysched.kernel(target="cuda")(gathered)
    A, B, index = OnDevice(np.arange(5.0)), OnDevice(np.zeros(3)), OnDevice(np.array([4, 0, 2]))
    kernel(B, A, index)
    assert B.array.tolist() == [4.0, 0.0, 2.0]
    index.array[1] = 5
    with pytest.raises(UnsupportedScopError, match="1 of the subscripts of A"):
        kernel(B, A, index)
    assert B.array.tolist() == [4.0, 0.0, 2.0]


@pytest.mark.usefixtures("on_cpu")
def test_tensor_expressions_take_them() -> None:
    (n,) = symbols("n")
    A = placeholder("A", (n,), "float64")
    double = polysched.compile(compute((n,), lambda i: A[i] * 2, name="D"), options=PipelineOptions(device="cuda"))
    D = OnDevice(np.zeros(5))
    double(OnDevice(np.arange(5.0)), D)
    assert D.array.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert double(OnDevice(np.arange(5.0))).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]   # what it makes is NumPy's


@pytest.mark.usefixtures("on_cpu")
def test_what_overlaps_or_is_read_only_is_refused_as_ever() -> None:
    kernel = polysched.kernel(target="cuda")(scaled)
    A = OnDevice(np.arange(9.0).reshape(3, 3))
    with pytest.raises(UsageError, match="B is written, but the array is read-only"):
        kernel(OnDevice(np.zeros((3, 3)), data=(A.array.ctypes.data, True)), A, 1.0)
    part = OnDevice(np.zeros((3, 3)), data=(A.array.ctypes.data + 8, False))
    with pytest.raises(polysched.kernel.SharedMemoryError):
        kernel(part, A, 1.0)


@pytest.mark.usefixtures("on_cpu")
def test_later_calls_still_see_what_overlaps() -> None:
    kernel = polysched.kernel(target="cuda")(scaled)
    A, B = OnDevice(np.arange(9.0).reshape(3, 3)), OnDevice(np.zeros((3, 3)))
    kernel(B, A, 1.0)
    assert kernel._calls.found, "calls like this one are known"
    part = OnDevice(np.zeros((3, 3)), data=(A.array.ctypes.data + 8, False))
    with pytest.raises(polysched.kernel.SharedMemoryError):
        kernel(part, A, 1.0)
    back = np.zeros((3, 3))
    kernel(back, A, 2.0)
    assert np.array_equal(back, 2 * A.array.T)


@pytest.mark.parametrize(("more", "words"), [
    ({"strides": (8, 24)}, "whose elements are apart from each other"), ({"mask": object()}, "with a mask")])
@pytest.mark.usefixtures("on_cpu")
def test_what_the_code_cannot_take_is_refused(more: dict[str, Any], words: str) -> None:
    kernel = polysched.kernel(target="cuda")(scaled)
    A = OnDevice(np.arange(9.0).reshape(3, 3))
    with pytest.raises(UsageError, match=words):
        kernel(OnDevice(np.zeros((3, 3)), **more), A, 1.0)


def test_a_kernel_of_this_machine_names_the_target() -> None:
    with pytest.raises(UsageError, match="scaled: B is a tests OnDevice on the DLPack device 2") as caught:
        polysched.kernel(scaled)(OnDevice(np.zeros((3, 3))), np.zeros((3, 3)), 1.0)
    assert "the target cuda" in str(caught.value)


def test_without_a_gpu_the_refusal_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYSCHED_CUDA_ON_CPU", raising=False)
    if os.path.exists("/dev/nvidia0"):
        pytest.skip("there is a GPU")
    B = OnDevice(np.zeros((3, 3)))
    with pytest.raises((CompileError, DeviceError)) as caught:
        polysched.kernel(target="cuda")(scaled)(B, OnDevice(np.ones((3, 3))), 1.0)
    assert "CUDA" in str(caught.value)
    assert not B.array.any()


def test_elements_are_nobodys_here() -> None:
    found = cuda_array("A", OnDevice(np.arange(4.0)))
    assert isinstance(found, CudaArray)
    assert str(found) == "<float64 array of shape (4,) in a GPU's memory>"
    for touch in (lambda: found[0], found.copy, lambda: found.__setitem__(0, 1.0)):
        with pytest.raises(UsageError, match="cannot be used here"):
            touch()


@pytest.mark.usefixtures("on_cpu")
def test_timing_needs_copies_which_are_refused() -> None:
    kernel = polysched.kernel(target="cuda")(scaled)
    with pytest.raises(UsageError, match="cannot be used here"):
        kernel.time(OnDevice(np.zeros((3, 3))), OnDevice(np.ones((3, 3))), 1.0)


@pytest.mark.parametrize(("more", "witness"), [({"data": None}, "None"), ({"typestr": "zz"}, "'zz' not understood")])
def test_an_interface_that_is_none_is_refused(more: dict[str, Any], witness: str) -> None:
    with pytest.raises(UsageError, match=r"A in a GPU's memory that its library does not export") as caught:
        cuda_array("A", OnDevice(np.zeros(3), **more))
    assert witness in str(caught.value)


def test_an_array_without_elements_has_no_place() -> None:
    assert cuda_array("A", OnDevice(np.zeros((0, 3)), data=(0, False))).shape == (0, 3)


def test_types_without_a_name_in_numpy_are_refused() -> None:
    class Brains(ByDlpack):
        def __dlpack__(self, *, stream: int | None = None) -> object:
            torch = pytest.importorskip("torch")
            return torch.zeros(3, dtype=torch.bfloat16).__dlpack__()
    with pytest.raises(UsageError, match="a type that NumPy does not have"):
        cuda_array("A", Brains(np.zeros(3)))


@pytest.mark.usefixtures("on_cpu")
def test_a_c_file_has_code_around_its_regions(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text("void k(int n, double a[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
                                  "    a[i] += 1;\n#pragma endscop\n}\n")
    function = polysched.compile(tmp_path / "k.c", options=PipelineOptions(device="cuda"))
    with pytest.raises(UsageError, match="k: a is a tests OnDevice on the DLPack device 2") as caught:
        function(OnDevice(np.zeros(3)))
    assert "move it to the CPU first, since the C around regions may touch it" in str(caught.value)
