"""The functions and methods that a kernel may call: Python's numbers, `math`, NumPy.

One table per kind, keyed by the function object itself, so an alias or a star import means the same.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from polysched.records import dataclass
from polysched.scop.construction import functions, values
from polysched.scop.construction.promotion import from_numpy, to_numpy
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import FLOAT16, FLOAT32, FLOAT64
from polysched.scop.python_frontend import reducing
from polysched.scop.python_frontend.creation import ArrayCreation
from polysched.scop.python_frontend.elementwise import ELEMENTWISE, SCALAR
from polysched.scop.python_frontend.operands import (
    ONE,
    ZERO,
    ArrayValue,
    Operand,
    PythonObject,
    TupleValue,
    View,
    lifted,
)


@dataclass(frozen=True, eq=False)
class BoundMethod:
    """A method of an array: `A.sum`."""

    operand: View | ArrayValue | Value
    name: str

    def __call__(self) -> None:
        """Callable, so that it is taken for a function; its meaning is in `Calls`."""


def array_attribute(array: View | ArrayValue, name: str) -> Operand:
    """An attribute of an array.

    Raises
    ------
    CannotExpress : one that a kernel cannot use.
    """
    if name == "shape":
        return TupleValue(array.shape)
    if name == "ndim":
        return values.number(len(array.shape))
    if name == "size":
        size = ONE
        for extent in array.shape:
            size = values.arithmetic("*", size, extent)
        return size
    if name == "dtype":
        return PythonObject(array.dtype)
    if name == "T":
        return transposed(array, tuple(reversed(range(len(array.shape)))))
    if name in METHODS:
        return PythonObject(BoundMethod(array, name))
    raise CannotExpress(f"the attribute {name} of an array has no meaning in a kernel")


def transposed(array: View | ArrayValue, order: tuple[int, ...]) -> View | ArrayValue:
    """The array with its dimensions in another order."""
    if sorted(order) != list(range(len(array.shape))):
        raise CannotExpress(f"{order} is no order of the {len(array.shape)} dimensions of the array")
    shape = tuple(array.shape[d] for d in order)
    if isinstance(array, View):
        subscripts = tuple(s if s.dimension is None else replace(s, dimension=order.index(s.dimension))
                           for s in array.subscripts)
        return replace(array, subscripts=subscripts, shape=shape)
    element = array.element
    return ArrayValue(shape, array.dtype, lambda i: element(tuple(i[order.index(d)] for d in range(len(order)))),
                      array.sources)


REDUCTIONS: dict[Any, str] = {
    np.sum: "sum", np.prod: "prod", np.max: "max", np.amax: "max", np.min: "min", np.amin: "min",
    np.argmax: "argmax", np.argmin: "argmin", np.mean: "mean", np.var: "var", np.std: "std",
}
OF_PYTHON = (builtins.abs, builtins.pow)
"""Elementwise functions whose result of Python numbers is one; NumPy's is a NumPy number."""
METHODS = frozenset({"sum", "prod", "max", "min", "argmax", "argmin", "mean", "var", "std", "dot", "astype", "copy",
                     "transpose"})


class Calls(ArrayCreation):
    """The meaning of calls; temporaries that they need are made through the Emission."""

    def call(self, function: Any, arguments: Sequence[Operand], keywords: Mapping[str, Operand]) -> Operand:
        """The result of a call.

        Raises
        ------
        CannotExpress : a function that has no meaning in a kernel, or arguments that it does not take.
        """
        if isinstance(function, BoundMethod):
            return self._method(function, arguments, keywords)
        special = self._special(function)
        if special is not None:
            return _checked(special, arguments, keywords)
        if _is_element_type(function):
            dtype = from_numpy(np.dtype(function))
            if dtype is not None and len(arguments) == 1 and not keywords:
                return self._lift(lambda v: values.cast(v, dtype), arguments)
        try:
            elementwise, scalar, reduction = ELEMENTWISE.get(function), SCALAR.get(function), REDUCTIONS.get(function)
        except TypeError:
            elementwise = scalar = reduction = None
        if reduction is not None:
            return _checked(partial(self.reduce, reduction), arguments, keywords)
        if elementwise is not None and not keywords:
            return self._elementwise(elementwise, arguments, of_python=function in OF_PYTHON)
        if scalar is not None and not keywords:
            operands = [self.computable(a) for a in arguments]
            if any(isinstance(o, ArrayValue) for o in operands):
                raise CannotExpress(f"{function.__name__} of an array", "use NumPy's function")
            return _checked(scalar, operands, {})
        name = getattr(function, "__name__", str(function))
        raise CannotExpress(f"the function {name} has no meaning in a kernel" if not keywords else
                            f"{name} with {', '.join(keywords)} has no meaning in a kernel",
                            "math and NumPy's elementwise functions, sums, products and einsum have")

    def _special(self, function: Any) -> Callable[..., Operand] | None:
        table: list[tuple[Any, Callable[..., Operand]]] = [
            (builtins.min, lambda *a: self._extremum("min", a)), (builtins.max, lambda *a: self._extremum("max", a)),
            (builtins.len, self._len), (np.dot, self.dot), (np.matmul, self._matmul), (np.einsum, self._einsum),
            (np.outer, self._outer), (np.transpose, self._transpose), (np.zeros, self._zeros), (np.ones, self._ones),
            (np.empty, self._empty), (np.full, self._full), (np.zeros_like, self._zeros_like),
            (np.ones_like, self._ones_like), (np.empty_like, self._empty_like), (np.full_like, self._full_like),
            (np.copy, self._copy), (np.arange, self._arange), (np.tril, self._tril), (np.triu, self._triu),
            (np.eye, self._eye), (np.identity, self._eye), (np.result_type, self._result_type)]
        return next((meaning for known, meaning in table if known is function), None)

    def _elementwise(self, function: Callable[..., Value], arguments: Sequence[Operand], *, of_python: bool) -> Operand:
        made = _checked(lambda *a: self._lift(function, a), arguments, {}, like=function)
        return made if of_python else as_numpys(made)

    def _lift(self, function: Callable[..., Value], arguments: Sequence[Operand]) -> Operand:
        return lifted(self.region, function, [self.computable(a) for a in arguments])

    def numpy_number(self, value: np.generic) -> Value:
        """A NumPy scalar from outside the function."""
        dtype = from_numpy(value.dtype)
        if dtype is None:
            raise CannotExpress(f"a number of type {value.dtype}")
        return values.cast(values.number(value.item()), dtype)

    def product(self, left: Operand, right: Operand) -> Operand:
        """`left @ right`."""
        return reducing.matrix_product(self.region, self.array(left, often=True), self.array(right, often=True))

    def dot(self, left: Operand, right: Operand) -> Operand:
        """`numpy.dot`: of scalars a product; of at most two dimensions the matrix product."""
        a, b = self.array(left, often=True), self.array(right, often=True)
        if not a.shape or not b.shape:
            return as_numpys(self._lift(ELEMENTWISE[np.multiply], [left, right]))
        if len(a.shape) > 2 or len(b.shape) > 2:
            raise CannotExpress("numpy.dot of more than two dimensions", "use @ or einsum")
        return reducing.matrix_product(self.region, a, b)

    def _matmul(self, left: Operand, right: Operand, *, dtype: Operand | None = None) -> Operand:
        """`numpy.matmul`, computed in another type on request."""
        return self.product(*self._in_type([left, right], dtype))

    def _in_type(self, operands: Sequence[Operand], dtype: Operand | None) -> list[Operand]:
        """Operands converted ahead of all arithmetic, where every value of theirs is one of the type."""
        if dtype is None or _is_none(dtype):
            return list(operands)
        wanted, made = self.dtype(dtype), []
        for operand in operands:
            own = self.array(operand).dtype
            if not np.can_cast(to_numpy(own), to_numpy(wanted), "safe"):
                raise CannotExpress(f"arithmetic in {wanted} of elements of {own}", "convert them with astype")
            made.append(self._lift(lambda v: values.cast(v, wanted), [operand]))
        return made

    def _einsum(self, subscripts: Operand, *operands: Operand, dtype: Operand | None = None) -> Operand:
        if not isinstance(subscripts, PythonObject) or not isinstance(subscripts.value, str):
            raise CannotExpress("the subscripts of einsum are not a literal text")
        operands = tuple(self._in_type(operands, dtype))
        arrays = [self.array(o, often=len(operands) > 1) for o in operands]
        return reducing.einsum(self.region, subscripts.value, arrays)

    def _outer(self, left: Operand, right: Operand) -> Operand:
        a, b = self.array(left), self.array(right)
        if len(a.shape) != 1 or len(b.shape) != 1:
            raise CannotExpress("numpy.outer of anything but vectors")
        dtype = values.arithmetic("*", a.element((ZERO,)), b.element((ZERO,))).dtype
        return ArrayValue((*a.shape, *b.shape), dtype,
                          lambda i: values.arithmetic("*", a.element(i[:1]), b.element(i[1:])), a.sources | b.sources)

    def _transpose(self, operand: Operand, axes: Operand | None = None) -> Operand:
        array = operand if isinstance(operand, (View, ArrayValue)) else self.array(operand)
        order = tuple(reversed(range(len(array.shape)))) if axes is None else self._axes(axes)
        return transposed(array, tuple(d % len(array.shape) for d in order))

    def reduce(self, kind: str, operand: Operand, axis: Operand | None = None, dtype: Operand | None = None, *,
               keepdims: Operand | None = None, ddof: Operand | None = None) -> Operand:
        """A reduction of NumPy, with its axis, keepdims and dtype."""
        array = self.array(operand)
        axes = None if axis is None or _is_none(axis) else self._axes(axis)
        keep = keepdims is not None and bool(self._literal(keepdims))
        wanted = None if dtype is None else self.dtype(dtype)
        if kind in ("mean", "var", "std"):
            return self._moment(kind, array, axes, keep, 0 if ddof is None else self._literal(ddof))
        if wanted is None and array.dtype == FLOAT16 and kind in ("sum", "prod"):
            wide = reducing.reduction(self.region, kind, array, axes=axes, keepdims=keep, dtype=FLOAT32)
            return self._lift(lambda v: values.cast(v, FLOAT16), [wide])
        return reducing.reduction(self.region, kind, array, axes=axes, keepdims=keep, dtype=wanted)

    def _moment(self, kind: str, array: ArrayValue, axes: tuple[int, ...] | None, keep: bool,
                ddof: int | float) -> Operand:
        """Mean, variance (two passes) and standard deviation, as NumPy computes them."""
        dtype = array.dtype if array.dtype.is_float else FLOAT64
        inner = FLOAT32 if dtype == FLOAT16 else dtype
        rank = len(array.shape)
        chosen = tuple(range(rank)) if axes is None else tuple(a % rank for a in axes)
        count = ONE
        for a in chosen:
            count = values.arithmetic("*", count, array.shape[a])

        def mean_of(value: ArrayValue, keepdims: bool, less: int | float) -> Operand:
            total = reducing.reduction(self.region, "sum", value, axes=axes, keepdims=keepdims, dtype=inner)
            divisor = values.cast(values.arithmetic("-", count, values.number(less)), inner)
            return self._lift(lambda v: values.divide(v, divisor), [total])

        if kind == "mean":
            return self._lift(lambda v: values.cast(v, dtype), [mean_of(array, keep, 0)])
        centre = mean_of(array, True, 0)
        centre = self.emission.materialised(centre, "mean") if isinstance(centre, ArrayValue) else centre

        def deviation(x: Value, m: Value) -> Value:
            difference = values.arithmetic("-", values.cast(x, inner), m)
            return values.arithmetic("*", difference, difference)
        variance = mean_of(self.array(self._lift(deviation, [array, centre])), keep, ddof)
        root = (lambda v: functions.call("sqrt", (v,))) if kind == "std" else (lambda v: v)
        return self._lift(lambda v: values.cast(root(v), dtype), [variance])

    def _method(self, method: BoundMethod, arguments: Sequence[Operand], keywords: Mapping[str, Operand]) -> Operand:
        operand = method.operand
        if method.name == "astype":
            dtype = _checked(self.dtype, arguments, keywords)
            return self._lift(lambda v: values.cast(v, dtype), [operand])
        if method.name == "copy":
            return _checked(self._copy, [operand, *arguments], keywords)
        if method.name == "dot":
            return _checked(self.dot, [operand, *arguments], keywords)
        if method.name == "transpose":
            axes = TupleValue(tuple(arguments)) if len(arguments) > 1 else arguments[0] if arguments else None
            return self._transpose(operand, axes)
        return _checked(partial(self.reduce, method.name), [operand, *arguments], keywords)

    def _extremum(self, kind: str, arguments: Sequence[Operand]) -> Operand:
        operands = [self.computable(a) for a in arguments]
        if len(operands) < 2 or not all(isinstance(o, Value) for o in operands):
            raise CannotExpress(f"{kind} of anything but two or more numbers", f"use numpy.{kind} for an array")
        result = operands[0]
        for operand in operands[1:]:
            assert isinstance(result, Value)
            assert isinstance(operand, Value)
            result = values.extremum(kind, result, operand)
        return result

    def _len(self, operand: Operand) -> Operand:
        if isinstance(operand, TupleValue):
            return values.number(len(operand.items))
        array = self.array(operand)
        if not array.shape:
            raise CannotExpress("len of a number")
        return array.shape[0]

    def _axes(self, operand: Operand) -> tuple[int, ...]:
        items = operand.items if isinstance(operand, TupleValue) else (operand,)
        axes = []
        for item in items:
            axis = values.constant_of(item) if isinstance(item, Value) else None
            if not isinstance(axis, int):
                raise CannotExpress("an axis is a constant")
            axes.append(axis)
        return tuple(axes)

    def _literal(self, operand: Operand) -> int | float:
        literal = values.constant_of(operand) if isinstance(operand, Value) else None
        if literal is None:
            raise CannotExpress("this option is a constant")
        return literal


Result = TypeVar("Result")


def _checked(function: Callable[..., Result], arguments: Sequence[Operand], keywords: Mapping[str, Operand], *,
             like: Callable[..., Any] | None = None) -> Result:
    """Call a function after checking that it takes these arguments."""
    try:
        inspect.signature(like or function).bind(*arguments, **keywords)
    except TypeError as error:
        raise CannotExpress(f"the function is not understood with these arguments: {error}") from None
    return function(*arguments, **keywords)


def as_numpys(operand: Operand) -> Operand:
    """A number as NumPy's functions return it: it keeps its type where it meets others (NEP 50)."""
    return replace(operand, weak=False) if isinstance(operand, Value) and operand.weak else operand


def _is_none(operand: Operand) -> bool:
    return isinstance(operand, PythonObject) and operand.value is None


def _is_element_type(function: Any) -> bool:
    return isinstance(function, type) and issubclass(function, np.generic)
