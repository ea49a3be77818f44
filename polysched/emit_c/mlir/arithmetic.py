"""Bodies of statements as operations of the `arith`, `math` and `affine` dialects, one line per operation.

Source: MLIR's documentation, "'arith' Dialect" and "'math' Dialect".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

import islpy as isl

from polysched.emit_c.loop_ir.index import Linear, Variable
from polysched.emit_c.mlir.affine_maps import affine_map, element_of
from polysched.emit_c.mlir.names import array_name
from polysched.errors import UnsupportedScopError
from polysched.scop.body import (
    COMPARISON,
    Address,
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Select,
    Unary,
    walk,
)
from polysched.scop.dtypes import FLOAT32, DType, Kind, common_type, usual_conversion
from polysched.scop.scop import Scop, Statement

_TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
          **{f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}
_FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_SIGNED = {"+": "addi", "-": "subi", "*": "muli", "/": "divsi", "%": "remsi", "<<": "shli", ">>": "shrsi",
           "&": "andi", "|": "ori", "^": "xori"}
_UNSIGNED = {**_SIGNED, "/": "divui", "%": "remui", ">>": "shrui"}
_PREDICATES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_FUNCTIONS = {"sqrt": "sqrt", "exp": "exp", "log": "log", "fabs": "absf", "sin": "sin", "cos": "cos", "tanh": "tanh",
              "pow": "powf", "floor": "floor", "ceil": "ceil"}


def type_text(dtype: DType) -> str:
    """The type of an element; integers have no sign in MLIR.

    Raises
    ------
    UnsupportedScopError : MLIR has none.
    """
    if dtype.name not in _TYPES:
        raise UnsupportedScopError("MLIR has no such type of elements", witness=dtype.c_name)
    return _TYPES[dtype.name]


class Body:
    """The operations of one statement instance.

    Parameters
    ----------
    iterators : the value of each iterator.
    arrays : the type of each array, by name.
    names : of values, without `%`; each only once.
    """

    def __init__(self, scop: Scop, statement: Statement, iterators: Sequence[Linear], arrays: Mapping[str, str],
                 names: Iterator[str]) -> None:
        self.scop, self.statement, self.iterators, self.arrays = scop, statement, iterators, arrays
        self.names = names
        self.symbols = [p.name for p in scop.parameters]
        self.lines: list[str] = []

    def write(self) -> list[str]:
        """The lines.

        Raises
        ------
        UnsupportedScopError : the statement has a part that these dialects do not have.
        """
        for item in self.statement.body:
            if not isinstance(item, Assign):
                self._refuse("a condition or loop on data", type(item).__name__)
            self._assign(item)
        return self.lines

    def _assign(self, item: Assign) -> None:
        value, dtype = self._value(item.value), item.value.dtype
        if item.op is not None and item.read is not None:
            common = common_type(item.op, item.dtype, dtype)
            old = self._converted(self._load(item.read), item.dtype, common)
            value = self._arith(item.op, old, self._converted(value, dtype, common), common)
            dtype = common
        value = self._converted(value, dtype, item.dtype)
        self.lines.append(f"affine.store {value}, {self._element(item.target)}")

    def _load(self, reference: str) -> str:
        return self._op(f"affine.load {self._element(reference)}")

    def _element(self, reference: str) -> str:
        """`%A[...] : memref<...>`: an element of an array."""
        array, forms = element_of(self.statement, reference, self.iterators)
        return f"%{array_name(array)}[{', '.join(map(self._index, forms))}] : {self.arrays[array]}"

    def _index(self, form: Linear) -> str:
        """A form as a value of type `index`; a variable is one already."""
        match form:
            case Linear(terms=((Variable(name=name), 1),), constant=0):
                return f"%{name}"
            case _:
                return self._op(f"affine.apply {affine_map([form], self.symbols)}")

    def _value(self, value: Expr) -> str:
        match value:
            case Literal():
                return self._op(f"arith.constant {_number(value)} : {type_text(value.dtype)}")
            case Load():
                return self._load(value.reference)
            case IteratorRef():
                position = self.statement.iterators.index(value.name)
                index = self._index(self.iterators[position])
                return self._op(f"arith.index_cast {index} : index to {type_text(value.dtype)}")
            case ParameterRef():
                return self._op(f"arith.index_cast %{value.name} : index to {type_text(value.dtype)}")
            case Cast():
                return self._converted(self._value(value.operand), value.operand.dtype, value.dtype)
            case Unary():
                return self._unary(value)
            case Binary() if value.op in COMPARISON:
                return self._op(f"arith.extui {self._test(value)} : i1 to {type_text(value.dtype)}")
            case Binary():
                left = self._converted(self._value(value.left), value.left.dtype, value.dtype)
                right = self._converted(self._value(value.right), value.right.dtype, value.dtype)
                return self._arith(value.op, left, right, value.dtype)
            case Select():
                return self._select(value)
            case Call():
                return self._call(value)
            case Address():
                return self._refuse("an address of an element", ", ".join(value.references))

    def _unary(self, value: Unary) -> str:
        operand = self._converted(self._value(value.operand), value.operand.dtype, value.dtype)
        if value.op == "+":
            return operand
        if value.op != "-":
            self._refuse("an operator", value.op)
        text = type_text(value.dtype)
        if value.dtype.is_float:
            return self._op(f"arith.negf {operand} : {text}")
        zero = self._op(f"arith.constant 0 : {text}")
        return self._op(f"arith.subi {zero}, {operand} : {text}")

    def _arith(self, op: str, left: str, right: str, dtype: DType) -> str:
        table = _FLOAT if dtype.is_float else _SIGNED if dtype.is_signed else _UNSIGNED
        if op not in table:
            self._refuse("an operator", op)
        return self._op(f"arith.{table[op]} {left}, {right} : {type_text(dtype)}")

    def _test(self, value: Expr) -> str:
        """A condition as a bit."""
        if not isinstance(value, Binary) or value.op not in COMPARISON:
            self._refuse("a condition that is no comparison", type(value).__name__)
        common = usual_conversion(value.left.dtype, value.right.dtype)
        left, right = (self._converted(self._value(side), side.dtype, common) for side in (value.left, value.right))
        predicate = _PREDICATES[value.op]
        if common.is_float:
            order = "u" if value.op == "!=" else "o"
            return self._op(f"arith.cmpf {order}{predicate}, {left}, {right} : {type_text(common)}")
        sign = "" if value.op in ("==", "!=") else "s" if common.is_signed else "u"
        return self._op(f"arith.cmpi {sign}{predicate}, {left}, {right} : {type_text(common)}")

    def _select(self, value: Select) -> str:
        """Both sides are computed, so neither may read or divide."""
        for side in (value.then, value.otherwise):
            if any(isinstance(e, Call) or (isinstance(e, Binary) and e.op in ("/", "%") and e.dtype.is_integer)
                   for e in walk(side)) or not self._reads_anyway(side, value):
                self._refuse("a choice whose sides must not both be computed", f"line {self.statement.line}")
        test = self._test(value.condition)
        then, otherwise = (self._converted(self._value(side), side.dtype, value.dtype)
                           for side in (value.then, value.otherwise))
        return self._op(f"arith.select {test}, {then}, {otherwise} : {type_text(value.dtype)}")

    def _reads_anyway(self, side: Expr, value: Select) -> bool:
        """Whether what a side reads the condition reads, too."""
        def elements(expr: Expr) -> list[isl.Map]:
            return [self.statement.access(e.reference).relation for e in walk(expr) if isinstance(e, Load)]

        known = elements(value.condition)
        return all(any(read.is_equal(other) for other in known) for read in elements(side))

    def _call(self, value: Call) -> str:
        name = value.function.removesuffix("f") if value.function.removesuffix("f") in _FUNCTIONS else value.function
        if name not in _FUNCTIONS or not value.dtype.is_float:
            self._refuse("a function", value.function)
        arguments = ", ".join(self._converted(self._value(a), a.dtype, value.dtype) for a in value.arguments)
        return self._op(f"math.{_FUNCTIONS[name]} {arguments} : {type_text(value.dtype)}")

    def _converted(self, value: str, before: DType, after: DType) -> str:
        """A value of another type."""
        old, new = type_text(before), type_text(after)
        if old == new:
            return value
        if before.is_float and after.is_float and before.bits == after.bits:   # f16 and bf16: neither holds the other
            return self._converted(self._converted(value, before, FLOAT32), FLOAT32, after)
        return self._op(f"arith.{_conversion(before, after)} {value} : {old} to {new}")

    def _op(self, text: str) -> str:
        name = f"%{next(self.names)}"
        self.lines.append(f"{name} = {text}")
        return name

    def _refuse(self, what: str, witness: str) -> NoReturn:
        raise UnsupportedScopError(f"{what} of {self.statement.name} has no form in the affine dialect",
                                   witness=witness, hint="emit C instead")


def _conversion(before: DType, after: DType) -> str:
    if before.is_float and after.is_float:
        return "extf" if after.bits > before.bits else "truncf"
    if before.is_float:
        return "fptosi" if after.is_signed else "fptoui"
    if after.is_float:
        return "sitofp" if before.is_signed else "uitofp"
    if after.bits < before.bits:
        return "trunci"
    return "extsi" if before.kind is Kind.SIGNED else "extui"


def _number(literal: Literal) -> str:
    """A number as MLIR spells it: a float has a point."""
    if not literal.dtype.is_float:
        return str(int(literal.value))
    text = repr(float(literal.value))
    if "inf" in text or "nan" in text:
        raise UnsupportedScopError("the number has no decimal form", witness=literal.text)
    mantissa, letter, exponent = text.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + letter + exponent
