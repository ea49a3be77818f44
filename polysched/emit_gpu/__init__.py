"""Printing a mapping: kernels for the device, C for the host.

Names are loaded on first use: a program for this machine's cores needs none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polysched.emit_gpu.emission import DeviceSource, emit, emit_cuda, emit_opencl

__all__ = ["DeviceSource", "emit", "emit_cuda", "emit_opencl"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.emission"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
