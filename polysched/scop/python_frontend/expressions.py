"""From the expressions of a Python function to operands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from polysched.records import dataclass
from polysched.scop.construction import divisions, functions, values
from polysched.scop.construction.quotients import with_bounded_quotient
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import INT64
from polysched.scop.python_frontend.calls import BoundMethod, Calls, array_attribute
from polysched.scop.python_frontend.data_indices import DataIndices
from polysched.scop.python_frontend.emission import Emission
from polysched.scop.python_frontend.environment import Environment, Restart, Stale, Stored
from polysched.scop.python_frontend.operands import (
    ArrayValue,
    Operand,
    Pending,
    PythonObject,
    TupleValue,
    View,
    elements_of,
    lifted,
)
from polysched.scop.python_frontend.slicing import Dots, Item, NewAxis, Slice, indexed
from polysched.scop.python_frontend.source import FunctionSource

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}

BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: lambda a, b: values.arithmetic("+", a, b),
    ast.Sub: lambda a, b: values.arithmetic("-", a, b),
    ast.Mult: lambda a, b: values.arithmetic("*", a, b),
    ast.Div: values.divide,
    ast.FloorDiv: divisions.floor_divide,
    ast.Mod: divisions.modulo,
    ast.Pow: functions.power,
    ast.BitAnd: lambda a, b: functions.bitwise("&", a, b),
    ast.BitOr: lambda a, b: functions.bitwise("|", a, b),
    ast.BitXor: lambda a, b: functions.bitwise("^", a, b),
    ast.LShift: lambda a, b: functions.bitwise("<<", a, b),
    ast.RShift: lambda a, b: functions.bitwise(">>", a, b),
}

UNARY: dict[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.USub: values.negate, ast.UAdd: lambda a: a, ast.Invert: functions.invert}


@dataclass(eq=False)
class Evaluator:
    """Evaluates expressions under the names and loops of a point in a function.

    Parameters
    ----------
    env : the meaning of the function's own names; statements change it.
    outer : what the function sees beyond its own names.
    own : every name that the function assigns somewhere.
    forced : names that need storage; a stale one that is read is added, and the function lowered again.
    captured : what the function used of the outer names, by name: numbers, functions, types, modules and their parts.
    indices : what is known of the values that depend on data and stand in subscripts.
    """

    source: FunctionSource
    emission: Emission
    env: Environment
    outer: Mapping[str, Any]
    own: frozenset[str]
    forced: set[str]
    captured: dict[str, Any]
    indices: DataIndices

    def evaluate(self, node: ast.expr) -> Operand:
        """The operand that an expression stands for.

        Raises
        ------
        UnsupportedScopError : it has no form in a Scop; the caret stands under the innermost part at fault.
        """
        try:
            return self._evaluate(node)
        except CannotExpress as problem:
            self.source.refuse(node, problem.problem, hint=problem.hint)

    def _evaluate(self, node: ast.expr) -> Operand:  # noqa: RET503 - `refuse` never returns
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp():
                return self._logical(node)
            case ast.IfExp():
                return self._ternary(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Tuple() | ast.List():
                return TupleValue(tuple(self.evaluate(e) for e in node.elts))
            case _:
                self.source.refuse(node, f"{type(node).__name__} is no expression that a kernel can contain",
                                   hint="write it with loops, arithmetic, slices and NumPy functions")

    def _constant(self, node: ast.Constant) -> Operand:
        if isinstance(node.value, (bool, int, float)):
            return values.number(node.value)
        return PythonObject(node.value)

    def _name(self, node: ast.Name) -> Operand:
        binding = self.env.get(node.id)
        if binding is None:
            if node.id in self.own:
                self.source.refuse(node, f"{node.id} may be read before it is assigned",
                                   hint="assign it before the loop or branch")
            if node.id not in self.outer:
                self.source.refuse(node, f"the name {node.id} is not defined")
            return self._outer_object(node.id, self.outer[node.id])
        if isinstance(binding, Stored):
            return self.emission.region.load(binding.array, (), weak=binding.weak)
        if isinstance(binding, Stale):
            if binding.was_array:
                self.source.refuse(node, f"{node.id} stands for different arrays or tuples on different ways to this "
                                   "line", hint=f"write into one array instead: {node.id}[:] = ...; give a tuple's "
                                   "items names of their own")
            self.forced.add(node.id)
            raise Restart
        return binding

    def _outer_object(self, name: str, value: Any) -> Operand:
        if isinstance(value, np.ndarray):
            raise CannotExpress(f"{name} is an array from outside the function", "pass it as an argument")
        self.captured[name] = value
        if isinstance(value, np.generic) and isinstance(value.item(), (bool, int, float)):
            return self.calls.numpy_number(value)
        return values.number(value) if isinstance(value, (bool, int, float)) else PythonObject(value, name)

    @property
    def calls(self) -> Calls:
        """The meaning of the functions that an expression may call."""
        return Calls(self.emission)

    def scalar(self, node: ast.expr) -> Value:
        """The value of an expression that must be a scalar."""
        operand = self.evaluate(node)
        if isinstance(operand, Pending) and not operand.shape:
            operand = self.emission.materialised(operand)
        if isinstance(operand, View) and not operand.shape:
            return self.emission.region.load(operand.array, operand.at(()))
        if not isinstance(operand, Value):
            self.source.refuse(node, f"a number is needed here, not {described(operand)}")
        return operand

    def affine(self, node: ast.expr, what: str) -> Value:
        """The value of an expression that must be an affine integer."""
        value = self.scalar(node)
        if value.affine is None:
            self.source.refuse(node, f"{what} is not affine",
                               hint="only sums of loop indices and sizes times constants, // and % by constants, "
                                    "min and max are affine")
        return value

    def computable(self, operand: Operand) -> Value | ArrayValue:
        """An operand of arithmetic: a scalar or the elements of an array; a pending reduction is computed now."""
        if isinstance(operand, Pending):
            operand = self.emission.materialised(operand)
        if isinstance(operand, View):
            if not operand.shape:
                return self.emission.region.load(operand.array, operand.at(()))
            return elements_of(self.emission.region, operand)
        if isinstance(operand, (Value, ArrayValue)):
            return operand
        raise CannotExpress(f"arithmetic on {described(operand)}")

    def _apply(self, function: Callable[..., Value], *operands: Operand) -> Operand:
        return lifted(self.emission.region, function, [self.computable(o) for o in operands])

    def _binary(self, node: ast.BinOp) -> Operand:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(node.op, ast.MatMult):
            return self.calls.product(left, right)
        if isinstance(node.op, ast.Add) and isinstance(left, TupleValue) and isinstance(right, TupleValue):
            return TupleValue(left.items + right.items)
        result = self._apply(BINARY[type(node.op)], left, right)
        if isinstance(node.op, ast.Mod | ast.FloorDiv) and isinstance(result, Value) \
                and isinstance(left, Value) and isinstance(right, Value):
            return with_bounded_quotient(self.emission.region, result, left, right,
                                         remainder=isinstance(node.op, ast.Mod))
        return result

    def _unary(self, node: ast.UnaryOp) -> Operand:
        operand = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            if not isinstance(self.computable(operand), Value):
                raise CannotExpress("`not` of an array", "use `~` or numpy.logical_not")
            return self._apply(values.logical_not, operand)
        return self._apply(UNARY[type(node.op)], operand)

    def _comparison(self, node: ast.Compare) -> Operand:
        result: Operand | None = None
        left = self.evaluate(node.left)
        for operation, comparator in zip(node.ops, node.comparators, strict=True):
            if type(operation) not in COMPARISONS:
                raise CannotExpress("`is` and `in` have no meaning for numbers of a kernel",
                                    "use == or a chain of `or`")
            right = self.evaluate(comparator)
            op = COMPARISONS[type(operation)]
            step = self._apply(lambda a, b, op=op: values.compare(op, a, b), left, right)
            result = step if result is None else self._apply(lambda a, b: values.logical("&&", a, b), result, step)
            left = right
        assert result is not None
        return result

    def _logical(self, node: ast.BoolOp) -> Operand:
        """`and` and `or` of truth values: what stands right is read only where the left does not decide."""
        result = self._truth(node.values[0])
        for item in node.values[1:]:
            is_and = isinstance(node.op, ast.And)
            decided = result.condition if result.condition is not None else result.necessary
            if is_and and decided is not None:
                with self.emission.region.guard(decided):
                    right = self._truth(item)
            elif not is_and and result.condition is not None:
                with self.emission.region.guard(result.condition.complement()):
                    right = self._truth(item)
            else:
                right = self._truth(item)
            result = values.logical("&&" if is_and else "||", result, right)
        return result

    def _truth(self, node: ast.expr) -> Value:
        value = self.scalar(node)
        if value.dtype.name != "bool" and not isinstance(node, ast.Constant):
            raise CannotExpress("`and` and `or` of values that are not truth values", "compare them: x != 0")
        return values.truth(value)

    def condition(self, node: ast.expr) -> Value:
        """The truth value of a test."""
        return values.truth(self.scalar(node))

    def _ternary(self, node: ast.IfExp) -> Operand:
        test = self.condition(node.test)
        region = self.emission.region
        if test.condition is None:
            return values.select(test, self.scalar(node.body), self.scalar(node.orelse))
        if region.holds(test.condition):
            return self.evaluate(node.body)
        if region.holds(test.condition.complement()):
            return self.evaluate(node.orelse)
        with region.guard(test.condition):
            then = self.scalar(node.body)
        with region.guard(test.condition.complement()):
            otherwise = self.scalar(node.orelse)
        return values.select(test, then, otherwise)

    def _subscript(self, node: ast.Subscript) -> Operand:
        base = self.evaluate(node.value)
        if isinstance(base, TupleValue):
            index = self.evaluate(node.slice)
            literal = values.constant_of(index) if isinstance(index, Value) else None
            if not isinstance(literal, int) or not -len(base.items) <= literal < len(base.items):
                self.source.refuse(node.slice, "the index of a tuple is a constant inside it")
            return base.items[literal]
        view = self.view(node.value, base, node)
        if view.shape:
            return view
        return self.emission.region.load(view.array, view.at(()))

    def view(self, base_node: ast.expr, base: Operand, node: ast.Subscript) -> View:
        """The part of an array that a subscript selects."""
        if isinstance(base, (ArrayValue, Pending)):
            base = self.emission.materialised(base)
        if not isinstance(base, View):
            self.source.refuse(base_node, f"{described(base)} has no subscripts")
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return indexed(self.emission.region, base, [self._item(i) for i in items])

    def _item(self, node: ast.expr) -> Item:
        if isinstance(node, ast.Slice):
            step = 1
            if node.step is not None:
                value = self.scalar(node.step)
                literal = values.constant_of(value)
                if not isinstance(literal, int) or literal == 0:
                    self.source.refuse(node.step, "the step of a slice is a constant other than 0")
                step = literal
            lower = None if self._is_none(node.lower) else self.affine(self._given(node.lower), "a bound of the slice")
            upper = None if self._is_none(node.upper) else self.affine(self._given(node.upper), "a bound of the slice")
            return Slice(lower, upper, step)
        operand = self.evaluate(node)
        if isinstance(operand, PythonObject):
            if operand.value is None:
                return NewAxis()
            if operand.value is Ellipsis:
                return Dots()
        if isinstance(operand, (View, ArrayValue, Pending)):
            self.source.refuse(node, "an index that is an array", hint="write the loop over its elements")
        if not isinstance(operand, Value):
            self.source.refuse(node, f"{described(operand)} is no index")
        if not operand.dtype.is_integer or operand.dtype.name == "bool":
            self.source.refuse(node, "the index is not an integer", hint="use // instead of /")
        return operand if operand.affine is not None else self._data_index(node, operand)

    def _data_index(self, node: ast.expr, index: Value) -> Value:
        """A subscript that is read from arrays which the kernel does not write."""
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(self.env.get(n.id), Stored)}
        if self.indices.need_values(stored):
            raise Restart
        sources = [t.array for t in self.emission.region.touches_of(index.expr)]
        if not sources:
            self.source.refuse(node, "the subscript is not affine",
                               hint="only sums of loop indices and sizes times constants, // and % by constants, "
                                    "are affine; what is read from an array is not")
        if not self.indices.only_reads(self.emission.region, index):
            changed = next(s for s in sources if not self.indices.is_only_read(self.emission.region, s))
            self.source.refuse(node, f"the subscript depends on {changed}, which the kernel computes",
                               hint="read subscripts from array arguments that the kernel does not write: they are "
                                    "checked before it runs")
        self.indices.used.update(sources)
        return Value(values.converted(index, INT64), INT64, True)

    @staticmethod
    def _is_none(node: ast.expr | None) -> bool:
        return node is None or (isinstance(node, ast.Constant) and node.value is None)

    @staticmethod
    def _given(node: ast.expr | None) -> ast.expr:
        assert node is not None
        return node

    def _attribute(self, node: ast.Attribute) -> Operand:
        base = self.evaluate(node.value)
        if isinstance(base, PythonObject):
            if not isinstance(base.value, (ModuleType, type)) or not hasattr(base.value, node.attr):
                raise CannotExpress(f"{ast.unparse(node)} has no meaning in a kernel")
            found = getattr(base.value, node.attr)
            return self._outer_object(f"{base.name}.{node.attr}", found)
        if isinstance(base, Pending):
            base = self.emission.materialised(base)
        if isinstance(base, (View, ArrayValue)):
            return array_attribute(base, node.attr)
        if isinstance(base, Value) and node.attr == "T":
            return base
        if isinstance(base, Value) and node.attr == "astype":
            return PythonObject(BoundMethod(base, "astype"))
        raise CannotExpress(f"{described(base)} has no attribute {node.attr}")

    def _call(self, node: ast.Call) -> Operand:
        called = self.evaluate(node.func)
        if not isinstance(called, PythonObject) or not callable(called.value):
            self.source.refuse(node.func, f"{ast.unparse(node.func)} is no function that a kernel can call")
        if any(isinstance(a, (ast.Starred, ast.GeneratorExp)) for a in node.args) or any(
                k.arg is None for k in node.keywords):
            self.source.refuse(node, "a call with * or ** or a generator", hint="name the arguments, write a loop")
        arguments = [self.evaluate(a) for a in node.args]
        keywords = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg is not None}
        return self.calls.call(called.value, arguments, keywords)


def described(operand: Operand) -> str:
    """What an operand is, for a message."""
    match operand:
        case Value():
            return "a number"
        case View() | ArrayValue() | Pending():
            return "an array"
        case TupleValue():
            return "a tuple"
        case PythonObject():
            return f"`{getattr(operand.value, '__name__', operand.value)}`"
