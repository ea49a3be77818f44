"""What GPUs have and what they do in a cycle, by their makers' manuals; nothing here was measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from polysched.errors import UsageError
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU.

    Parameters
    ----------
    name : unique in `GPUS`.
    architecture : as NVIDIA's compilers call it, several GPUs may have one; empty where there is no CUDA.
    title : a product that has it.
    multiprocessors : that run blocks.
    gigahertz : of a multiprocessor, boosted.
    warp : work items that run one instruction together.
    threads, blocks : work items and blocks that a multiprocessor holds at once.
    registers : of 32 bits, of a multiprocessor.
    shared_bytes : of shared memory of a multiprocessor.
    reserved_bytes : of shared memory that the system takes of each block.
    memory_bytes_per_second : of the memory of the device.
    sector_bytes : that its memory gives at least; CUDA C++ Programming Guide, Device Memory Accesses.
    per_cycle : results of a multiprocessor in a cycle, by pipe: `float32`, `float64` and `integer` operations (a
        multiply-add is one), products of tensor cores `tensor8`, `tensor16`, `tensor32` by the bits of their
        operands, `warpgroup8`, ... those of warpgroups, `special` functions, `load` of elements from shared or global
        memory.  It has no other pipes.
    latencies : cycles from an instruction to the next that needs its result, by `operation`, `shared`, `global`.
    banks, bank_bytes : of shared memory: so many words of so many bytes at once, one of each bank; CUDA C++
        Programming Guide, Shared Memory.
    opencl_names : words of the name of its OpenCL platform or device, any of which tells it; none for cores, which say
        what they are.
    loops_over_items : it runs the work items of a block as loops, in lanes of vectors where no condition is in the way.
    source : of these numbers.
    """

    name: str
    architecture: str
    title: str
    multiprocessors: int
    gigahertz: float
    warp: int
    threads: int
    blocks: int
    registers: int
    shared_bytes: int
    reserved_bytes: int
    memory_bytes_per_second: float
    per_cycle: dict[str, float]
    latencies: dict[str, int]
    source: str
    sector_bytes: int = 32
    banks: int = 32
    bank_bytes: int = 4
    opencl_names: tuple[str, ...] = ()
    loops_over_items: bool = False


_LATENCIES = {"operation": 4, "shared": 30, "global": 500}
"""Cycles; J. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking",
IPDPS 2024, tables of A100 and H100, rounded."""

SM_80 = Gpu(
    name="sm_80", architecture="sm_80", title="A100 SXM", multiprocessors=108, gigahertz=1.41, warp=32,
    threads=2048, blocks=32, registers=65536, shared_bytes=164 * 1024, reserved_bytes=1024,
    memory_bytes_per_second=1.555e12,
    per_cycle={"float32": 64, "float64": 32, "integer": 64, "special": 16, "load": 32,
               "tensor8": 2048, "tensor16": 1024, "tensor32": 512}, latencies=_LATENCIES,
    opencl_names=("A100",),
    source="NVIDIA A100 Tensor Core GPU Architecture; CUDA C++ Programming Guide, Technical Specifications per Compute "
           "Capability, and Throughput of Native Arithmetic Instructions")
SM_90 = Gpu(
    name="sm_90", architecture="sm_90", title="H100 SXM", multiprocessors=132, gigahertz=1.98, warp=32,
    threads=2048, blocks=32, registers=65536, shared_bytes=228 * 1024, reserved_bytes=1024,
    memory_bytes_per_second=3.35e12,
    per_cycle={"float32": 128, "float64": 64, "integer": 64, "special": 16, "load": 32,
               "tensor8": 4096, "tensor16": 2048, "tensor32": 1024,
               "warpgroup8": 4096, "warpgroup16": 2048, "warpgroup32": 1024}, latencies=_LATENCIES,
    opencl_names=("H100",),
    source="NVIDIA H100 Tensor Core GPU Architecture; CUDA C++ Programming Guide, as above")
XE_LP = Gpu(
    name="xe_lp", architecture="", title="Iris Xe, 96 execution units", multiprocessors=6, gigahertz=1.35, warp=16,
    threads=16 * 7 * 16, blocks=32, registers=16 * 7 * 128 * 8, shared_bytes=128 * 1024, reserved_bytes=0,
    memory_bytes_per_second=68.3e9, sector_bytes=64, banks=16,
    per_cycle={"float32": 128, "integer": 128, "special": 32, "load": 32}, latencies=_LATENCIES,
    opencl_names=("Iris(R) Xe", "Iris Xe"),
    source="Intel, oneAPI GPU Optimization Guide, Xe GPU Architecture: a dual subslice has 16 execution units, each "
           "with 7 threads of 128 registers of 32 bytes, 8 results a cycle and 2 of functions, and no float64; LPDDR4x "
           "at 4266 MT/s, 128 bits wide; no source for its latencies: those of the others")
POCL = Gpu(
    name="pocl", architecture="", title="PoCL on a Xeon Platinum 8480+", multiprocessors=56, gigahertz=2.0, warp=16,
    threads=4096, blocks=1, registers=4096 * 255, shared_bytes=2 * 1024 * 1024, reserved_bytes=0,
    memory_bytes_per_second=307.2e9, sector_bytes=64, banks=1,
    per_cycle={"float32": 32, "float64": 16, "integer": 32, "special": 1, "load": 32},
    latencies={"operation": 4, "shared": 5, "global": 250}, loops_over_items=True,
    source="PoCL documentation, CPU driver: a thread of each core runs one block after another, its work items as "
           "loops in lanes of vectors, 4096 of them at most; variables beyond the registers and shared memory lie in "
           "caches, which have no banks. Intel Xeon Platinum 8480+: 56 cores, 2 MiB of second cache each, eight "
           "channels of DDR5-4800, two multiply-adds and two loads of 512 bits a cycle; Intel 64 and IA-32 "
           "Architectures Optimization Reference Manual, Golden Cove: 16 divisions in 16 cycles, latencies of 4 and 5")
GPUS = {gpu.name: gpu for gpu in (SM_80, SM_90, XE_LP, POCL)}


def described(*, platform: str, device: str, is_cpu: bool, units: int, gigahertz: float) -> Gpu | None:
    """The description of an OpenCL device; None where nothing describes it.

    Cores are described as PoCL's are, whoever drives them: as many of them as the device has, each with its part of
    the memory's rate.

    Parameters
    ----------
    platform, device : their names.
    is_cpu : it runs on the cores of a processor.
    units : cores, or multiprocessors.
    gigahertz : of them; 0 where it does not say.
    """
    if is_cpu:
        return replace(POCL, title=device, multiprocessors=units, gigahertz=gigahertz or POCL.gigahertz,
                       memory_bytes_per_second=POCL.memory_bytes_per_second / POCL.multiprocessors * units)
    return next((gpu for gpu in GPUS.values() if any(
        re.search(rf"\b{re.escape(own)}\b", f"{platform} {device}") for own in gpu.opencl_names)), None)


def find_gpus(names: Sequence[str]) -> tuple[Gpu, ...]:
    """The descriptions of these names.

    Raises
    ------
    UsageError : there is none of a name.
    """
    if unknown := [name for name in names if name not in GPUS]:
        raise UsageError(f"nothing describes the device {unknown[0]}", hint=f"one of {', '.join(GPUS)}")
    return tuple(GPUS[name] for name in names)
