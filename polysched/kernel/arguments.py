"""Checks of a call's arguments against a kernel, before anything runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import islpy as isl
import numpy as np

from polysched.errors import UsageError
from polysched.scop.construction.promotion import from_numpy
from polysched.scop.dtypes import BFLOAT16
from polysched.scop.points import with_sizes
from polysched.scop.python_frontend import Argument, PythonScop
from polysched.scop.python_frontend.signature import ArgumentType, ArrayType, ScalarType


def check_types(name: str, types: Mapping[str, ArgumentType], values: Mapping[str, Any]) -> None:
    """Refuse arguments whose type, rank or byte order is not that of the kernel.

    Raises
    ------
    UsageError : the message names the argument, and both types.
    """
    for argument, kind in types.items():
        value = values[argument]
        if isinstance(kind, ArrayType):
            _check_array(name, argument, kind, value)
        elif not is_scalar_of(kind, value):
            raise UsageError(
                f"{name}: {argument} is {_described(value)}, the kernel takes a number of type {kind.dtype}")


def _check_array(name: str, argument: str, kind: ArrayType, value: Any) -> None:
    wanted = f"an array of {len(kind.extents)} dimensions of {kind.dtype}"
    if not isinstance(value, np.ndarray):
        raise UsageError(f"{name}: {argument} is {_described(value)}, the kernel takes {wanted}")
    if not value.dtype.isnative:
        raise UsageError(f"{name}: {argument} has elements in the other byte order ({value.dtype.str})",
                         hint="convert it: array.astype(array.dtype.newbyteorder('='))")
    if from_numpy(value.dtype) != kind.dtype or value.ndim != len(kind.extents):
        raise UsageError(f"{name}: {argument} is {_described(value)}, the kernel takes {wanted}",
                         hint="convert it with .astype, or change the annotation")


def is_scalar_of(kind: ScalarType, value: Any) -> bool:
    """Whether a number can be passed: exactly of its type, or a Python number that the type holds."""
    if isinstance(value, np.ndarray) and value.ndim:
        return False
    if isinstance(value, (bool, np.bool_)):
        return kind.dtype.name == "bool"
    if isinstance(value, (int, np.integer)):
        least, largest = (-2**63, 2**63 - 1) if kind.dtype.is_float else kind.dtype.value_range()
        return kind.dtype.name != "bool" and least <= int(value) <= largest
    return kind.dtype.is_float and (isinstance(value, (float, np.floating)) or (
        isinstance(value, np.generic) and from_numpy(value.dtype) == BFLOAT16))


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.ndim} dimensions of {value.dtype.name}"
    return f"a {type(value).__name__}"


def sizes_of_call(name: str, python: PythonScop, values: Mapping[str, Any]) -> dict[str, int]:
    """The Scop's parameters for these arguments.

    Raises
    ------
    UsageError : shapes that do not fit each other or the annotations.
    """
    sizes = python.sizes_of(values)
    for argument in python.arguments:
        if isinstance(argument.type, ArrayType):
            _check_extents(name, argument, values[argument.name].shape, sizes)
    return sizes


def _check_extents(name: str, argument: Argument, shape: tuple[int, ...], sizes: Mapping[str, int]) -> None:
    for dimension, (extent, size) in enumerate(zip(argument.extents, shape, strict=True)):
        if extent.text is None:
            continue
        wanted = _evaluated(ast.parse(extent.text, mode="eval").body, sizes)
        if wanted != size:
            said = extent.text if extent.text == str(wanted) else f"{extent.text} = {wanted}"
            raise UsageError(f"{name}: {argument.name} has the shape {shape}, its extent {dimension} has to be {said}")


def _evaluated(node: ast.expr, sizes: Mapping[str, int]) -> int:
    """The value of an extent's expression; `extract` has checked its form."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return sizes[name]
        case ast.BinOp():
            left, right = _evaluated(node.left, sizes), _evaluated(node.right, sizes)
            if isinstance(node.op, ast.Mult):
                return left * right
            return left + right if isinstance(node.op, ast.Add) else left - right
    raise AssertionError(f"not an extent: {ast.dump(node)}")


def contains(params: isl.Set, sizes: Mapping[str, int]) -> bool:
    """Whether a set of parameter values contains these; parameters that have no value may have any."""
    return not with_sizes(params, sizes).is_empty()


def check_sizes(name: str, python: PythonScop, sizes: Mapping[str, int]) -> bool:
    """Whether the compiled code is for these sizes; False for sizes that its context leaves out.

    Raises
    ------
    UsageError : the function would leave an array or combine shapes that do not fit; the witness says which.
    """
    if contains(python.scop.context, sizes):
        return True
    if not contains(python.valid, sizes):
        refuse_sizes(name, python, sizes)
    return False


def refuse_sizes(name: str, python: PythonScop, sizes: Mapping[str, int]) -> NoReturn:
    """Raise the `UsageError` for sizes that do not fit."""
    broken = [a.text for a in python.scop.assumptions if a.parameters is not None and not contains(a.parameters, sizes)]
    raise UsageError(f"{name}: the shapes do not fit", witness=", ".join(f"{k} = {v}" for k, v in sizes.items()),
                     hint=f"it has to hold that {' and that '.join(dict.fromkeys(broken))}" if broken else None)


def check_writable(name: str, python: PythonScop, values: Mapping[str, Any]) -> None:
    """Refuse read-only arrays, and arrays that overlap themselves, where the kernel writes.

    Raises
    ------
    UsageError : names the argument.
    """
    for argument in python.arguments:
        if not isinstance(argument.type, ArrayType) or python.scop.array(argument.target).constant:
            continue
        array = values[argument.name]
        if not array.flags.writeable:
            raise UsageError(f"{name}: {argument.name} is written, but the array is read-only",
                             hint="pass a copy, or set array.flags.writeable")
        if overlaps_itself(array):
            raise UsageError(f"{name}: {argument.name} is written, but its elements overlap each other",
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


@dataclass(frozen=True)
class Overlaps:
    """How the array arguments of a call share memory.

    Parameters
    ----------
    same : arguments that are exactly an earlier one, by name; one of the two is written.
    partial : two arguments of which one is written and that share some elements.
    """

    same: tuple[tuple[str, str], ...] = ()
    partial: tuple[str, str] | None = None


def overlaps(python: PythonScop, values: Mapping[str, Any]) -> Overlaps:
    """Which array arguments share memory in a way that matters."""
    arrays = [(a.name, values[a.name], not python.scop.array(a.target).constant) for a in python.arguments
              if isinstance(a.type, ArrayType)]
    same: list[tuple[str, str]] = []
    for position, (name, array, written) in enumerate(arrays):
        for other_name, other, other_written in arrays[:position]:
            if not (written or other_written) or not np.may_share_memory(array, other):
                continue
            if _identical(array, other):
                if all(name != n for n, _ in same):
                    same.append((name, other_name))
            elif share_elements(array, other):
                return Overlaps(tuple(same), (other_name, name))
    return Overlaps(tuple(same))


def _identical(left: np.ndarray, right: np.ndarray) -> bool:
    return (left.__array_interface__["data"][0] == right.__array_interface__["data"][0]
            and left.shape == right.shape and left.strides == right.strides and left.dtype == right.dtype)


def share_elements(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether two arrays have a byte in common; undecided after a bounded search counts as yes."""
    bounded: Any = np.shares_memory
    try:
        return bool(bounded(left, right, max_work=10_000))
    except np.exceptions.TooHardError:
        return True
