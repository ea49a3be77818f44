"""The languages of devices: how each spells a kernel, and the C with which a host drives it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path

from polysched.emit_gpu.cuda_runtime import RUNTIME as CUDA_RUNTIME
from polysched.emit_gpu.cuda_wheels import wheel_flags as cuda_wheel_flags
from polysched.emit_gpu.opencl_runtime import RUNTIME as OPENCL_RUNTIME
from polysched.emit_gpu.opencl_wheels import wheel_flags
from polysched.errors import UsageError
from polysched.records import dataclass

CUDA_ON_CPU = Path(__file__).parent / "cuda_on_cpu"
"""Headers that stand in for NVIDIA's and run the kernels on the CPU."""


@dataclass(frozen=True, kw_only=True)
class Interface:
    """A language of devices.

    Parameters
    ----------
    name : of `--target`.
    language : of the kernels, in words.
    kernel_head : in front of the name of a kernel, with a field `items`: work items of a block.
    pointer : how an array is declared as an argument, with fields `const`, `c_type` and `name`.
    group, item : C of the number of a block, and of a work item in its block, along a dimension, with fields
        `dimension` and `axis`.
    groups : C of the number of blocks along a dimension, with the same fields.
    shared : in front of the declaration of an array that a block shares.
    aligned : in front of the type of such an array, with a field `bytes`.
    shared_vector, global_vector : the type of a pointer to vectors in it, and in an array that is only read, with a
        field `type`.
    barrier : at which the work items of a block wait for one another, and see what the others wrote to such arrays.
    global_barrier : the same, and they see what the others wrote to the device's memory.
    shuffle : C of the value that an item further on in the warp has, with fields `value` and `distance`; empty where
        the language has none.
    program_head : lines of every program.
    double_head : lines of a program with double precision, before these.
    float_functions : whether functions of math.h of single precision have names of their own.
    bits : C of the bits of a value with a field `value`, by its type, where they are more than what `!=` compares.
    runtime : the C that a file has once.
    most_items, most_edges : work items of a block in all, and along each dimension, on every device of the language;
        none where each device has limits of its own.
    """

    name: str
    language: str
    kernel_head: str
    pointer: str
    group: str
    item: str
    groups: str
    shared: str
    aligned: str
    shared_vector: str
    global_vector: str
    barrier: str
    global_barrier: str
    shuffle: str
    program_head: tuple[str, ...]
    double_head: tuple[str, ...]
    float_functions: bool
    bits: Mapping[str, str]
    runtime: str
    most_items: int | None = None
    most_edges: tuple[int, ...] = ()

    def check_block(self, block: Sequence[int]) -> None:
        """Refuse a block that no device of the language runs.

        Raises
        ------
        UsageError : with the limit.
        """
        edges = zip(block, self.most_edges, strict=False)
        if self.most_items is not None and (prod(block) > self.most_items or any(own > most for own, most in edges)):
            raise UsageError(f"no device of {self.name} runs blocks of {'x'.join(map(str, block))} work items",
                             hint=f"at most {self.most_items} in all, and {'x'.join(map(str, self.most_edges))} along "
                                  "the dimensions; --points gives a work item several values")


OPENCL = Interface(
    name="opencl", language="OpenCL C", kernel_head="__kernel void",
    pointer="__global {const}{c_type} *restrict {name}", group="(long)get_group_id({dimension})",
    item="(long)get_local_id({dimension})",
    groups="(long)get_num_groups({dimension})", shared="__local",
    aligned="__attribute__((aligned({bytes})))", shared_vector="__local {type} *",
    global_vector="const __global {type} *", barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    global_barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);", shuffle="",
    double_head=("#pragma OPENCL EXTENSION cl_khr_fp64 : enable",),
    program_head=("#ifdef POLYSCHED_NO_CONTRACTION", "#pragma OPENCL FP_CONTRACT OFF", "#endif"),
    float_functions=False, bits={"float": "as_int({value})", "double": "as_long({value})"},
    runtime=OPENCL_RUNTIME)
"""OpenCL C 1.2, sections 6.2.4, 6.5, 6.7 and 6.12."""

CUDA = Interface(
    name="cuda", language="CUDA C++", kernel_head='extern "C" __global__ void __launch_bounds__({items})',
    pointer="{const}{c_type} *__restrict__ {name}",
    group="(long)blockIdx.{axis}", item="threadIdx.{axis}",
    groups="(long)gridDim.{axis}", shared="__shared__", aligned="__align__({bytes})",
    shared_vector="{type} *", global_vector="const {type} *", barrier="__syncthreads();",
    global_barrier="__syncthreads();", shuffle="__shfl_down_sync(0xffffffffu, {value}, {distance})",
    double_head=(), program_head=("#define _Bool bool",), float_functions=True,
    bits={"float": "__float_as_int({value})", "double": "__double_as_longlong({value})"}, runtime=CUDA_RUNTIME,
    most_items=1024, most_edges=(1024, 1024, 64))
"""CUDA C++ Programming Guide, "C++ Language Extensions", "Mathematical Functions" and "Technical Specifications"."""

INTERFACES = {own.name: own for own in (OPENCL, CUDA)}


def compiler_flags(device: str | None) -> tuple[str, ...]:
    """What the host's C is compiled and linked with.

    OpenCL is the system's, or that of wheels (`opencl_wheels`).  CUDA is looked for where `CUDA_HOME` says, else in
    the compiler's own folders, else in wheels (`cuda_wheels`).  With `POLYSCHED_CUDA_ON_CPU=1` in the environment the
    kernels run on the CPU, by the headers of `CUDA_ON_CPU`.
    """
    if device == "opencl":
        return wheel_flags() or ("-lOpenCL",)
    if device != "cuda":
        return ()
    if os.environ.get("POLYSCHED_CUDA_ON_CPU", "0") not in ("", "0"):
        return (f"-I{CUDA_ON_CPU}", "-ldl")
    home = os.environ.get("CUDA_HOME")
    if not home and (found := cuda_wheel_flags()) is not None:
        return found
    return (*((f"-I{home}/include", f"-L{home}/lib64", f"-L{home}/lib64/stubs") if home else ()), "-lcuda", "-lnvrtc")
