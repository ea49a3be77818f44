"""The types of a function's arguments: from annotations, or from the arguments of a call.

Annotations: `float`, `int`, `bool`, `numpy.float32` and the like for scalars; for arrays a text with the element
type and the extents, `"float64[M, N]"`, where an extent is a name, a number, or an affine expression of names;
`"float64[:, :]"` leaves the extents to names of their own.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.construction.promotion import from_numpy
from polysched.scop.dtypes import BOOL, BY_NAME, FLOAT64, INT64, DType
from polysched.scop.python_frontend.source import FunctionSource

PYTHON_SCALARS: dict[str, DType] = {"float": FLOAT64, "int": INT64, "bool": BOOL}
OPERATIONS = ("__array_ufunc__", "__add__", "__mul__")
"""What a subclass of NumPy's array replaces where its arithmetic has another meaning."""


@dataclass(frozen=True)
class ArrayType:
    """An array argument.

    Parameters
    ----------
    dtype : the type of an element.
    extents : per dimension a number, the text of an affine expression of sizes, or None for a size of its own.
    """

    dtype: DType
    extents: tuple[int | str | None, ...]


@dataclass(frozen=True)
class ScalarType:
    """A scalar argument, passed by value; an integer one is a parameter of the Scop.

    Parameters
    ----------
    weak : a Python number, which takes the type of the NumPy values that it meets.
    """

    dtype: DType
    weak: bool


ArgumentType: TypeAlias = ArrayType | ScalarType


def argument_types(source: FunctionSource, arguments: Mapping[str, Any] | None) -> dict[str, ArgumentType]:
    """The type of every parameter of a function, from its annotation or else from the argument.

    Raises
    ------
    UnsupportedScopError : a parameter that is not an array or a number, or with neither annotation nor argument.
    """
    types: dict[str, ArgumentType] = {}
    arguments_node = source.tree.args
    if arguments_node.vararg or arguments_node.kwarg:
        node = arguments_node.vararg or arguments_node.kwarg
        assert node is not None
        source.refuse(node, "a variable number of arguments", hint="name every argument")
    for node in [*arguments_node.posonlyargs, *arguments_node.args, *arguments_node.kwonlyargs]:
        annotated = annotated_type(source, node)
        given = None
        if arguments is not None and node.arg in arguments:
            given = value_type(arguments[node.arg])
            if given is None:
                source.refuse(node, f"the argument {node.arg} is {_described(arguments[node.arg])}",
                              hint="pass NumPy arrays of numbers in native byte order, and numbers")
        found = annotated or given
        if found is None:
            source.refuse(node, f"the type of {node.arg} is unknown",
                          hint='annotate it, for instance "float64[M, N]" or float, or give example arguments')
        types[node.arg] = found
    return types


def computes_as_numpy(value: np.ndarray) -> bool:
    """Whether arithmetic on an array is NumPy's: not that of a masked array, a matrix, or an array with units."""
    return all(getattr(type(value), name) is getattr(np.ndarray, name) for name in OPERATIONS)


def _described(value: Any) -> str:
    """What an argument is that cannot be used: its class, and of an array its element type."""
    if isinstance(value, np.ndarray) and computes_as_numpy(value):
        order = "" if value.dtype.isnative else " in foreign byte order"
        return f"an array of {value.dtype.name}{order}"
    return f"a {type(value).__name__}"


def value_type(value: Any) -> ArgumentType | None:
    """The type of an argument; an extent of 1 is kept as a number, because it broadcasts."""
    if isinstance(value, np.ndarray):
        dtype = from_numpy(value.dtype) if computes_as_numpy(value) else None
        return None if dtype is None else ArrayType(dtype, tuple(1 if n == 1 else None for n in value.shape))
    if isinstance(value, np.generic):
        dtype = from_numpy(value.dtype)
        return None if dtype is None else ScalarType(dtype, False)
    dtype = PYTHON_SCALARS.get(type(value).__name__)
    return ScalarType(dtype, True) if isinstance(value, (bool, int, float)) and dtype is not None else None


def annotated_type(source: FunctionSource, node: ast.arg) -> ArgumentType | None:
    """The type that an annotation gives; None where there is none, or one that says nothing of elements."""
    annotation = node.annotation
    if annotation is None:
        return None
    text = ast.unparse(annotation)
    while True:
        try:
            parsed = ast.parse(text, mode="eval").body
        except SyntaxError:
            source.refuse(annotation, "the annotation does not parse", hint='for instance "float64[M, N]"')
        if not (isinstance(parsed, ast.Constant) and isinstance(parsed.value, str)):
            break
        text = parsed.value
    if isinstance(parsed, ast.Subscript) and (dtype := _named_dtype(parsed.value)) is not None:
        return ArrayType(dtype, _extents(source, annotation, parsed.slice))
    if isinstance(parsed, ast.Name) and parsed.id in PYTHON_SCALARS:
        return ScalarType(PYTHON_SCALARS[parsed.id], True)
    dtype = _named_dtype(parsed)
    return None if dtype is None else ScalarType(dtype, False)


def _named_dtype(node: ast.expr) -> DType | None:
    """The element type behind `float32` or `np.float32`."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return BY_NAME.get(name)


def _extents(source: FunctionSource, annotation: ast.expr, index: ast.expr) -> tuple[int | str | None, ...]:
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    extents: list[int | str | None] = []
    for item in items:
        if isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None:
            extents.append(None)
        elif isinstance(item, ast.Constant) and isinstance(item.value, int):
            extents.append(item.value)
        elif isinstance(item, (ast.Name, ast.BinOp)):
            extents.append(ast.unparse(item))
        else:
            source.refuse(annotation, f"`{ast.unparse(item)}` is no extent",
                          hint="an extent is a number, a name, or an affine expression of names")
    return tuple(extents)


def bound_arguments(source: FunctionSource, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, defaults filled in.

    Raises
    ------
    UsageError : they do not fit the function.
    """
    try:
        bound = inspect.signature(source.function).bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(f"{source.tree.name}: {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def extent_names(source: FunctionSource, types: Mapping[str, ArgumentType]) -> dict[tuple[str, int], str]:
    """Names for extents, as the function's own unpacking of shapes calls them: `M, N = C.shape`."""
    assigned = [n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    names: dict[tuple[str, int], str] = {}
    used: set[str] = set()

    def give(array: str, dimension: int, target: ast.expr) -> None:
        known = types.get(array)
        if not isinstance(target, ast.Name) or not isinstance(known, ArrayType) or array in assigned:
            return
        if (0 <= dimension < len(known.extents) and known.extents[dimension] is None
                and assigned.count(target.id) == 1 and target.id not in used and (array, dimension) not in names):
            names[array, dimension] = target.id
            used.add(target.id)

    for node in source.tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        pairs = _parallel(node.targets[0], node.value)
        for target, value in pairs:
            match value:
                case ast.Attribute(value=ast.Name(id=array), attr="shape") if isinstance(target, ast.Tuple):
                    for dimension, element in enumerate(target.elts):
                        give(array, dimension, element)
                case ast.Subscript(value=ast.Attribute(value=ast.Name(id=array), attr="shape"),
                                   slice=ast.Constant(value=int(dimension))):
                    give(array, dimension, target)
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)]):
                    give(array, 0, target)
                case _:
                    pass
    return names


def _parallel(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]
