"""Checks of a call's arguments against a kernel, before anything runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NoReturn

import islpy as isl
import numpy as np

from polysched.errors import UsageError
from polysched.kernel.call_checks import (
    check_byte_order,
    check_written,
    is_array_of,
    is_number_of,
    share_elements,
)
from polysched.records import dataclass
from polysched.scop.points import with_sizes
from polysched.scop.python_frontend import Argument, PythonScop
from polysched.scop.python_frontend.signature import ArgumentType, ArrayType


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
        elif not is_number_of(kind.dtype, value):
            raise UsageError(
                f"{name}: {argument} is {_described(value)}, the kernel takes a number of type {kind.dtype}")


def _check_array(name: str, argument: str, kind: ArrayType, value: Any) -> None:
    wanted = f"an array of {len(kind.extents)} dimensions of {kind.dtype}"
    if not isinstance(value, np.ndarray):
        raise UsageError(f"{name}: {argument} is {_described(value)}, the kernel takes {wanted}")
    check_byte_order(name, argument, value)
    if not is_array_of(kind.dtype, len(kind.extents), value):
        raise UsageError(f"{name}: {argument} is {_described(value)}, the kernel takes {wanted}",
                         hint="convert it with .astype, or change the annotation")


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.ndim} dimensions of {value.dtype.name}"
    if isinstance(value, int):
        bits = value.bit_length()
        return str(value) if bits <= 128 else f"an integer of {bits} bits"
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
        check_written(name, argument.name, values[argument.name])


@dataclass(frozen=True)
class Overlaps:
    """How the array arguments of a call share memory.

    Parameters
    ----------
    same : arguments that are exactly an earlier one, by name; one of all that are this array is written.
    partial : two arguments of which one is written and that share some elements.
    """

    same: tuple[tuple[str, str], ...] = ()
    partial: tuple[str, str] | None = None


def overlaps(python: PythonScop, values: Mapping[str, Any]) -> Overlaps:
    """Which array arguments share memory in a way that matters."""
    arrays = [(a.name, values[a.name], not python.scop.array(a.target).constant) for a in python.arguments
              if isinstance(a.type, ArrayType)]
    first = _first_names({name: array for name, array, _ in arrays})
    written = {first[name] for name, _, is_written in arrays if is_written}
    same = tuple((name, first[name]) for name in first if name != first[name] and first[name] in written)
    for (name, array, _), (other_name, other, _) in combinations(arrays, 2):
        matters = first[name] != first[other_name] and not written.isdisjoint((first[name], first[other_name]))
        if matters and np.may_share_memory(array, other) and share_elements(array, other):
            return Overlaps(same, (name, other_name))
    return Overlaps(same)


def _first_names(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Each array's name, and that of the first array that is exactly this one."""
    return {name: next(n for n, other in arrays.items() if _identical(array, other)) for name, array in arrays.items()}


def _identical(left: np.ndarray, right: np.ndarray) -> bool:
    return (left.__array_interface__["data"][0] == right.__array_interface__["data"][0]
            and left.shape == right.shape and left.strides == right.strides and left.dtype == right.dtype)
