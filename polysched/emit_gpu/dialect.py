"""How the C of a body is spelled for a device, and what no device computes as C does."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from polysched.emit_c.loop_ir.names import taken_names
from polysched.emit_c.scalar_code.c_text import CText, call, cast
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.emit_c.scalar_code.python_operators import python_call
from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Call,
    Expr,
    If,
    Literal,
    Load,
    Perform,
    While,
    statement_expressions,
    walk,
)
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT32, LONGDOUBLE, UINT8, UINT16, DType
from polysched.scop.scop import Scop, Statement

_NAMES = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 nextafter pow remainder rint round sin sinh sqrt tan tanh "
    "tgamma trunc")
FUNCTIONS = frozenset(_NAMES.split())
"""Functions of math.h that devices have: CUDA as C, OpenCL under one name for both types (OpenCL C 1.2, 6.12.2)."""

MOVED_TYPES = (BFLOAT16, FLOAT16)
"""Those that tensor cores multiply, and everything else at most moves."""
NO_TYPES = (*MOVED_TYPES, LONGDOUBLE)


OWN_NAMES = re.compile(r"polysched_(device_\w+|program(_\d+)?|kernels|names)|"
                       r"POLYSCHED_(OPENCL(_\w+)?|CUDA|NO_CONTRACTION|DEVICE_\w+)")
"""Identifiers that the emitted C declares itself."""


def refuse_own_names(scop: Scop) -> None:
    """Refuse a program that has names of the emitted C, which would be declared twice or mean something else.

    Raises
    ------
    UnsupportedScopError : with the name.
    """
    found = sorted(name for name in taken_names(scop).visible if OWN_NAMES.fullmatch(name))
    if found:
        raise UnsupportedScopError(f"{found[0]} is a name of the C that is emitted for a device", where=scop.name,
                                   hint="rename it")


def device_type(dtype: DType) -> str:
    """How device code declares the elements of an array: as bits where it can only move them, truths as bytes."""
    if dtype == BOOL:
        return UINT8.c_name
    return UINT16.c_name if dtype in MOVED_TYPES else dtype.c_name


def with_bytes_for_truths(scop: Scop) -> Scop:
    """The program with a byte, 0 or 1, for every element of type `_Bool`, of which no device has arrays.

    Source: OpenCL C 1.2, section 6.9; C11 6.3.1.2.
    """
    if all(array.dtype != BOOL for array in scop.arrays):
        return scop
    return replace(scop, arrays=tuple(replace(a, dtype=UINT8) if a.dtype == BOOL else a for a in scop.arrays),
                   statements=tuple(replace(s, body=_with_truths(s.body)) for s in scop.statements))


def _with_truths(body: tuple[BodyStatement, ...]) -> tuple[BodyStatement, ...]:
    """The same assignments, which store whether a value is not zero."""
    return tuple(map(_with_truth, body))


def _with_truth(item: BodyStatement) -> BodyStatement:
    match item:
        case If():
            return replace(item, then=_with_truths(item.then), otherwise=_with_truths(item.otherwise))
        case While():
            return replace(item, body=_with_truths(item.body))
        case Perform():
            raise AssertionError("no device has functions of the program")
        case Assign(dtype=dtype) if dtype != BOOL:
            return item
        case Assign(op=None, value=value):
            return replace(item, value=_is_true(value))
        case Assign(op=op, read=read, value=value):
            assert op is not None, "the case above"
            assert read is not None, "there is one with every operator"
            return replace(item, op=None, read=None, value=_is_true(Binary(op, Load(read, BOOL), value, value.dtype)))


def _is_true(value: Expr) -> Expr:
    return Binary("!=", value, Literal("0", 0, INT32), INT32)


def refuse_unsupported(scop: Scop, apart: Collection[str] = ()) -> None:
    """Refuse what device code cannot compute as C does.

    Parameters
    ----------
    apart : statements that tensor cores compute.

    Raises
    ------
    UnsupportedScopError : with the statement and the type or the function.
    """
    refuse_own_names(scop)
    moved, computed = ({access.array for statement in scop.statements if (statement.name in apart) is on_tensor_cores
                        for access in statement.accesses} for on_tensor_cores in (True, False))
    for array in scop.arrays:
        if array.dtype not in MOVED_TYPES or array.name not in moved - computed:
            _check_type(array.dtype, f"the array {array.name}" if array.extents else f"the scalar {array.name}")
    for statement in scop.statements:
        if statement.name not in apart:
            _check_statement(scop, statement)


def _check_statement(scop: Scop, statement: Statement) -> None:
    tops = [*statement_expressions(statement.body), *(s for a in statement.accesses for s in a.subscripts)]
    for expression in (e for top in tops for e in walk(top)):
        where = f"{scop.name}, line {statement.line}"
        _check_type(expression.dtype, where)
        if isinstance(expression, Call) and device_function(expression, scop) is None:
            raise UnsupportedScopError(f"no device has the function {expression.function}", where=where,
                                       hint="functions of math.h can be called")


def _check_type(dtype: DType, where: str) -> None:
    if dtype in NO_TYPES or dtype.is_complex:
        raise UnsupportedScopError(f"device code has no type {dtype.c_name}", where=where,
                                   hint="use float or double")


def device_function(expr: Call, scop: Scop, float_functions: bool = False) -> str | None:
    """The name of a function on the device; None where it has none.

    Parameters
    ----------
    float_functions : whether those of single precision have names of their own, as in CUDA; OpenCL C overloads one.
    """
    name = expr.function
    if name in ("abs", "labs", "llabs"):
        return name
    if name in ("floordiv", "floormod"):   # Python's operators; in C they are functions of the program
        return name if scop.source is None else None
    single = name.removesuffix("f") if expr.dtype == FLOAT32 else name
    if float_functions and single in FUNCTIONS:
        return single + "f" if expr.dtype == FLOAT32 else single
    return single if single in FUNCTIONS else name if name in FUNCTIONS else None


@dataclass(frozen=True, eq=False, kw_only=True)
class DevicePrinter(ExpressionPrinter):
    """Prints the expressions of one statement instance for a device.

    Parameters
    ----------
    float_functions : as `device_function` has it.
    """

    float_functions: bool = False

    def value(self, expr: Expr) -> CText:
        """The expression as a value of its C type."""
        match expr:
            case Literal(text=text) if text.lower().endswith("ll"):
                return super().value(replace(expr, text=text[:-1]))
            case Literal(text=text) if text.lower().endswith("llu"):
                return super().value(replace(expr, text=text[:-2] + "u"))
            case Call():
                return self._call(expr)
            case _:
                return super().value(expr)

    def _call(self, expr: Call) -> CText:
        arguments = [self.value(argument) for argument in expr.arguments]
        operator = python_call(expr, arguments, self.index.macros) if self.scop.source is None else None
        if operator is not None:
            return operator
        name = device_function(expr, self.scop, self.float_functions)
        assert name is not None, "refused before"
        if name in ("abs", "labs", "llabs"):   # OpenCL's has an unsigned result
            return cast(expr.dtype.c_name, call("abs", arguments))
        return call(name, arguments)
