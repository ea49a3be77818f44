"""The two statements of a reduction: the initialisation and the update of one element."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.scop.body import Assign, Expr, Select
from polysched.scop.construction import functions, values
from polysched.scop.construction.promotion import computation_type
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import Value
from polysched.scop.dtypes import BOOL, DType, promote

NEUTRAL = {"sum": 0, "prod": 1}
OPERATOR = {"sum": "+", "prod": "*"}


def neutral_element(kind: str, dtype: DType) -> Expr:
    """What a reduction (`sum`, `prod`, `max`, `min`) starts from."""
    if kind in NEUTRAL:
        start = NEUTRAL[kind]
        return values.number(bool(start)).expr if dtype == BOOL else values.converted(values.number(start), dtype)
    return functions.infinity(dtype, -1 if kind == "max" else 1)


def initialisation(region: Region, kind: str, array: str, element: Sequence[Value]) -> Assign:
    """The assignment that starts a reduction in an element."""
    dtype = region.arrays[array].dtype
    return Assign(target=region.touch(array, element), value=neutral_element(kind, dtype), dtype=dtype)


def update(region: Region, kind: str, array: str, element: Sequence[Value], operand: Value, *,
           propagate_nan: bool = False) -> Assign:
    """The assignment that takes one more operand into the element.

    Parameters
    ----------
    operand : in the element's type already.
    propagate_nan : a NaN among the operands of `max` or `min` is the result, as in NumPy.
    """
    dtype = region.arrays[array].dtype
    target = region.touch(array, element)
    op = OPERATOR.get(kind)
    if op is not None and promote(dtype) == computation_type(dtype, op):
        return Assign(target=target, value=operand.expr, dtype=dtype, op=op, read=region.touch(array, element))
    old = region.load(array, element)
    if op is not None:
        new = values.arithmetic(op, old, operand)
    elif propagate_nan and dtype.is_float:
        return Assign(target=target, value=_nan_or_extremum(kind, old, operand), dtype=dtype)
    else:
        new = values.extremum(kind, old, operand)
    return Assign(target=target, value=new.expr, dtype=dtype)


def _nan_or_extremum(kind: str, old: Value, operand: Value) -> Expr:
    """The larger or smaller of two floats, or NaN; where the operand is guarded, so is the whole.

    Rewrite:  v = c ? a : -infinity; max(v, x)  ->  c ? (a != a ? a : a > x ? a : x) : x

    The test of NaN stands outside, so that a compiler of scalar code has an instruction and a branch never taken: with
    `a > x || a != a` gcc 12 branches on the comparison (MaxPool of 3 x 3 took 10 ms for 1.6 ms).
    """
    expr = operand.expr
    if isinstance(expr, Select) and expr.otherwise == neutral_element(kind, operand.dtype):
        inner = _nan_or_extremum(kind, old, Value(expr.then, operand.dtype))
        return Select(expr.condition, inner, old.expr, operand.dtype)
    better = values.select(values.compare(">" if kind == "max" else "<", operand, old), operand, old)
    return values.select(values.compare("!=", operand, operand), operand, better).expr


def best_so_far(region: Region, kind: str, position: tuple[str, Sequence[Value]], best: tuple[str, Sequence[Value]],
                operand: Value, place: Value, *, propagate_nan: bool = False) -> tuple[Assign, Assign]:
    """The update of an `argmax` (kind `max`) or `argmin`: the position and the value of the best element together.

    Parameters
    ----------
    position, best : the array and the subscripts of the element that holds each of them.
    """
    old_best, old = region.load(*best), region.load(*position)
    better = values.compare(">" if kind == "max" else "<", operand, old_best)
    if propagate_nan and operand.dtype.is_float:
        first_nan = values.logical("&&", values.compare("!=", operand, operand),
                                   values.compare("==", old_best, old_best))
        better = values.logical("||", better, first_nan)
    pairs = ((position, values.select(better, place, old)), (best, values.select(better, operand, old_best)))
    first, second = (Assign(target=region.touch(*element), value=new.expr, dtype=region.arrays[element[0]].dtype)
                     for element, new in pairs)
    return first, second
