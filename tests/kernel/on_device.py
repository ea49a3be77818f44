"""Arrays in the memory of the device that `emit_gpu/cuda_on_cpu` is: where its driver says that the device's memory is.

They go the way of CuPy's and torch's arrays on a GPU: the same protocols, the same C, the same calls of the driver.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
from typing import Any

import numpy as np

_FIRST = 1 << 45
"""As `polysched_cpu_on_device` says."""
_PLACES = itertools.count(_FIRST, 1 << 24)


def device_memory(array: np.ndarray) -> np.ndarray:
    """A copy of an array in the device's memory; this machine may look at it, as no other could."""
    size = max(mmap.PAGESIZE, -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE)
    place = ctypes.CDLL(None, use_errno=True).mmap
    place.restype, place.argtypes = ctypes.c_void_p, (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    wanted = next(_PLACES)
    found = place(wanted, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    assert found == wanted, "nothing lies there"
    memory = np.ctypeslib.as_array((ctypes.c_char * size).from_address(found)).view(np.uint8)[:array.nbytes]
    made = memory.view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


class OnDevice:
    """An array of a library that has the CUDA Array Interface."""

    def __init__(self, array: np.ndarray, **more: Any) -> None:
        self.array = device_memory(array)
        self.more = more

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.array.__array_interface__, "version": 3, **self.more}


class ByDlpack:
    """An array of a library that has DLPack alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = device_memory(array)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int | None = None) -> object:
        assert stream == 1, "the default stream waits for what this library computes"
        return self.array.__dlpack__()
