"""Device code compiled by NVRTC, without a GPU: whether it is CUDA, and the registers and bytes that it takes."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polysched.errors import CompileError, DeviceError
from polysched.records import dataclass
from polysched.scop.shown import Shown

_FUNCTION = re.compile(r"Compiling entry function '(\w+)' for")
_SPILLED = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, kw_only=True)
class KernelResources(Shown):
    """What a kernel takes of a multiprocessor.

    Parameters
    ----------
    name : of the kernel.
    registers : 32-bit registers of a thread.
    spilled : bytes of a thread that are stored for want of registers.
    shared : bytes of shared memory of a block.
    """

    name: str
    registers: int
    spilled: int = 0
    shared: int = 0

    def headline(self) -> str:
        """For instance `kernel0: 24 registers`."""
        bytes_of = {"spilled": self.spilled, "shared": self.shared}
        more = [f"{count} bytes {what}" for what, count in bytes_of.items() if count]
        return ", ".join([f"{self.name}: {self.registers} registers", *more])


def library() -> Path | None:
    """NVRTC of the wheel `nvidia-cuda-nvrtc-cu12`, or the system's; None where neither is."""
    found = importlib.util.find_spec("nvidia.cuda_nvrtc") if importlib.util.find_spec("nvidia") else None
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        for path in sorted((Path(folder) / "lib").glob("libnvrtc.so*")):
            return path
    name = ctypes.util.find_library("nvrtc")
    return Path(name) if name else None


def resources(program: str, architecture: str = "sm_80") -> tuple[KernelResources, ...]:
    """Compile a program for an architecture; a value per kernel, in the order of the text.

    Raises
    ------
    DeviceError : there is no NVRTC.
    CompileError : with NVRTC's words.
    """
    path = library()
    if path is None:
        raise DeviceError("there is no NVRTC", hint="pip install nvidia-cuda-nvrtc-cu12")
    return resources_of_log(_compiled(ctypes.CDLL(str(path)), program, architecture))


def _compiled(nvrtc: Any, program: str, architecture: str) -> str:
    """The log of a compilation.  Source: NVRTC 12.9, "User Interface"."""
    made, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={architecture}".encode(), b"--ptxas-options=-v")
    if nvrtc.nvrtcCreateProgram(ctypes.byref(made), program.encode(), b"polysched.cu", 0, None, None):
        raise DeviceError("NVRTC makes no program", witness=program[:200])
    try:
        failed = nvrtc.nvrtcCompileProgram(made, len(options), options)
        nvrtc.nvrtcGetProgramLogSize(made, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(made, log)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(made))
    text = log.value.decode(errors="replace")
    if failed:
        raise CompileError(f"NVRTC refused the kernels for {architecture}", witness=text.strip())
    return text


def resources_of_log(log: str) -> tuple[KernelResources, ...]:
    """The kernels of what `ptxas -v` prints."""
    return tuple(_read(log))


def _read(log: str) -> Iterator[KernelResources]:
    """The kernels of ptxas's lines."""
    parts = _FUNCTION.split(log)[1:]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        registers, spilled, shared = (pattern.search(text) for pattern in (_REGISTERS, _SPILLED, _SHARED))
        if registers is None:
            raise DeviceError("ptxas says nothing about registers", witness=text.strip())
        yield KernelResources(name=name, registers=int(registers[1]), spilled=int(spilled[2]) if spilled else 0,
                              shared=int(shared[1]) if shared else 0)
