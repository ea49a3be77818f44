"""Checks of single arguments of a call, before anything runs: types, memory, and what overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polysched.errors import UnsupportedScopError, UsageError
from polysched.kernel.arguments import is_scalar_of, overlaps_itself, share_elements
from polysched.scop.construction.promotion import from_numpy
from polysched.scop.dtypes import DType
from polysched.scop.python_frontend.signature import ScalarType


class SharedMemoryError(UnsupportedScopError):
    """Two arguments share some of their elements, and the kernel writes one of them."""


def described(value: Any) -> str:
    """What an argument is, for a message."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name} with the shape {value.shape}"
    return f"the number {value!r}" if isinstance(value, (int, float, np.generic)) else f"a {type(value).__name__}"


def check_number(function: str, argument: str, dtype: DType, value: Any) -> None:
    """Refuse what is no number of a type.

    Raises
    ------
    UsageError : with the argument, what is expected and what was given.
    """
    if not is_scalar_of(ScalarType(dtype, False), value):
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
    if not isinstance(value, np.ndarray) or from_numpy(value.dtype) != dtype or (
            rank is not None and value.ndim != rank):
        raise UsageError(f"{function}: {argument} has to be {wanted}, it is {described(value)}",
                         hint="convert it with .astype" if isinstance(value, np.ndarray) else None)
    if written and not value.flags.writeable:
        raise UsageError(f"{function}: {argument} is written, but the array is read-only",
                         hint="pass a copy, or set array.flags.writeable")
    if written and overlaps_itself(value):
        raise UsageError(f"{function}: {argument} is written, but its elements overlap each other",
                         witness=f"shape {value.shape}, strides {value.strides}", hint="pass a copy")


def check_apart(function: str, arrays: Mapping[str, np.ndarray], written: frozenset[str]) -> None:
    """Refuse arrays that share elements where one of them is written.

    Raises
    ------
    SharedMemoryError : with the two arguments.
    """
    names = list(arrays)
    for position, name in enumerate(names):
        for other in names[:position]:
            if not {name, other}.isdisjoint(written) and np.may_share_memory(arrays[name], arrays[other]) \
                    and share_elements(arrays[name], arrays[other]):
                raise SharedMemoryError(f"{function}: {other} and {name} overlap, and one of them is written",
                                        hint="pass a copy of one of them")
