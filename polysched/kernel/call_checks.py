"""Checks of single arguments of a call, before anything runs: types, memory, and what overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.construction.promotion import from_numpy, to_numpy
from polysched.scop.dtypes import BFLOAT16, DType, part_of


class SharedMemoryError(UnsupportedScopError):
    """Two arguments share some of their elements, and the kernel writes one of them."""


def described(value: Any) -> str:
    """What an argument is, for a message."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name} with the shape {value.shape}"
    is_number = isinstance(value, (int, float, complex, np.generic))
    return f"the number {value!r}" if is_number else f"a {type(value).__name__}"


def is_number_of(dtype: DType, value: Any) -> bool:
    """Whether a number can be passed: exactly of its type, or a Python number that the type holds."""
    if isinstance(value, np.ndarray) and value.ndim:
        return False
    if dtype.is_complex:
        return isinstance(value, (complex, np.complexfloating)) or is_number_of(part_of(dtype), value)
    if isinstance(value, (bool, np.bool_)):
        return dtype.name == "bool"
    if isinstance(value, (int, np.integer)):
        least, largest = (-2**63, 2**63 - 1) if dtype.is_float else dtype.value_range()
        return dtype.name != "bool" and least <= int(value) <= largest
    return dtype.is_float and (isinstance(value, (float, np.floating)) or (
        isinstance(value, np.generic) and from_numpy(value.dtype) == BFLOAT16))


def check_number(function: str, argument: str, dtype: DType, value: Any) -> None:
    """Refuse what is no number of a type.

    Raises
    ------
    UsageError : with the argument, what is expected and what was given.
    """
    if not is_number_of(dtype, value):
        raise UsageError(f"{function}: {argument} has to be a number of type {dtype}, it is {described(value)}")


def check_array(function: str, argument: str, dtype: DType, rank: int | None, value: Any, *, written: bool) -> None:
    """Refuse what is no array of a type and rank, and one that cannot be written where it is.

    Parameters
    ----------
    rank : the number of dimensions; None where any will do.

    Raises
    ------
    UsageError : with the argument, what is expected and what was given.
    """
    wanted = f"an array of {dtype}" if rank is None else f"an array of {dtype} with {rank} dimensions"
    if isinstance(value, np.ndarray):
        check_byte_order(function, argument, value)
    if isinstance(value, np.ma.MaskedArray):
        raise UsageError(f"{function}: {argument} is a masked array, and compiled code sees no mask",
                         hint="pass its data, or what filled() gives")
    if not is_array_of(dtype, rank, value):
        raise UsageError(f"{function}: {argument} has to be {wanted}, it is {described(value)}",
                         hint="convert it with .astype" if isinstance(value, np.ndarray) else None)
    if written:
        check_written(function, argument, value)


def is_array_of(dtype: DType, rank: int | None, value: Any) -> bool:
    """Whether an argument is an array of a type and rank; of any rank when None."""
    return isinstance(value, np.ndarray) and _has_elements(value, dtype) and rank in (None, value.ndim)


def _has_elements(array: np.ndarray, dtype: DType) -> bool:
    return array.dtype == to_numpy(dtype) if dtype.is_complex else from_numpy(array.dtype) == dtype


def check_byte_order(function: str, argument: str, array: np.ndarray) -> None:
    """Refuse an array in the other byte order.

    Raises
    ------
    UsageError : with the argument.
    """
    if not array.dtype.isnative:
        raise UsageError(f"{function}: {argument} has elements in the other byte order ({array.dtype.str})",
                         hint="convert it: array.astype(array.dtype.newbyteorder('='))")


def check_written(function: str, argument: str, array: np.ndarray) -> None:
    """Refuse an array that cannot be written where it is.

    Raises
    ------
    UsageError : with the argument.
    """
    if not array.flags.writeable:
        raise UsageError(f"{function}: {argument} is written, but the array is read-only",
                         hint="pass a copy, or set array.flags.writeable")
    if overlaps_itself(array):
        raise UsageError(f"{function}: {argument} is written, but its elements overlap each other",
                         witness=f"shape {array.shape}, strides {array.strides}", hint="pass a copy")


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether two indices can reach the same byte; may say so of a layout in which they just interleave."""
    if array.size == 0:
        return False
    reach = array.itemsize
    for stride, extent in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False


def share_elements(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether two arrays have a byte in common; undecided after a bounded search counts as yes."""
    bounded: Any = np.shares_memory
    try:
        return bool(bounded(left, right, max_work=10_000))
    except np.exceptions.TooHardError:
        return True



def check_apart(function: str, arrays: Mapping[str, np.ndarray], written: frozenset[str], *,
                why: str = "is written", hint: str = "pass a copy of one of them") -> None:
    """Refuse arrays that share elements where one of them is written.

    Parameters
    ----------
    why : what the names in `written` have in common, in words.

    Raises
    ------
    SharedMemoryError : with the two arguments.
    """
    names = list(arrays)
    for position, name in enumerate(names):
        for other in names[:position]:
            if not {name, other}.isdisjoint(written) and np.may_share_memory(arrays[name], arrays[other]) \
                    and share_elements(arrays[name], arrays[other]):
                raise SharedMemoryError(f"{function}: {other} and {name} overlap, and one of them {why}", hint=hint)
