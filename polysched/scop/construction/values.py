"""Typed values with an optional affine form, and NumPy's arithmetic on them.

A front end evaluates its expressions to `Value`s.  The expression tree of a value follows C, so every
conversion that NumPy makes silently stands in it as a `Cast`; an integer value that is an affine
function of parameters and loop iterators also carries that function, and a comparison of such values
the set where it is true.  While a Scop is being made, iterators are parameters of those isl objects, by
unique names, so values made at different depths combine without lifting.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import islpy as isl
import numpy as np

from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, ParameterRef, Select, Unary
from polysched.scop.construction.promotion import computation_type, result_type, to_numpy
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, LONGDOUBLE, DType, Kind


class CannotExpress(ValueError):
    """An operation that a body has no form for, or that NumPy refuses; the front end adds the place.

    Parameters
    ----------
    problem : what is wrong.
    hint : what to write instead.
    """

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


@dataclass(frozen=True, eq=False)
class Value:
    """One scalar value.

    Parameters
    ----------
    expr : how C computes it.
    dtype : its type in NumPy's sense.
    weak : a Python number, which takes the type of the NumPy value that it meets.
    affine : the value as a function of parameters and iterators; None when it is not affine.
    condition : where a truth value is true; None when that depends on data.
    necessary : where alone a truth value can be true, when only a part of it is affine.
    """

    expr: Expr
    dtype: DType
    weak: bool = False
    affine: isl.PwAff | None = None
    condition: isl.Set | None = None
    necessary: isl.Set | None = None

    @property
    def literal(self) -> int | float | None:
        """The number, when the value is written as a constant."""
        return self.expr.value if isinstance(self.expr, Literal) else None


def affine_constant(value: int) -> isl.PwAff:
    """A constant as an affine function."""
    return isl.PwAff(f"{{ [({value})] }}")


def affine_symbol(name: str) -> isl.PwAff:
    """A parameter or iterator as an affine function."""
    return isl.PwAff(f"[{name}] -> {{ [({name})] }}")


def number(value: int | float | bool) -> Value:
    """A Python constant: a weak value."""
    if isinstance(value, bool):
        text = "{ : }" if value else "{ : 1 = 0 }"
        return Value(Literal(str(int(value)), int(value), INT32), BOOL, True, None, isl.Set(text))
    if isinstance(value, int):
        return Value(integer_literal(value, INT64), INT64, True, affine_constant(value))
    return Value(float_literal(value, FLOAT64), FLOAT64, True)


def parameter(name: str, dtype: DType = INT64) -> Value:
    """A symbolic size: a Python integer whose value is not known yet."""
    return Value(ParameterRef(name, dtype), INT64, True, affine_symbol(name))


def iterator(name: str, symbol: str) -> Value:
    """A loop iterator; `symbol` is its unique name among the isl parameters."""
    return Value(IteratorRef(name, INT64), INT64, True, affine_symbol(symbol))


def integer_literal(value: int, dtype: DType) -> Expr:
    """A constant of an integer type, in a C spelling whose type computes the same.

    A constant that fits int is written without a suffix where the type is wider: C widens it.
    """
    least, largest = dtype.value_range()
    if not least <= value <= largest:
        raise CannotExpress(f"the constant {value} does not fit {dtype}")
    if value < 0:
        if value == least and dtype.bits >= 32:
            return Binary("-", integer_literal(value + 1, dtype), integer_literal(1, dtype), dtype)
        inner = integer_literal(-value, dtype if -value <= largest else INT32)
        return Unary("-", inner, max((INT32, dtype), key=lambda t: t.bits))
    if dtype.kind is Kind.UNSIGNED and dtype.bits >= 32:
        return Literal(f"{value}u" if dtype.bits == 32 else f"{value}ul", value, dtype)
    if value <= INT32.value_range()[1]:
        return Literal(str(value), value, INT32)
    return Literal(f"{value}L", value, INT64)


def float_literal(value: float, dtype: DType) -> Expr:
    """A constant of a floating type, rounded to it."""
    if dtype in (FLOAT16, BFLOAT16):
        return Cast(float_literal(value, FLOAT32), dtype)
    with np.errstate(over="ignore"):
        rounded = value if dtype == LONGDOUBLE else float(to_numpy(dtype).type(value))
    suffix = {FLOAT32: "f", LONGDOUBLE: "L"}.get(dtype, "")
    if math.isnan(rounded):
        return Literal(f'__builtin_nan{suffix.lower()}("")', rounded, dtype)
    if rounded < 0 or (rounded == 0 and math.copysign(1.0, rounded) < 0):
        return Unary("-", float_literal(-value, dtype), dtype)
    if math.isinf(rounded):
        return Literal(f"__builtin_inf{suffix.lower()}()", rounded, dtype)
    text = repr(rounded)
    if dtype == FLOAT32:
        plain = rounded == 0 or 1e-4 <= rounded < 1e16
        spell = np.format_float_positional if plain else np.format_float_scientific
        text = spell(np.float32(rounded), unique=True, trim="0")
    return Literal(text + suffix, rounded, dtype)


def constant_of(value: Value) -> int | float | None:
    """The number behind a literal, a negated one included; None when the value is not a constant."""
    match value.expr:
        case Literal():
            return value.expr.value
        case Unary(op="-", operand=Literal() as inner):
            return -inner.value
    return None


def converted(value: Value, dtype: DType) -> Expr:
    """The expression of a value as a given type: the literal respelled, or an explicit conversion."""
    constant = constant_of(value)
    if value.weak and constant is not None and dtype.is_float:
        return float_literal(float(constant), dtype)
    if value.weak and isinstance(constant, int) and dtype != BOOL:
        if dtype.bits < 32:
            return Cast(integer_literal(constant, dtype), dtype)
        return integer_literal(constant, dtype)
    if value.expr.dtype == dtype:
        return value.expr
    if value.dtype == dtype == INT64 and value.weak:
        return value.expr
    if value.dtype == BOOL and dtype != BOOL:
        return Cast(truth_expression(value), dtype)
    return Cast(value.expr, dtype)


def cast(value: Value, dtype: DType) -> Value:
    """An explicit conversion, as `astype` or a NumPy type's constructor does it."""
    if value.dtype == dtype and not value.weak:
        return value
    if dtype == BOOL:
        return truth(value)
    if value.weak and value.dtype.is_float and dtype.is_integer and value.literal is not None:
        return Value(integer_literal(int(value.literal), dtype), dtype)
    return Value(converted(value, dtype), dtype)


def as_type(value: Value, dtype: DType, op: str) -> Expr:
    """The operand of an operation of result type `dtype`, in the type in which it is computed."""
    inner = computation_type(dtype, op)
    if value.weak:
        constant = constant_of(value)
        if dtype.is_integer and isinstance(constant, int):
            least, largest = dtype.value_range()
            if not least <= constant <= largest:
                raise CannotExpress(f"the Python integer {constant} does not fit {dtype}",
                                    "NumPy refuses it too: convert the other operand to a wider type")
        if dtype.is_float and inner != dtype:  # NumPy rounds a Python number to the short type before it computes
            return Cast(converted(value, dtype), inner)
        return converted(value, inner)
    narrowed = value if value.dtype == dtype else cast(value, dtype)
    return narrowed.expr if narrowed.expr.dtype == inner else converted(narrowed, inner)


def narrowed(expr: Expr, dtype: DType) -> Expr:
    """The result of a computation brought back to its NumPy type."""
    return expr if expr.dtype == dtype else Cast(expr, dtype)


def arithmetic(op: str, left: Value, right: Value) -> Value:
    """`left op right` for `+`, `-` and `*`, in NumPy's common type; affine where the operands are."""
    if left.dtype == right.dtype == BOOL and not (left.weak and right.weak):
        return _boolean_arithmetic(op, left, right)
    if (same := _folded(op, left, right)) or (same := _unchanged(op, left, right)):
        return same
    dtype, weak = result_type(left.dtype, left.weak, right.dtype, right.weak)
    if dtype == BOOL:
        dtype = INT64
    inner = computation_type(dtype, op)
    expr = Binary(op, as_type(left, dtype, op), as_type(right, dtype, op), inner)
    affine = _affine_arithmetic(op, left, right) if dtype == INT64 else None
    return Value(narrowed(expr, dtype), dtype, weak, affine)


def _boolean_arithmetic(op: str, left: Value, right: Value) -> Value:
    if op == "-":
        raise CannotExpress("NumPy has no subtraction of booleans", "use `^` or `logical_xor`")
    return logical("||" if op == "+" else "&&", left, right)


def _folded(op: str, left: Value, right: Value) -> Value | None:
    """Two Python constants computed now."""
    x, y = constant_of(left), constant_of(right)
    if not (left.weak and right.weak) or x is None or y is None:
        return None
    operation: dict[str, Callable[[], int | float]] = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y}
    result = operation[op]()
    return number(result)


def _unchanged(op: str, left: Value, right: Value) -> Value | None:
    """The other operand, where one Python integer is neutral for another: `i + 0`, `1 * i`."""
    if not (left.weak and right.weak and left.dtype == right.dtype == INT64):
        return None
    neutral = 1 if op == "*" else 0
    if constant_of(right) == neutral:
        return left
    if op != "-" and constant_of(left) == neutral:
        return right
    return None


def _affine_arithmetic(op: str, left: Value, right: Value) -> isl.PwAff | None:
    a, b = left.affine, right.affine
    if a is None or b is None:
        return None
    if op == "+":
        return a.add(b)
    if op == "-":
        return a.sub(b)
    return a.mul(b) if a.is_cst() or b.is_cst() else None


def negate(value: Value) -> Value:
    """`-value`."""
    constant = constant_of(value)
    if value.weak and constant is not None:
        return number(-constant)
    if value.dtype == BOOL:
        if not value.weak:
            raise CannotExpress("NumPy has no negation of booleans", "use `not` or `~`")
        value = Value(Cast(truth_expression(value), INT64), INT64, True)
    inner = computation_type(value.dtype, "-")
    expr = Unary("-", as_type(value, value.dtype, "-"), inner)
    return Value(narrowed(expr, value.dtype), value.dtype, value.weak,
                 value.affine.neg() if value.affine is not None else None)


def divide(left: Value, right: Value) -> Value:
    """True division: integers divide as float64."""
    x, y = constant_of(left), constant_of(right)
    if left.weak and right.weak and x is not None and y:
        return number(x / y)
    dtype, weak = result_type(left.dtype, left.weak, right.dtype, right.weak)
    if dtype.is_integer:
        dtype = FLOAT64
    expr = Binary("/", as_type(left, dtype, "/"), as_type(right, dtype, "/"), computation_type(dtype, "/"))
    return Value(narrowed(expr, dtype), dtype, weak)


def compare(op: str, left: Value, right: Value) -> Value:
    """A comparison; its `condition` is exact where both sides are affine."""
    dtype = _comparison_type(left, right)
    expr = Binary(op, as_type(left, dtype, op), as_type(right, dtype, op), INT32)
    condition = None
    if left.affine is not None and right.affine is not None:
        sets = {"<": left.affine.lt_set, "<=": left.affine.le_set, ">": left.affine.gt_set,
                ">=": left.affine.ge_set, "==": left.affine.eq_set, "!=": left.affine.ne_set}
        condition = sets[op](right.affine)
    return Value(Cast(expr, BOOL), BOOL, left.weak and right.weak, None, condition)


def _comparison_type(left: Value, right: Value) -> DType:
    dtype, _ = result_type(left.dtype, left.weak, right.dtype, right.weak)
    if dtype == BOOL:
        return INT32
    for value in (left, right):
        constant = constant_of(value)
        if value.weak and isinstance(constant, int) and dtype.is_integer and dtype != BOOL:
            least, largest = dtype.value_range()
            if not least <= constant <= largest:
                return INT64
    return dtype


def truth_expression(value: Value) -> Expr:
    """The condition as C tests it: without the conversion to bool around a comparison."""
    if isinstance(value.expr, Cast) and value.expr.dtype == BOOL and value.dtype == BOOL \
            and value.expr.operand.dtype == INT32:
        return value.expr.operand
    return value.expr


def truth(value: Value) -> Value:
    """A value as a truth value: itself when it is one, else whether it differs from zero."""
    if value.dtype == BOOL:
        return value
    return compare("!=", value, number(0))


def logical(op: str, left: Value, right: Value) -> Value:
    """`left && right` or `left || right` of truth values."""
    left, right = truth(left), truth(right)
    condition = None
    if left.condition is not None and right.condition is not None:
        condition = (left.condition.intersect(right.condition) if op == "&&"
                     else left.condition.union(right.condition))
    expr = Binary(op, truth_expression(left), truth_expression(right), INT32)
    return Value(Cast(expr, BOOL), BOOL, left.weak and right.weak, None, condition, _necessary(op, left, right))


def _necessary(op: str, left: Value, right: Value) -> isl.Set | None:
    sides = [v.condition if v.condition is not None else v.necessary for v in (left, right)]
    known = [side for side in sides if side is not None]
    if len(known) == 2:
        return known[0].intersect(known[1]) if op == "&&" else known[0].union(known[1])
    return known[0] if known and op == "&&" else None


def logical_not(value: Value) -> Value:
    """Whether a value is zero."""
    value = truth(value)
    condition = None if value.condition is None else value.condition.complement()
    return Value(Cast(Unary("!", truth_expression(value), INT32), BOOL), BOOL, value.weak, None, condition)


def select(condition: Value, then: Value, otherwise: Value) -> Value:
    """`then if condition else otherwise`, both brought to their common type."""
    condition = truth(condition)
    dtype, weak = result_type(then.dtype, then.weak, otherwise.dtype, otherwise.weak)
    affine = None
    if condition.condition is not None and then.affine is not None and otherwise.affine is not None:
        affine = then.affine.intersect_params(condition.condition).union_add(
            otherwise.affine.intersect_params(condition.condition.complement())).coalesce()
    test = truth_expression(condition)
    if dtype == BOOL:
        return Value(Cast(Select(test, truth_expression(then), truth_expression(otherwise), INT32), BOOL), BOOL, weak)
    return Value(Select(test, converted(then, dtype), converted(otherwise, dtype), dtype), dtype, weak, affine)


def extremum(kind: str, left: Value, right: Value, *, propagate_nan: bool = False) -> Value:
    """The smaller (`min`) or larger (`max`) of two values.

    As Python's builtin, the left one stays unless the right one is strictly better; with
    `propagate_nan` a NaN on either side is the result, as with `numpy.minimum`.
    """
    x, y = constant_of(left), constant_of(right)
    if left.weak and right.weak and x is not None and y is not None:
        return number(min(x, y) if kind == "min" else max(x, y))
    op = "<" if kind == "min" else ">"
    dtype, _ = result_type(left.dtype, left.weak, right.dtype, right.weak)
    if propagate_nan and dtype.is_float:
        keep = logical("||", compare(op, left, right), compare("!=", left, left))
        return select(keep, left, right)
    result = select(compare(op, right, left), right, left)
    if left.affine is not None and right.affine is not None:
        exact = left.affine.min(right.affine) if kind == "min" else left.affine.max(right.affine)
        result = replace(result, affine=exact)
    return result
