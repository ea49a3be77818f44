"""Printing a mapping: kernels for the device, C for the host.

Names are loaded on first use: a program for this machine's cores needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.emit_gpu.emission import DeviceSource, emit, emit_cuda, emit_opencl

_HOME = dict.fromkeys(("DeviceSource", "emit", "emit_cuda", "emit_opencl"), "emission")

__all__ = ["DeviceSource", "emit", "emit_cuda", "emit_opencl"]


__getattr__, __dir__ = loader(__name__, _HOME)
