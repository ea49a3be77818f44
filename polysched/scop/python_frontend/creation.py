"""New arrays and array-valued functions of sizes: `zeros`, `full`, `arange`, `eye`, `tril`, copies."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from polysched.scop.construction import functions, values
from polysched.scop.construction.promotion import from_numpy, result_type
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BY_NAME, FLOAT64, INT64, DType
from polysched.scop.python_frontend.emission import Emission
from polysched.scop.python_frontend.operands import (
    ZERO,
    ArrayValue,
    Indices,
    Operand,
    Pending,
    PythonObject,
    TupleValue,
    View,
    elements_of,
    sources_of,
)


class ArrayCreation:
    """The meaning of NumPy's functions that make arrays; they are made through the Emission."""

    def __init__(self, emission: Emission) -> None:
        self.emission = emission
        self.region = emission.region

    def computable(self, operand: Operand) -> Value | ArrayValue:
        """An operand of an elementwise function."""
        if isinstance(operand, Pending):
            operand = self.emission.materialised(operand)
        if isinstance(operand, View):
            if not operand.shape:
                return self.region.load(operand.array, operand.at(()))
            return elements_of(self.region, operand)
        if isinstance(operand, (Value, ArrayValue)):
            return operand
        raise CannotExpress("a number or an array is needed here")

    def array(self, operand: Operand, *, often: bool = False) -> ArrayValue:
        """An array operand; one that is read often is computed once before."""
        if often and isinstance(operand, (ArrayValue, Pending)):
            operand = self.emission.materialised(operand)
        found = self.computable(operand)
        if isinstance(found, Value):
            return ArrayValue((), found.dtype, lambda indices: found, sources_of(self.region, found))
        return found

    def dtype(self, dtype: Operand) -> DType:
        """The element type that a dtype argument names."""
        if isinstance(dtype, PythonObject):
            if isinstance(dtype.value, DType):
                return dtype.value
            if isinstance(dtype.value, str) and dtype.value in BY_NAME:
                return BY_NAME[dtype.value]
            if isinstance(dtype.value, (type, np.dtype, str)):
                try:
                    found = from_numpy(np.dtype(dtype.value))
                except TypeError:
                    found = None
                if found is not None:
                    return found
        raise CannotExpress("this dtype has no meaning in a kernel")

    def _result_type(self, *operands: Operand) -> Operand:
        """`numpy.result_type`: the types of arrays first, then Python numbers."""
        types = []
        for operand in operands:
            if isinstance(operand, PythonObject):
                types.append((self.dtype(operand), False))
            else:
                found = self.computable(operand)
                types.append((found.dtype, isinstance(found, Value) and found.weak))
        if not types:
            raise CannotExpress("numpy.result_type of nothing")
        first, *others = sorted(types, key=lambda its: its[1])
        return PythonObject(reduce(lambda own, other: result_type(*own, *other), others, first)[0])

    def _shape(self, operand: Operand) -> Indices:
        items = operand.items if isinstance(operand, TupleValue) else (operand,)
        shape = []
        for item in items:
            if not isinstance(item, Value) or item.affine is None:
                raise CannotExpress("the shape of a new array is not affine",
                                    "sizes and Python integers make a shape; NumPy's narrow integers could wrap around")
            shape.append(item)
        return tuple(shape)

    def _new(self, shape: Indices, dtype: DType, fill: Value | None) -> View:
        view = self.emission.temporary(self.emission.stem, dtype, shape)
        if fill is not None:
            self.emission.store(view, fill)
        return view

    def _new_dtype(self, dtype: Operand | None) -> DType:
        return FLOAT64 if dtype is None else self.dtype(dtype)

    def _zeros(self, shape: Operand, dtype: Operand | None = None) -> Operand:
        return self._new(self._shape(shape), self._new_dtype(dtype), values.number(0))

    def _ones(self, shape: Operand, dtype: Operand | None = None) -> Operand:
        return self._new(self._shape(shape), self._new_dtype(dtype), values.number(1))

    def _empty(self, shape: Operand, dtype: Operand | None = None) -> Operand:
        return self._new(self._shape(shape), self._new_dtype(dtype), None)

    def _full(self, shape: Operand, fill: Operand, dtype: Operand | None = None) -> Operand:
        value = self.computable(fill)
        if not isinstance(value, Value):
            raise CannotExpress("numpy.full of an array", "assign it to an empty array")
        return self._new(self._shape(shape), value.dtype if dtype is None else self.dtype(dtype), value)

    def _like(self, operand: Operand, dtype: Operand | None, fill: Value | None) -> Operand:
        array = self.array(operand)
        return self._new(array.shape, array.dtype if dtype is None else self.dtype(dtype), fill)

    def _zeros_like(self, operand: Operand, dtype: Operand | None = None) -> Operand:
        return self._like(operand, dtype, values.number(0))

    def _ones_like(self, operand: Operand, dtype: Operand | None = None) -> Operand:
        return self._like(operand, dtype, values.number(1))

    def _empty_like(self, operand: Operand, dtype: Operand | None = None) -> Operand:
        return self._like(operand, dtype, None)

    def _full_like(self, operand: Operand, fill: Operand, dtype: Operand | None = None) -> Operand:
        value = self.computable(fill)
        if not isinstance(value, Value):
            raise CannotExpress("numpy.full_like with an array", "assign it to an empty array")
        return self._like(operand, dtype, value)

    def _copy(self, operand: Operand) -> Operand:
        array = self.array(operand)
        if not array.shape:
            return array.element(())
        target = self.emission.temporary(self.emission.stem, array.dtype, array.shape)
        self.emission.copy_into(target, array)
        return target

    def _arange(self, *bounds: Operand) -> Operand:
        numbers = [self.computable(b) for b in bounds]
        if not 1 <= len(numbers) <= 3 or not all(isinstance(n, Value) and n.affine is not None for n in numbers):
            raise CannotExpress("numpy.arange of anything but affine integers")
        given = [n for n in numbers if isinstance(n, Value)]
        start, stop = (ZERO, given[0]) if len(given) == 1 else (given[0], given[1])
        step = values.constant_of(given[2]) if len(given) == 3 else 1
        if not isinstance(step, int) or step < 1:
            raise CannotExpress("numpy.arange with a step that is not a positive constant")
        span = values.arithmetic("-", stop, start)
        rounded = values.arithmetic("+", span, values.number(step - 1))
        length = values.extremum("max", functions.floor_divide(rounded, values.number(step)), ZERO)

        def element(indices: Indices) -> Value:
            value = values.arithmetic("+", start, values.arithmetic("*", values.number(step), indices[0]))
            return replace(value, weak=False)
        return ArrayValue((self.region.simplified(length),), INT64, element, frozenset())

    def _triangle(self, operand: Operand, k: Operand | None, op: str) -> Operand:
        array = self.array(operand)
        offset = ZERO if k is None else self.computable(k)
        if len(array.shape) != 2 or not isinstance(offset, Value) or offset.affine is None:
            raise CannotExpress("a triangle of anything but a matrix")
        zero = values.cast(values.number(0), array.dtype)

        def element(indices: Indices) -> Value:
            inside = values.compare(op, indices[1], values.arithmetic("+", indices[0], offset))
            assert inside.condition is not None
            with self.region.guard(inside.condition):
                value = array.element(indices)
            return values.select(inside, value, zero)
        return ArrayValue(array.shape, array.dtype, element, array.sources)

    def _tril(self, operand: Operand, k: Operand | None = None) -> Operand:
        return self._triangle(operand, k, "<=")

    def _triu(self, operand: Operand, k: Operand | None = None) -> Operand:
        return self._triangle(operand, k, ">=")

    def _eye(self, rows: Operand, columns: Operand | None = None, *, dtype: Operand | None = None) -> Operand:
        shape = self._shape(TupleValue((rows, rows if columns is None else columns)))
        kind = self._new_dtype(dtype)
        one, zero = values.cast(values.number(1), kind), values.cast(values.number(0), kind)

        def element(indices: Indices) -> Value:
            return values.select(values.compare("==", indices[0], indices[1]), one, zero)
        return ArrayValue(shape, kind, element, frozenset())
