"""`@polysched.kernel`: plain Python functions over NumPy arrays that run as optimised C.

    @polysched.kernel
    def gemm(C, A, B, alpha, beta):
        M, N = C.shape
        K = A.shape[1]
        for i in range(M):
            for j in range(N):
                C[i, j] *= beta
                for k in range(K):
                    C[i, j] += alpha * A[i, k] * B[k, j]

The package is callable itself, so that `polysched.kernel` is the decorator whether or not it was imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, overload

from polysched.kernel.block_program import TRITON, BlockProgram, as_written, block_program
from polysched.kernel.c_function import CFileFunction
from polysched.kernel.call_checks import SharedMemoryError
from polysched.kernel.choosing import Choice, Code
from polysched.kernel.compiling import compile
from polysched.kernel.decorated import FallbackWarning, Kernel
from polysched.kernel.scop_function import ScopFunction
from polysched.kernel.timing import KernelTiming
from polysched.pipeline.options import PipelineOptions
from polysched.target.build_cache import cache_folder
from polysched.tensorize.options import NONE, TensorizeOptions

__all__ = ["TRITON", "BlockProgram", "CFileFunction", "Choice", "Code", "FallbackWarning", "Kernel", "KernelTiming",
           "ScopFunction", "SharedMemoryError", "as_written", "block_program", "cache_folder", "compile", "kernel"]


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...


@overload
def kernel(*, options: PipelineOptions | None = None, fallback: bool = False,
           intrinsics: str | None = None, safe: bool = False,
           target: str | None = None) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(function: Callable[..., Any] | None = None, /, *, options: PipelineOptions | None = None,
           fallback: bool = False, intrinsics: str | None = None, safe: bool = False,
           target: str | None = None) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Make a Python function a kernel, with or without options.

    Parameters
    ----------
    options : of the pipeline: scheduler, tile sizes, threads, compiler.
    fallback : run as plain Python what cannot be a kernel, and report it.
    intrinsics : the name of a described instruction that may compute statements, or `auto` for the best that this
        machine executes; the code is then made for the sizes of each call. `none` for no instruction. By default
        those that change no bit of a result, where the model finds them faster, in code for all sizes. The same as
        `options.tensorize`.
    safe : run what is fastest for sizes of about these: the transformed code, the loops as written, or the Python
        function. The first call of such sizes measures them on copies of its arguments. The same as `options.safe`.
    target : a device that runs the loops, `opencl` or `cuda`; a call copies what is live there and back, and raises
        `DeviceError` where the device or its driver fails. The same as `options.device`.

    Raises
    ------
    UsageError : there is no such instruction or device.
    """
    if intrinsics == NONE:
        options = replace(options or PipelineOptions(), tensorize=None)
    elif intrinsics is not None:
        wanted = TensorizeOptions(intrinsic=intrinsics)
        wanted.considered()
        options = replace(options or PipelineOptions(), tensorize=wanted)
    if safe:
        options = replace(options or PipelineOptions(), safe=True)
    if target is not None:
        options = replace(options or PipelineOptions(), device=target)
    if function is None:
        return lambda function: Kernel(function, options=options, fallback=fallback)
    return Kernel(function, options=options, fallback=fallback)


class _CallablePackage(ModuleType):
    """Calling the package is calling the decorator (Python data model, "Customizing module attribute access")."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return kernel(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage
