"""The reference interpreter: executes any Scop instance by instance, in Python, with C's arithmetic.

It is the oracle of the other tests, so it shares nothing with code generation: isl enumerates the
instances, their time stamps sort them, and each body runs on NumPy arrays in the types that C prescribes.
Every access is reached twice, through its subscripts and through its isl relation, and both must agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import islpy as isl
import numpy as np

from polysched.errors import InconsistentScopError, SourceLocation, UndefinedBehaviourError, UsageError
from polysched.records import dataclass
from polysched.scop.body import (
    COMPARISON,
    OF_PARTS,
    Address,
    Assign,
    Binary,
    BodyStatement,
    Call,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Perform,
    Select,
    Unary,
    While,
)
from polysched.scop.c_arithmetic import (
    COMPARISONS,
    bfloat16_bits,
    bfloat16_value,
    float_operation,
    integer_operation,
    round_float,
)
from polysched.scop.complex_arithmetic import complex_function, complex_operation, convert
from polysched.scop.dtypes import BFLOAT16, FLOAT64, LONGDOUBLE, DType, common_type, part_of, usual_conversion
from polysched.scop.points import fix_parameters, instances_in_order, isl_value, pairs_of, value_at
from polysched.scop.scop import Access, Array, Scop, Statement, Storage

Index: TypeAlias = tuple[int, ...]
Trace: TypeAlias = Callable[[str, Index], None]
Value: TypeAlias = Callable[[Index], Any]
Action: TypeAlias = Callable[[Index], None]

MOST_ITERATIONS_OF_A_WHILE = 1_000_000


def execute(scop: Scop, parameters: Mapping[str, int], arrays: Mapping[str, np.ndarray | int | float], *,
            tree: isl.Schedule | None = None, trace: Trace | None = None,
            functions: Mapping[str, Callable[..., int | float]] | None = None, wrap_signed: bool = False) -> None:
    """Execute a Scop in place on the caller's arrays.

    Parameters
    ----------
    parameters : a value for every parameter of the Scop, inside its context.
    arrays : an `ndarray` for every array that is not local to the region, of its element type (`uint16`
        bit patterns for bfloat16); a scalar that the region writes is a 0-dimensional array, one that it
        only reads may be a number.  A flat array serves for one with more dimensions.
    tree : the order; the Scop's own when there is none.
    trace : called with the statement's name and the iterators before each instance.
    functions : meanings of called functions that math.h does not have.
    wrap_signed : signed overflow wraps, as with -fwrapv, instead of being refused.

    Raises
    ------
    UsageError : parameters or arrays do not fit the Scop.
    UndefinedBehaviourError : an instance does what C leaves undefined; the witness is the instance.
    """
    if fix_parameters(scop.context, parameters).is_empty():
        raise UsageError(f"the parameters are outside the context of {scop.name}", witness=str(dict(parameters)),
                         hint=f"the context is {scop.context}")
    cells = {array.name: _cells_of(array, parameters, arrays) for array in scop.arrays}
    run = {s.name: _StatementRunner(statement=s, parameters=parameters, cells=cells, functions=functions or {},
                                    wrap_signed=wrap_signed).compile() for s in scop.statements}
    lines = {s.name: s.line for s in scop.statements}
    order = instances_in_order(scop.domain, tree or scop.schedule, parameters, [s.name for s in scop.statements])
    for name, instance in order:
        if trace is not None:
            trace(name, instance)
        try:
            run[name](instance)
        except UndefinedBehaviourError as error:
            path = scop.source.path if scop.source else scop.name
            raise UndefinedBehaviourError(
                error.problem, where=SourceLocation(path, lines[name]), hint=error.hint,
                witness=f"{name}{list(instance)}" + (f", {error.witness}" if error.witness else "")) from None


@dataclass(frozen=True, eq=False)
class _Cells:
    """The elements of one array: bounds are checked, and of a local array that it was written before it is read."""

    array: Array
    data: np.ndarray
    written: np.ndarray | None

    def _check(self, index: Index) -> None:
        shape = self.data.shape
        if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
            raise UndefinedBehaviourError(
                f"{self.array.name}{_brackets(index)} is outside the array of extents {_brackets(shape)}")

    def load(self, index: Index) -> Any:
        self._check(index)
        if self.written is not None and not self.written[index]:
            raise UndefinedBehaviourError(f"{self.array.name}{_brackets(index)} is read before it is written")
        if self.array.dtype == LONGDOUBLE:
            return self.data[index]
        value = self.data.item(*index)
        if isinstance(value, bool):   # as a subscript it is 0 or 1, not a mask
            return int(value)
        return bfloat16_value(value) if self.array.dtype == BFLOAT16 else value

    def store(self, index: Index, value: Any) -> None:
        self._check(index)
        if not self.data.flags.writeable:
            raise UsageError(f"{self.array.name} is written, but the caller's array is read-only",
                             hint="pass a writable array, a 0-dimensional one for a scalar")
        self.data[index] = bfloat16_bits(value) if self.array.dtype == BFLOAT16 else value
        if self.written is not None:
            self.written[index] = True


def _brackets(index: Index) -> str:
    return "".join(f"[{i}]" for i in index)


def _storage_dtype(dtype: DType) -> np.dtype[Any]:
    return np.dtype(np.uint16 if dtype == BFLOAT16 else dtype.name)


def extents_of(array: Array, parameters: Mapping[str, int]) -> tuple[int | None, ...]:
    """The extents of an array at these parameter values; None where the declaration does not say."""
    return tuple(None if extent is None else value_at(extent, parameters) for extent in array.extents)


def _cells_of(array: Array, parameters: Mapping[str, int],
              arrays: Mapping[str, np.ndarray | int | float]) -> _Cells:
    extents = extents_of(array, parameters)
    dtype = _storage_dtype(array.dtype)
    if array.name not in arrays:
        if array.storage is not Storage.LOCAL or None in extents:
            raise UsageError(f"the array {array.name} is missing", hint=f"pass {array.name} as a NumPy array")
        shape = tuple(e or 0 for e in extents)
        return _Cells(array, np.zeros(shape, dtype), np.zeros(shape, np.bool_))
    given = arrays[array.name]
    if not isinstance(given, np.ndarray):
        data = np.asarray(convert(given, array.dtype), dtype)
        data.flags.writeable = False
    elif given.dtype != dtype:
        raise UsageError(f"{array.name} has elements of type {given.dtype}, the Scop has {dtype}")
    else:
        data = given
    if data.ndim == 1 and len(extents) > 1 and data.flags.c_contiguous:
        data = data.reshape([-1 if e is None else e for e in extents]) if _fits(data.size, extents) else data
    if data.ndim != len(extents) or any(e not in (None, n) for e, n in zip(extents, data.shape, strict=True)):
        raise UsageError(f"{array.name} has the shape {data.shape}, the Scop has {extents}")
    return _Cells(array, data, None)


def _fits(size: int, extents: tuple[int | None, ...]) -> bool:
    known = math.prod(e for e in extents if e is not None)
    return size == known if None not in extents else known > 0 and size % known == 0


class _Reached(dict[Index, Index]):
    """Which element an exact access reaches, per instance."""

    def __missing__(self, instance: Index) -> Index:
        raise UndefinedBehaviourError("the access relation has no element for this instance")


@dataclass(frozen=True, kw_only=True)
class _StatementRunner:
    """Turns one statement's body into a Python function of the instance."""

    statement: Statement
    parameters: Mapping[str, int]
    cells: Mapping[str, _Cells]
    functions: Mapping[str, Callable[..., int | float]]
    wrap_signed: bool

    def compile(self) -> Action:
        """The function that executes one instance."""
        return self.block(self.statement.body)

    def block(self, body: tuple[BodyStatement, ...]) -> Action:
        actions = tuple(self.body_statement(item) for item in body)

        def run(instance: Index) -> None:
            for action in actions:
                action(instance)
        return actions[0] if len(actions) == 1 else run

    def body_statement(self, item: BodyStatement) -> Action:
        match item:
            case Assign():
                return self.assign(item)
            case If():
                condition, then, otherwise = (self.value(item.condition), self.block(item.then),
                                              self.block(item.otherwise))
                return lambda instance: then(instance) if condition(instance) else otherwise(instance)
            case While():
                return self.loop(self.value(item.condition), self.block(item.body))
            case Perform():
                raise UsageError(f"the interpreter cannot call {item.call.function}, which reaches memory through "
                                 "pointers", where=self.statement.name, hint="run the compiled program instead")

    def loop(self, condition: Value, body: Action) -> Action:
        def run(instance: Index) -> None:
            for _ in range(MOST_ITERATIONS_OF_A_WHILE):
                if not condition(instance):
                    return
                body(instance)
            raise UndefinedBehaviourError(f"a while loop did not end after {MOST_ITERATIONS_OF_A_WHILE} iterations")
        return run

    def assign(self, item: Assign) -> Action:
        target = self.statement.access(item.target)
        cells, where = self.cells[target.array], self.element(target)
        value = self.value(item.value) if item.op is None else self.compound(item)
        source = item.value.dtype if item.op is None else item.dtype
        if source != item.dtype:
            plain, dtype = value, item.dtype
            value = lambda instance: convert(plain(instance), dtype)  # noqa: E731
        final = value

        def run(instance: Index) -> None:
            result = final(instance)
            cells.store(where(instance), result)
        return run

    def compound(self, item: Assign) -> Value:
        """`(dtype)(old op value)` in the common type (C11 6.5.16.2); a shift keeps the left type (6.5.7)."""
        assert item.op is not None
        assert item.read is not None
        dtype = common_type(item.op, item.dtype, item.value.dtype)
        whole = Binary(item.op, Load(item.read, item.dtype), item.value, dtype)
        return self.value(Cast(whole, item.dtype))

    def element(self, access: Access) -> Callable[[Index], Index]:
        """The element that an access reaches in an instance."""
        relation = fix_parameters(access.relation, self.parameters)
        subscripts = tuple(self.value(s) for s in access.subscripts)
        if not access.exact:
            if len(subscripts) != relation.dim(isl.dim_type.out):
                return self.unravelled(access, subscripts)
            return self.checked_subscripts(access, subscripts, lambda instance, index: _contains(
                relation, instance, index))
        reached = _Reached(pairs_of(relation))
        if len(subscripts) != relation.dim(isl.dim_type.out):
            return reached.__getitem__
        return self.checked_subscripts(access, subscripts, lambda instance, index: reached[instance] == index)

    def unravelled(self, access: Access, subscripts: tuple[Value, ...]) -> Callable[[Index], Index]:
        """The element that a linear subscript names of an array with several dimensions: `x[i * m + j]`, `x[at]`."""
        if len(subscripts) != 1:
            raise UsageError(f"{access.reference}: an inexact access needs one subscript, or one per dimension")
        shape, linear = self.cells[access.array].data.shape, subscripts[0]

        def where(instance: Index) -> Index:
            rest, index = linear(instance), []
            for extent in reversed(shape[1:]):
                rest, last = divmod(rest, extent)
                index.append(last)
            return (rest, *reversed(index))
        return where

    def checked_subscripts(self, access: Access, subscripts: tuple[Value, ...],
                           agrees: Callable[[Index, Index], bool]) -> Callable[[Index], Index]:
        def where(instance: Index) -> Index:
            index = tuple(s(instance) for s in subscripts)
            if not agrees(instance, index):
                raise InconsistentScopError(
                    f"{access.reference}: the subscripts reach {access.array}{_brackets(index)}, the relation does not",
                    witness=f"{self.statement.name}{list(instance)}", hint=f"the relation is {access.relation}")
            return index
        return where

    def value(self, expr: Expr) -> Value:
        """A function of the instance that gives the expression's value in its C type."""
        match expr:
            case Literal():
                constant = round_float(expr.value, expr.dtype) if expr.dtype.is_float else expr.value
                return lambda instance: constant
            case ParameterRef():
                size = convert(self.parameters[expr.name], expr.dtype)
                return lambda instance: size
            case IteratorRef():
                position, dtype = self.statement.iterators.index(expr.name), expr.dtype
                return lambda instance: convert(instance[position], dtype)
            case Load():
                access = self.statement.access(expr.reference)
                load, where = self.cells[access.array].load, self.element(access)
                return lambda instance: load(where(instance))
            case Cast():
                return self.converted(expr.operand, expr.dtype)
            case Unary():
                return self.unary(expr)
            case Binary():
                return self.binary(expr)
            case Select():
                condition = self.value(expr.condition)
                then, otherwise = self.converted(expr.then, expr.dtype), self.converted(expr.otherwise, expr.dtype)
                return lambda instance: then(instance) if condition(instance) else otherwise(instance)
            case Call():
                return self.call(expr)
            case Address():
                raise UsageError("the interpreter has no addresses", where=self.statement.name,
                                 hint="run the compiled program instead")

    def converted(self, expr: Expr, dtype: DType) -> Value:
        """The expression's value converted to a type."""
        value = self.value(expr)
        if expr.dtype == dtype:
            return value
        return lambda instance: convert(value(instance), dtype)

    def unary(self, expr: Unary) -> Value:
        dtype, wrap_signed = expr.dtype, self.wrap_signed
        if expr.op == "!":
            truth = self.value(expr.operand)
            return lambda instance: int(not truth(instance))
        value = self.converted(expr.operand, dtype)
        match expr.op:
            case "+":
                return value
            case "~" if dtype.is_complex:   # gcc's conjugate
                return lambda instance: complex(value(instance).real, -value(instance).imag)
            case "~":
                return lambda instance: convert(~value(instance), dtype)
            case _ if not dtype.is_integer:
                return lambda instance: -value(instance)
            case _:
                return lambda instance: integer_operation("-", 0, value(instance), dtype, wrap_signed)

    def binary(self, expr: Binary) -> Value:
        op, dtype, wrap_signed = expr.op, expr.dtype, self.wrap_signed
        if op in ("&&", "||"):
            first, second = self.value(expr.left), self.value(expr.right)
            if op == "&&":
                return lambda instance: int(bool(first(instance)) and bool(second(instance)))
            return lambda instance: int(bool(first(instance)) or bool(second(instance)))
        if dtype.is_complex:
            return self.complex_binary(expr)
        common = usual_conversion(expr.left.dtype, expr.right.dtype) if op in COMPARISON else dtype
        left = self.converted(expr.left, common)
        right = self.value(expr.right) if op in ("<<", ">>") else self.converted(expr.right, common)
        if op in COMPARISON:
            compare = COMPARISONS[op]
            return lambda instance: int(compare(left(instance), right(instance)))
        if dtype == FLOAT64 and op in "+-*":
            return _double_operation(op, left, right)
        if dtype.is_float:
            return lambda instance: float_operation(op, left(instance), right(instance), dtype)
        return lambda instance: integer_operation(op, left(instance), right(instance), dtype, wrap_signed)

    def complex_binary(self, expr: Binary) -> Value:
        """An operation on complex numbers; a real operand stays one."""
        op, dtype = expr.op, expr.dtype
        left, right = (self.converted(e, dtype if e.dtype.is_complex else part_of(dtype))
                       for e in (expr.left, expr.right))
        return lambda instance: complex_operation(op, left(instance), right(instance), dtype)

    def call(self, expr: Call) -> Value:
        function: Callable[..., Any]
        if expr.function in self.functions:
            function, kinds = self.functions[expr.function], tuple(a.dtype for a in expr.arguments)
        elif expr.function == OF_PARTS:
            function, kinds = complex, tuple(a.dtype for a in expr.arguments)
        else:
            function, kinds = complex_function(expr.function)
        if len(kinds) != len(expr.arguments):
            raise UsageError(f"{expr.function} takes {len(kinds)} arguments, {len(expr.arguments)} are given")
        arguments = tuple(self.converted(a, kind) for a, kind in zip(expr.arguments, kinds, strict=True))
        dtype = expr.dtype

        def run(instance: Index) -> Any:
            return convert(function(*(argument(instance) for argument in arguments)), dtype)
        return run


def _double_operation(op: str, left: Value, right: Value) -> Value:
    if op == "+":
        return lambda instance: left(instance) + right(instance)
    if op == "-":
        return lambda instance: left(instance) - right(instance)
    return lambda instance: left(instance) * right(instance)


def _contains(relation: isl.Map, instance: Index, element: Index) -> bool:
    for kind, values in ((isl.dim_type.in_, instance), (isl.dim_type.out, element)):
        for position, value in enumerate(values):
            relation = relation.fix_val(kind, position, isl_value(value))
    return not relation.is_empty()
