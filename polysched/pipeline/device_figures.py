"""What the kernels of a device are expected to take on GPUs, in lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polysched.emit_gpu import DeviceSource
from polysched.emit_gpu.interface import CUDA
from polysched.emit_gpu.nvrtc import library, resources
from polysched.gpu.throughput import figures, lacking
from polysched.target.gpus import GPUS, Gpu


def told_choices(made: DeviceSource) -> tuple[str, ...]:
    """One line per kernel whose block or points were searched."""
    return tuple(f"chosen: {launch.name}: {launch.choice}" for launch in made.mapping.launches
                 if launch.choice is not None)


def told_figures(made: DeviceSource, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """One line per kernel and GPU, and one that says where registers come from."""
    return tuple(_lines(made, sizes))


def _lines(made: DeviceSource, sizes: Mapping[str, int]) -> Iterator[str]:
    compiled = made.interface is CUDA and library() is not None
    here = {gpu.name: gpu for gpu in made.mapping.gpus}   # the device that is found, in place of one of its kind
    for gpu in (here.get(own.name, own) for own in GPUS.values()):
        if made.interface is CUDA and not gpu.architecture:
            continue
        if missing := lacking(made.mapping, gpu, sizes):
            yield f"expected: {gpu.name} ({gpu.title}) has no {' or '.join(missing)}"
            continue
        registers = _registers(made, gpu) if compiled else {}
        for own in figures(made.mapping, gpu, sizes, registers):
            told = f"; {registers[own.kernel]} registers" if own.kernel in registers else ""
            yield f"expected: {own.headline()}{told}"
    if made.interface is CUDA and not compiled:
        yield "expected: no NVRTC is installed to count registers; pip install nvidia-cuda-nvrtc-cu12"


def _registers(made: DeviceSource, gpu: Gpu) -> dict[str, int]:
    """Registers of a work item, by launch."""
    own_only = "a" if made.mapping.has_warpgroups else ""   # instructions of this architecture alone
    by_name = {own.name: own.registers for own in resources(made.program, gpu.architecture + own_only)}
    return {kernel.loops.launch.name: by_name[kernel.name] for kernel in made.kernels}
