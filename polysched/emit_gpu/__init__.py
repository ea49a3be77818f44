"""Printing a mapping: kernels for the device, C for the host."""

from polysched.emit_gpu.emission import DeviceSource, emit, emit_cuda, emit_opencl

__all__ = ["DeviceSource", "emit", "emit_cuda", "emit_opencl"]
