"""Array arguments of any library: objects in the CPU's memory become NumPy arrays on the same memory by DLPack.

Source: the Python array API standard 2024.12, `__dlpack__` and `__dlpack_device__`; DLPack's `DLDeviceType`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polysched.errors import UsageError

CPU = 1
"""DLPack's `kDLCPU`."""


def as_numpy(function: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, arrays of other libraries as NumPy arrays on the same memory.

    Raises
    ------
    UsageError : an array is not in the CPU's memory, or its library does not export it; the message names it.
    """
    return {name: _numpy(function, name, value) if _is_foreign(value) else value for name, value in values.items()}


def _is_foreign(value: Any) -> bool:
    return not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")


def _numpy(function: str, argument: str, value: Any) -> np.ndarray:
    what = f"{function}: {argument} is a {type(value).__module__.partition('.')[0]} {type(value).__name__}"
    device = int(value.__dlpack_device__()[0])
    if device != CPU:
        raise UsageError(f"{what} on the DLPack device {device}, the kernel takes arrays in the CPU's memory ({CPU})",
                         hint="move it to the CPU first")
    try:
        array = np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"{what} that NumPy cannot take by DLPack, the kernel takes arrays that it can",
                         witness=str(error).partition("\n")[0],
                         hint="detach it, or convert it to an element type of NumPy") from None
    return array if array.flags.writeable else _writable(value, array)


def _writable(value: Any, array: np.ndarray) -> np.ndarray:
    """The same memory for writing where the library allows it: DLPack before 1.0 cannot say whether it does."""
    if not hasattr(value, "__array__"):
        return array
    other = np.asarray(value)
    same = (other.__array_interface__["data"][0] == array.__array_interface__["data"][0]
            and (other.shape, other.strides, other.dtype) == (array.shape, array.strides, array.dtype))
    return other if same else array
