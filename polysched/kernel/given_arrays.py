"""Array arguments of any library: objects in the CPU's memory become NumPy arrays on the same memory by DLPack.

Those in a GPU's memory become `CudaArray`s, where the kernel runs there.
Source: the Python array API standard 2024.12, `__dlpack__` and `__dlpack_device__`; DLPack's `DLDeviceType`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polysched.emit_gpu.interface import CUDA as CUDA_TARGET
from polysched.errors import UsageError
from polysched.kernel.cuda_arrays import CUDA, cuda_array, has_cuda_interface

CPU = 1
"""DLPack's `kDLCPU`."""


TO_THE_CPU = "move it to the CPU first"


def as_numpy(function: str, values: Mapping[str, Any], device: str | None = None, *,
             otherwise: str = f"or give the kernel the target {CUDA_TARGET.name}") -> dict[str, Any]:
    """Arguments by name, arrays of other libraries as NumPy arrays on the same memory.

    Parameters
    ----------
    device : that runs the function; one of CUDA takes arrays in a GPU's memory as they are.
    otherwise : what else a caller with such an array may do, or why nothing.

    Raises
    ------
    UsageError : the function cannot take an array where it is, or its library does not export it; the message names it.
    """
    return {name: value if type(value) is np.ndarray else _numpy(function, name, value, device, otherwise)
            for name, value in values.items()}


def _numpy(function: str, argument: str, value: Any, target: str | None, otherwise: str) -> Any:
    if isinstance(value, np.ndarray):
        return value
    by_dlpack = hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")
    if not (by_dlpack or has_cuda_interface(value)):
        return value
    what = f"{function}: {argument} is a {type(value).__module__.partition('.')[0]} {type(value).__name__}"
    try:
        device = int(value.__dlpack_device__()[0]) if by_dlpack else CUDA
    except (BufferError, RuntimeError, TypeError, ValueError) as error:   # torch's tensors without data
        raise UsageError(f"{what} that is on no device of DLPack", witness=str(error).partition("\n")[0],
                         hint=TO_THE_CPU) from None
    if _is_negated(value):
        raise UsageError(f"{what} whose memory holds the negatives of its elements", hint="call its resolve_neg()")
    if device == CUDA and target == CUDA_TARGET.name:
        return cuda_array(what, value)
    if device != CPU:
        hint = f"{TO_THE_CPU}, {otherwise}" if device == CUDA else TO_THE_CPU
        raise UsageError(f"{what} on the DLPack device {device}, the kernel takes arrays in the CPU's memory ({CPU})",
                         hint=hint)
    try:
        array = np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"{what} that NumPy cannot take by DLPack, the kernel takes arrays that it can",
                         witness=str(error).partition("\n")[0],
                         hint="detach it, or convert it to an element type of NumPy") from None
    return array if array.flags.writeable else _writable(value, array)


def _is_negated(value: Any) -> bool:
    """Whether a tensor of torch has its negative bit set, which torch 2 exports by DLPack as if it had not.

    Source: torch.Tensor.is_neg, resolve_neg; the imaginary part of a conjugate is such a view.
    """
    is_neg = getattr(value, "is_neg", None)
    return callable(is_neg) and is_neg() is True


def _writable(value: Any, array: np.ndarray) -> np.ndarray:
    """The same memory for writing where the library allows it: DLPack before 1.0 cannot say whether it does."""
    if not hasattr(value, "__array__"):
        return array
    other = np.asarray(value)
    same = (other.__array_interface__["data"][0] == array.__array_interface__["data"][0]
            and (other.shape, other.strides, other.dtype) == (array.shape, array.strides, array.dtype))
    return other if same else array
