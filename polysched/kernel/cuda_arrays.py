"""Arrays in a GPU's memory as arguments: their shape, type and address, without their elements.

Sources: the CUDA Array Interface, version 3 (numba's documentation); DLPack 1.0, `dlpack.h`.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any, NoReturn

import numpy as np

from polysched.errors import UsageError

CUDA = 2
"""DLPack's `kDLCUDA`."""
LEGACY_STREAM = 1
"""The stream that waits for all others: CUDA's default."""
KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
"""DLPack's type codes as NumPy's; others have no type in NumPy."""


class CudaArray(np.ndarray):
    """An array in a GPU's memory: everything but its elements may be asked.

    It has an address of the GPU, so copies and subscripts are refused here.  Arithmetic would be as well, were it not
    that a front end takes arrays with arithmetic of their own for something else than NumPy's.
    """

    def __getitem__(self, index: Any) -> NoReturn:
        _refuse()

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        _refuse()

    def copy(self, *args: Any, **kwargs: Any) -> NoReturn:
        """No: elements are the GPU's."""
        _refuse()

    def __deepcopy__(self, memo: object) -> NoReturn:
        _refuse()

    def __repr__(self) -> str:
        return f"<{self.dtype} array of shape {self.shape} in a GPU's memory>"

    __str__ = __repr__


def _refuse() -> NoReturn:
    raise UsageError("the elements of an array in a GPU's memory cannot be used here", hint="copy it to the CPU first")


class _Exported:
    """What NumPy asks of an array, and what has to live as long as its memory is used."""

    def __init__(self, owner: object, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def has_cuda_interface(value: Any) -> bool:
    """Whether an object says, or refuses to say, where it lies in a GPU's memory."""
    try:
        return hasattr(value, "__cuda_array_interface__")
    except RuntimeError:   # torch, of a tensor that records operations
        return True


def cuda_array(what: str, value: Any) -> CudaArray:
    """An array of another library in a GPU's memory.

    Parameters
    ----------
    what : the argument, for messages.

    Raises
    ------
    UsageError : the library does not export it, its rows are apart from each other, or NumPy has not its type.
    """
    try:
        interface, owner = (dict(value.__cuda_array_interface__), value) if has_cuda_interface(value) else (
            _of_dlpack(what, value))
        if interface.get("mask") is not None:
            raise UsageError(f"{what} with a mask, and compiled code sees no mask", hint="pass its data")
        found = _array(interface, owner)
    except (AttributeError, BufferError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"{what} in a GPU's memory that its library does not export",
                         witness=str(error).partition("\n")[0], hint="detach it, or copy it") from None
    if not found.flags.c_contiguous:
        raise UsageError(f"{what} in a GPU's memory whose elements are apart from each other",
                         witness=f"shape {found.shape}, strides {found.strides}", hint="pass a contiguous copy")
    return found


def _array(interface: dict[str, Any], owner: object) -> CudaArray:
    """The array of an interface; one without elements has no address.

    Raises
    ------
    KeyError, TypeError, ValueError : a part is missing, or NumPy does not know it.
    """
    shape, kind, (address, read_only) = (interface[name] for name in ("shape", "typestr", "data"))
    if not prod(shape):
        return np.empty(shape, kind).view(CudaArray)
    strides = {} if interface.get("strides") is None else {"strides": interface["strides"]}
    told = {"shape": shape, "typestr": kind, "data": (int(address), bool(read_only)), "version": 3, **strides}
    return np.asarray(_Exported(owner, told)).view(CudaArray)


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    """DLPack's `DLTensor`."""

    _fields_ = (("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("type", _Type), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64))


def _of_dlpack(what: str, value: Any) -> tuple[dict[str, Any], object]:
    """The interface of an array that has DLPack alone, and the capsule that keeps its memory."""
    capsule = value.__dlpack__(stream=LEGACY_STREAM)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(get(capsule, b"dltensor"))
    if tensor.type.code not in KINDS or tensor.type.lanes != 1:
        raise UsageError(f"{what} with elements of a type that NumPy does not have",
                         witness=f"DLPack's type code {tensor.type.code}, {tensor.type.bits} bits")
    size = tensor.type.bits // 8
    interface = {"shape": tuple(tensor.shape[k] for k in range(tensor.rank)),
                 "typestr": f"<{KINDS[tensor.type.code]}{size}", "data": ((tensor.data or 0) + tensor.offset, False)}
    if tensor.strides:
        interface["strides"] = tuple(tensor.strides[k] * size for k in range(tensor.rank))
    return interface, capsule
