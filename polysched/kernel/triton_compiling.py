"""Block programs compiled by Triton for NVIDIA's GPUs, without one: whether it takes them, and what they need."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from polysched.emit_gpu.nvrtc import KernelResources, resources_of_log
from polysched.errors import CompileError, DeviceError, UsageError
from polysched.kernel.triton_calls import MISSING, is_interpreted, triton_module
from polysched.scop.block_frontend import BlockSource
from polysched.scop.dtypes import BFLOAT16, DType, Kind
from polysched.scop.python_frontend.signature import ArgumentType, ArrayType

_TARGET = re.compile(r"^\.target\s+(\w+)", re.MULTILINE)
_ARCHITECTURE = re.compile(r"sm_(\d+)")


def triton_resources(source: BlockSource, arguments: Mapping[str, ArgumentType],
                     architecture: str = "sm_80") -> KernelResources:
    """Compile a program to a cubin for an architecture.

    Parameters
    ----------
    arguments : the types of its arguments.

    Raises
    ------
    DeviceError : Triton is not installed, or was imported as an interpreter.
    CompileError : with Triton's words.
    """
    number = _ARCHITECTURE.fullmatch(architecture)
    if number is None:
        raise UsageError(f"{architecture!r} is no architecture", hint="for instance sm_80 or sm_90")
    module = triton_module(source)
    if is_interpreted():
        raise DeviceError("Triton was imported with TRITON_INTERPRET=1, and compiles nothing", hint="unset it")
    kernel = getattr(module, f"{source.name}_kernel")
    made = _compiled(kernel, source, arguments, int(number[1]))
    (found,) = resources_of_log(_assembled(made.asm["ptx"], _assembler(int(number[1]))))
    return KernelResources(name=found.name, registers=found.registers, spilled=found.spilled,
                           shared=int(made.metadata.shared))


def _compiled(kernel: Any, source: BlockSource, arguments: Mapping[str, ArgumentType], number: int) -> Any:
    """Triton's compiled kernel.  Source: `triton.compiler.ASTSource`, Triton 3."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    signature = {name: _signature(source, arguments, name) for name in kernel.arg_names}
    constants = {name: source.constants[name] if name in source.constants else _is_stored(arguments, name)
                 for name, kind in signature.items() if kind == "constexpr"}
    try:
        return triton.compile(ASTSource(fn=kernel, signature=signature, constexprs=constants),
                              target=GPUTarget("cuda", number, 32))
    except (triton.TritonError, RuntimeError, AssertionError, ValueError) as error:
        raise CompileError(f"Triton refused {source.name} for sm_{number}", witness=str(error).strip()[:2000]) from None


STORED = "_is_stored"
"""The end of a name that says whether a number is in memory: floats are."""


def _is_stored(arguments: Mapping[str, ArgumentType], name: str) -> bool:
    return arguments[name.removesuffix(STORED)].dtype.is_float


def _signature(source: BlockSource, arguments: Mapping[str, ArgumentType], name: str) -> str:
    """The type of a kernel's argument in Triton's words; sizes and strides are integers of 64 bits."""
    if name in source.constants or (name.removesuffix(STORED) in arguments and name.endswith(STORED)):
        return "constexpr"
    own = arguments.get(name)
    if own is None:
        return "i64"
    return f"*{_type(own.dtype)}" if isinstance(own, ArrayType) or own.dtype.is_float else _type(own.dtype)


def _type(dtype: DType) -> str:
    """An element type as Triton spells it: `fp32`, `i64`, `u8`, `i1`."""
    if dtype == BFLOAT16:
        return "bf16"
    prefix = {Kind.FLOAT: "fp", Kind.SIGNED: "i", Kind.UNSIGNED: "u"}.get(dtype.kind)
    return "i1" if prefix is None else f"{prefix}{dtype.bits}"


def _assembler(number: int) -> str:
    """The ptxas that Triton itself takes for an architecture: it brings several, and writes PTX for the one it takes.

    Source: `triton.backends.nvidia.compiler.get_ptxas`, which has no argument in Triton 3.4.
    """
    from triton.backends.nvidia.compiler import get_ptxas
    return str((get_ptxas(number) if signature(get_ptxas).parameters else get_ptxas()).path)


def _assembled(text: str, assembler: str) -> str:
    """What an assembler of Triton's says of a kernel."""
    target = _TARGET.search(text)
    if target is None:
        raise DeviceError("Triton's PTX has no target", witness=text[:200])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(text)
        done = subprocess.run([assembler, f"--gpu-name={target[1]}", "-v", str(path), "-o", os.devnull],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"ptxas refused the kernel for {target[1]}", witness=done.stderr.strip(), hint=MISSING)
    return done.stderr
