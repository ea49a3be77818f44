"""Numbers and arrays as compiled code takes them: by value where `ctypes` has the type, else by address."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.c_arithmetic import bfloat16_bits, bfloat16_value, convert
from polysched.scop.construction.promotion import to_numpy
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT32, FLOAT64, DType, Kind
from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Array, Scop, Storage

addressof = ctypes.addressof
whole: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


def passed_by_value(array: Array) -> bool:
    """Whether an argument is a number, not a pointer to one; the same rule as the emitted function's."""
    return array.is_scalar and not array.c_element.startswith("(*")


@dataclass(frozen=True, eq=False, kw_only=True)
class Taken:
    """An array or number as compiled code takes it.

    Parameters
    ----------
    argument : the one that is passed for it; None for an array that is made.
    by_value : a number that is passed itself.
    written : the code writes it.
    """

    array: Array
    argument: str | None
    by_value: bool
    written: bool


def by_address(scop: Scop) -> Scop:
    """The program with the address passed for every number of a type that `ctypes` does not have or rounds.

    These are floating-point numbers of 16 bits and long double.
    """
    return replace(scop, arrays=tuple(
        replace(a, c_element=f"(*{a.name})") if a.storage is Storage.ARGUMENT and passed_by_value(a)
        and a.dtype.is_float and a.dtype not in (FLOAT32, FLOAT64) else a for a in scop.arrays))


def buffer(array: np.ndarray) -> np.ndarray:
    """The array itself when compiled code can run on it, else a contiguous copy."""
    return array if array.flags.c_contiguous and array.flags.aligned else np.require(array, requirements=("C", "A"))


def address_of(array: np.ndarray) -> int:
    """Where an array's elements begin; the shortest way for one that can be written, several times as fast."""
    try:
        return addressof(whole(array))
    except (BufferError, TypeError, ValueError):   # read-only, no elements, not contiguous, or a type without a format
        return int(array.__array_interface__["data"][0])


def memory_of(value: Any, array: Array) -> np.ndarray:
    """What is passed by address: an array, contiguous, or memory that holds a number of the array's type."""
    return buffer(value) if isinstance(value, np.ndarray) else number_memory(value, array.dtype)


def number_memory(value: Any, dtype: DType) -> np.ndarray:
    """Memory that holds a number of a type; of bfloat16 its bits."""
    if dtype == BFLOAT16:
        return np.array(bfloat16_bits(float(convert(float(value), dtype))), np.uint16)
    return np.array(value, to_numpy(dtype))


def number_in(memory: np.ndarray, dtype: DType) -> Any:
    """The number that `number_memory` holds, a Python number where Python has one that is exact."""
    return bfloat16_value(int(memory[()])) if dtype == BFLOAT16 else memory.item()


def element_type(name: str, dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of an array's elements; of bfloat16 that of `ml_dtypes`, once that is imported.

    Raises
    ------
    UsageError : it is bfloat16, and nothing has given it to NumPy; `name` is the array.
    """
    if dtype != BFLOAT16:
        return to_numpy(dtype)
    try:
        return np.dtype(dtype.name)
    except TypeError:
        raise UsageError(f"{name} has elements of type bfloat16, which NumPy does not have",
                         hint="import ml_dtypes") from None


def empty_result(array: Array, sizes: Mapping[str, int]) -> np.ndarray:
    """A new array for a returned value.

    Raises
    ------
    UsageError : NumPy does not have its element type.
    """
    return np.empty(tuple(e or 0 for e in extents_of(array, sizes)), element_type(array.name, array.dtype))


def number_for(value: Any, dtype: DType) -> int | float:
    """A number as ctypes takes it for a C type."""
    return float(value) if dtype.is_float else int(value)


def c_type(dtype: DType) -> Any:
    """The ctypes type of a number passed by value; `by_address` leaves no other types of floating-point numbers."""
    if dtype.is_float:
        return ctypes.c_float if dtype.bits == 32 else ctypes.c_double
    if dtype == BOOL:
        return ctypes.c_bool
    signed = {8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32, 64: ctypes.c_int64}
    unsigned = {8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: ctypes.c_uint32, 64: ctypes.c_uint64}
    return (unsigned if dtype.kind is Kind.UNSIGNED else signed)[dtype.bits]
