"""Which OpenCL device a program on this machine would find, asked in a process of its own.

Drivers bring compilers and threads with them, which a process that goes on to do other things had better not load.
"""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache

from polysched.emit_gpu.opencl_wheels import wheel_flags, wheels
from polysched.measure.processes.execution import run_program
from polysched.records import dataclass

SECONDS = 60.0
"""For drivers to start."""
ASK = r'''
import ctypes, json, os, sys
if len(sys.argv) > 2:
    os.environ.setdefault("PYOPENCL_HOME", sys.argv[2])   # as the emitted C does with the loader of wheels
cl = ctypes.CDLL(sys.argv[1])
KINDS = 4, 0xFFFFFFFF   # CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL

def listed(ask, *given):
    found, count = (ctypes.c_void_p * 16)(), ctypes.c_uint(0)
    return list(found[:min(count.value, 16)]) if ask(*given, 16, found, ctypes.byref(count)) == 0 else []

def text(ask, of, what):
    held = ctypes.create_string_buffer(256)
    ask(ctypes.c_void_p(of), what, ctypes.c_size_t(256), held, None)
    return held.value.decode(errors="replace")

def number(of, what, kind):
    held = kind(0)
    cl.clGetDeviceInfo(ctypes.c_void_p(of), what, ctypes.c_size_t(ctypes.sizeof(held)), ctypes.byref(held), None)
    return held.value

def wanted(name, variable):
    return os.environ.get(variable, "") in name

for kind in KINDS:
    for platform in listed(cl.clGetPlatformIDs):
        name = text(cl.clGetPlatformInfo, platform, 0x0902)
        if not wanted(name, "POLYSCHED_OPENCL_PLATFORM"):
            continue
        for own in listed(cl.clGetDeviceIDs, ctypes.c_void_p(platform), ctypes.c_ulong(kind)):
            device = text(cl.clGetDeviceInfo, own, 0x102B)
            if wanted(device, "POLYSCHED_OPENCL_DEVICE"):
                print("\n" + json.dumps({"platform": name, "device": device,
                                  "is_cpu": bool(number(own, 0x1000, ctypes.c_ulong) & 2),
                                  "units": number(own, 0x1002, ctypes.c_uint),
                                  "gigahertz": number(own, 0x100C, ctypes.c_uint) / 1e3}))
                sys.exit()
'''
"""Chooses as the emitted host code does (`emit_gpu.opencl_runtime`); OpenCL 1.2, sections 4.1 and 4.2."""


@dataclass(frozen=True, kw_only=True)
class OpenClDevice:
    """A device, in its driver's words.

    Parameters
    ----------
    platform, device : names.
    is_cpu : it runs on the cores of a processor.
    units : cores, or multiprocessors.
    gigahertz : of them; 0 where it does not say.
    """

    platform: str
    device: str
    is_cpu: bool
    units: int
    gigahertz: float


def opencl_device() -> OpenClDevice | None:
    """The device that emitted host code would take here; None where it would find none."""
    names = ("POLYSCHED_OPENCL_PLATFORM", "POLYSCHED_OPENCL_DEVICE", "POLYSCHED_OPENCL_WHEELS", "PYOPENCL_HOME",
             "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "CPATH", "C_INCLUDE_PATH", "LD_LIBRARY_PATH")
    return _asked(tuple(os.environ.get(name) for name in names))


@lru_cache(maxsize=16)
def _asked(environment: tuple[str | None, ...]) -> OpenClDevice | None:
    """The answer under an environment, for as long as this process runs."""
    own = wheels() if wheel_flags() is not None else None
    loader = ["libOpenCL.so.1"] if own is None else [str(own.loader), str(own.loader.parent.parent)]
    done = run_program([sys.executable, "-I", "-S", "-c", ASK, *loader], seconds=SECONDS)
    told = [line for line in done.output.splitlines() if line.startswith('{"platform": ')]   # drivers print, too
    return OpenClDevice(**json.loads(told[0])) if done.status == 0 and told else None
