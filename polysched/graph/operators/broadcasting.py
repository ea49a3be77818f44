"""Operators of several operands that broadcast: arithmetic, comparisons, logic, selection, conversion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from polysched.graph.operators.elementwise import ANY, FLOATS, INTEGERS, NUMBERS, TRUTH, fits
from polysched.graph.operators.families.narrow import ROUNDINGS, narrowed
from polysched.graph.operators.operator import Kind, Operator, Site, broadcast, one_type
from polysched.graph.values.element_types import ELEMENT_TYPES, array_type, is_narrow
from polysched.graph.values.refusals import Part, Remedy
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT64, LONGDOUBLE, DType
from polysched.scop.expression import Expression, equal, maximum, minimum, not_equal, where
from polysched.scop.expression import math_function as call
from polysched.scop.expression.tensors import Constant, Convert


def several(name: str, element: Callable[..., Expression], reference: Callable[..., Any], *, takes: str = NUMBERS,
            truth: bool = False, least: int = 2, most: int | None = 2,
            words: Mapping[str, tuple[str, ...]] | None = None) -> Operator:
    """An operator of operands of one type that broadcast.

    Parameters
    ----------
    least, most : the number of operands; None for any.
    words : see `Operator`.
    """
    def types(site: Site) -> tuple[TensorType, ...]:
        count = len(site.inputs)
        if count < least or (most is not None and count > most):
            raise site.refusal(f"{count} operands", Part.WHOLE, hint=(
                f"give at least {least}" if most is None else f"give {most}"))
        dtype = one_type(site, range(count))
        if not fits(dtype, takes):
            raise site.refusal(f"the operands have elements of {dtype}, {takes} are wanted", tuple(range(count)),
                               hint=Remedy.CONVERT)
        shape = broadcast(site, [site.type(p) for p in range(count)])
        return (TensorType(BOOL if truth else dtype, shape),)

    def computed(site: Site, *operands: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            result: np.ndarray = np.asarray(reference(site, *operands))
        return result if truth or result.dtype == object else result.astype(operands[0].dtype)

    return Operator(name=name, kind=Kind.BROADCAST, types=types, reference=computed, element=element,
                    words=words or {})


def zero_of(dtype: DType) -> Expression:
    """0 of an element type."""
    return Convert(Constant(0), dtype)


def safe_divisor(a: Expression, b: Expression, dtype: DType) -> Expression:
    """A divisor for which the division of integers does not trap: 1 in place of 0, and of -1, which is kept apart."""
    one = Convert(Constant(1), dtype)
    safe = where(equal(b, zero_of(dtype)), one, b)
    return where(equal(b, zero_of(dtype) - one), one, safe) if dtype.is_signed else safe


def floor_quotient(a: Expression, b: Expression, dtype: DType) -> Expression:
    """`floor(a / b)` of integers; 0 where b is 0, and wrapped where it does not fit."""
    quotient: Expression = a // safe_divisor(a, b, dtype)
    if dtype.is_signed:
        quotient = where(equal(b, zero_of(dtype) - Convert(Constant(1), dtype)), zero_of(dtype) - a, quotient)
    return where(equal(b, zero_of(dtype)), zero_of(dtype), quotient)


def floor_remainder(a: Expression, b: Expression, dtype: DType) -> Expression:
    """`a - floor(a / b) b` of integers; 0 where b is 0."""
    remainder: Expression = a % safe_divisor(a, b, dtype)
    return where(equal(b, zero_of(dtype)), zero_of(dtype), remainder)


def _divide(site: Site, a: Expression, b: Expression) -> Expression:
    dtype = site.type().dtype
    if dtype.is_float:
        return a / b
    quotient = floor_quotient(a, b, dtype)
    if not dtype.is_signed:
        return quotient
    zero, one = zero_of(dtype), Convert(Constant(1), dtype)
    inexact = not_equal(floor_remainder(a, b, dtype), zero)
    return quotient + where(inexact & ((a < zero) ^ (b < zero)), one, zero)


def _np_divide(site: Site, a: np.ndarray, b: np.ndarray) -> Any:
    if object in (a.dtype, b.dtype):
        return np.frompyfunc(lambda n, d: Size.of(n).truncated(d), 2, 1)(a, b)
    if a.dtype.kind == "f":
        return a / b
    quotient = np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b)))
    inexact = (b != 0) & (np.remainder(a, np.where(b == 0, 1, b)) != 0)
    return np.where(inexact & ((a < 0) != (b < 0)), quotient + 1, quotient)


def _floor_divide(site: Site, a: Expression, b: Expression) -> Expression:
    dtype = site.type().dtype
    return call("floor", a / b) if dtype.is_float else floor_quotient(a, b, dtype)


def _np_floor_divide(site: Site, a: np.ndarray, b: np.ndarray) -> Any:
    if a.dtype.kind == "f":
        return np.floor(a / b)
    return np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b)))


def _modulo(site: Site, a: Expression, b: Expression) -> Expression:
    dtype = site.type().dtype
    if dtype.is_float:
        return call("fmod", a, b) if site.attribute("fmod", 0) else a % b
    if not site.attribute("fmod", 0) or not dtype.is_signed:
        return floor_remainder(a, b, dtype)
    zero, remainder = zero_of(dtype), floor_remainder(a, b, dtype)
    adjust = not_equal(remainder, zero) & ((a < zero) ^ (b < zero))
    return where(adjust, remainder - b, remainder)


def _np_modulo(site: Site, a: np.ndarray, b: np.ndarray) -> Any:
    return np.fmod(a, b) if site.attribute("fmod", 0) else np.mod(a, b)


def _extremum(pick: Callable[..., Expression], site: Site, operands: tuple[Expression, ...]) -> Expression:
    def of_two(a: Expression, b: Expression) -> Expression:
        chosen: Expression = pick(a, b)
        if not site.type().dtype.is_float:
            return chosen
        return where(not_equal(a, a), a, where(not_equal(b, b), b, chosen))
    return reduce(of_two, operands)


def _shift(site: Site, a: Expression, b: Expression) -> Expression:
    dtype = site.type().dtype
    fits_in = b < Convert(Constant(dtype.bits), dtype)
    if dtype.is_signed:
        fits_in = fits_in & (b >= zero_of(dtype))
    amount = where(fits_in, b, zero_of(dtype))
    if site.attribute("direction") == "LEFT":
        return where(fits_in, a << amount, zero_of(dtype))
    beyond = where(a < zero_of(dtype), zero_of(dtype) - Convert(Constant(1), dtype), zero_of(dtype)) if (
        dtype.is_signed) else zero_of(dtype)
    return where(fits_in, a >> amount, beyond)


def _np_shift(site: Site, a: np.ndarray, b: np.ndarray) -> Any:
    return np.left_shift(a, b) if site.attribute("direction") == "LEFT" else np.right_shift(a, b)


def _mean(site: Site, *operands: Expression) -> Expression:
    return reduce(lambda a, b: a + b, operands) / float(len(operands))


ARITHMETIC = (
    several("Add", lambda site, a, b: a + b, lambda site, a, b: a + b),
    several("Sub", lambda site, a, b: a - b, lambda site, a, b: a - b),
    several("Mul", lambda site, a, b: a * b, lambda site, a, b: a * b),
    several("Div", _divide, _np_divide),
    several("Mod", _modulo, _np_modulo),
    several("FloorDiv", _floor_divide, _np_floor_divide),
    several("Max", lambda site, *o: _extremum(maximum, site, o), lambda site, *o: reduce(np.maximum, o),
            least=1, most=None),
    several("Min", lambda site, *o: _extremum(minimum, site, o), lambda site, *o: reduce(np.minimum, o),
            least=1, most=None),
    several("Sum", lambda site, *o: reduce(lambda a, b: a + b, o), lambda site, *o: reduce(np.add, o),
            least=1, most=None),
    several("Mean", _mean, lambda site, *o: reduce(np.add, o) / len(o), takes=FLOATS, least=1, most=None),
    several("PRelu", lambda site, x, slope: where(x < 0, x * slope, x), lambda site, x, s: np.where(x < 0, x * s, x)),
    several("BitShift", _shift, _np_shift, takes=INTEGERS, words={"direction": ("", "LEFT", "RIGHT")}),
    several("BitwiseAnd", lambda site, a, b: a & b, lambda site, a, b: a & b, takes=INTEGERS),
    several("BitwiseOr", lambda site, a, b: a | b, lambda site, a, b: a | b, takes=INTEGERS),
    several("BitwiseXor", lambda site, a, b: a ^ b, lambda site, a, b: a ^ b, takes=INTEGERS))

COMPARISONS = (
    several("And", lambda site, a, b: a & b, lambda site, a, b: a & b, takes=TRUTH, truth=True),
    several("Or", lambda site, a, b: a | b, lambda site, a, b: a | b, takes=TRUTH, truth=True),
    several("Xor", lambda site, a, b: a ^ b, lambda site, a, b: a ^ b, takes=TRUTH, truth=True),
    several("Equal", lambda site, a, b: equal(a, b), lambda site, a, b: a == b, takes=ANY, truth=True),
    several("NotEqual", lambda site, a, b: not_equal(a, b), lambda site, a, b: a != b, takes=ANY, truth=True),
    several("Less", lambda site, a, b: a < b, lambda site, a, b: a < b, truth=True),
    several("LessOrEqual", lambda site, a, b: a <= b, lambda site, a, b: a <= b, truth=True),
    several("Greater", lambda site, a, b: a > b, lambda site, a, b: a > b, truth=True),
    several("GreaterOrEqual", lambda site, a, b: a >= b, lambda site, a, b: a >= b, truth=True))


MULTIPLIED = (1, 2, 3)
"""Exponents of whole numbers for which products are taken, which wrap, as ONNX Runtime does for one exponent."""


def _power_types(site: Site) -> tuple[TensorType, ...]:
    if BOOL in (site.type(0).dtype, site.type(1).dtype):
        raise site.refusal("a power of truth values", (0, 1), hint=Remedy.CONVERT)
    return (TensorType(site.type(0).dtype, broadcast(site, [site.type(0), site.type(1)])),)


def _power(site: Site, base: Expression, exponent: Expression) -> Expression:
    dtype, other = site.type(0).dtype, site.type(1).dtype
    known = site.known[1]
    if known is not None and known.size == 1 and known.dtype != object and float(known.ravel()[0]) in MULTIPLIED:
        return reduce(lambda a, b: a * b, [base] * int(known.ravel()[0]))
    if dtype.is_integer:
        wide = call("pow", base.astype(LONGDOUBLE), exponent.astype(LONGDOUBLE))
        power: Expression = call("rint", wide).astype(dtype) if other.is_integer else wide.astype(dtype)
        for count in MULTIPLIED:
            product = reduce(lambda a, b: a * b, [base] * count)
            power = where(equal(exponent, Convert(Constant(count), other)), product, power)
        return power
    if other == dtype or other.bits < dtype.bits:
        return call("pow", base, exponent.astype(dtype))
    return call("pow", base.astype(FLOAT64), exponent.astype(FLOAT64)).astype(dtype)


def _np_power(site: Site, base: np.ndarray, exponent: np.ndarray) -> Any:
    with np.errstate(all="ignore"):
        if base.dtype.kind in "iu":
            wide = np.power(base.astype(np.longdouble), exponent.astype(np.longdouble))
            power = (np.rint(wide) if exponent.dtype.kind in "iu" else wide).astype(base.dtype)
            for count in MULTIPLIED:
                power = np.where(exponent == count, reduce(np.multiply, [base] * count), power)
            return power
        return np.power(base, exponent).astype(base.dtype)


def _where_types(site: Site) -> tuple[TensorType, ...]:
    if site.type(0).dtype != BOOL:
        raise site.refusal("the condition is no truth value", 0,
                           hint="compare with 0, or put a Cast to bool ahead of it")
    return (TensorType(one_type(site, (1, 2)), broadcast(site, [site.type(p) for p in range(3)])),)


def _clip_types(site: Site) -> tuple[TensorType, ...]:
    if not fits(one_type(site, range(len(site.inputs))), NUMBERS):
        raise site.refusal("truth values are not clipped", 0, hint=Remedy.CONVERT)
    if any(site.has(p) and site.type(p).elements != 1 for p in (1, 2)):
        raise site.refusal("a bound is no scalar", (1, 2), hint="give one element each")
    return (site.type(),)


def _clip(site: Site, x: Expression, least: Expression | None = None, most: Expression | None = None) -> Expression:
    result = x
    if least is not None:
        result = where(result < least, least, result)
    return result if most is None else where(result > most, most, result)


def _np_clip(site: Site, x: np.ndarray, least: np.ndarray | None = None, most: np.ndarray | None = None) -> Any:
    result = x if least is None else np.maximum(x, least.reshape(()))
    return result if most is None else np.minimum(result, most.reshape(()))


def _cast_types(site: Site) -> tuple[TensorType, ...]:
    name = site.attribute("to")
    if name not in ELEMENT_TYPES:
        raise site.refusal(f"a conversion to {name}", "to",
                           hint="element types are " + ", ".join(sorted(ELEMENT_TYPES)))
    return (site.type().with_dtype(ELEMENT_TYPES[name]),)


def _cast(site: Site, x: Expression) -> Expression:
    to, own = ELEMENT_TYPES[site.attribute("to")], site.type().dtype
    if to == BOOL:
        return not_equal(x, zero_of(own))
    if own.is_float and to.is_integer and to.bits < 64:
        return x.astype("int64").astype(to)
    return x.astype(to)


def _np_cast(site: Site, x: np.ndarray) -> np.ndarray:
    if x.dtype == object:
        return x
    return _np_converted(site, x, ELEMENT_TYPES[site.attribute("to")])


def _np_converted(site: Site, x: np.ndarray, dtype: DType) -> np.ndarray:
    own = site.type().dtype
    if own == dtype:
        return x
    if is_narrow(own):
        x = x.astype(np.float32 if own.is_float else np.int8 if own.is_signed else np.uint8)
    if is_narrow(dtype):
        return narrowed(site, x, dtype)
    to = array_type(dtype)
    with np.errstate(all="ignore"):
        if x.dtype.kind == "f" and to.kind in "iu" and to.itemsize < 8:
            return x.astype(np.int64).astype(to)
        return x.astype(to)


def _cast_like_types(site: Site) -> tuple[TensorType, ...]:
    return (site.type().with_dtype(site.type(1).dtype),)


def _cast_like(site: Site, build: Any, x: str, like: str) -> str:
    name: str = build.op("Cast", x, to=site.type(1).dtype.name, **dict(site.node.attributes))
    return name


def _np_cast_like(site: Site, x: np.ndarray, like: np.ndarray) -> np.ndarray:
    return _np_converted(site, x, site.type(1).dtype)


SELECTION = (
    Operator(name="Pow", kind=Kind.BROADCAST, types=_power_types, reference=_np_power, element=_power),
    Operator(name="Where", kind=Kind.BROADCAST, types=_where_types, narrow=True,
             element=lambda site, c, a, b: where(c, a, b), reference=lambda site, c, a, b: np.where(c, a, b)),
    Operator(name="Clip", kind=Kind.BROADCAST, types=_clip_types, reference=_np_clip, element=_clip),
    Operator(name="Cast", kind=Kind.ELEMENTWISE, types=_cast_types, reference=_np_cast, element=_cast,
             narrow=True, words={"round_mode": ROUNDINGS}),
    Operator(name="CastLike", kind=Kind.ELEMENTWISE, types=_cast_like_types, reference=_np_cast_like,
             composition=_cast_like, narrow=True, words={"round_mode": ROUNDINGS}))

OPERATORS = (*ARITHMETIC, *COMPARISONS, *SELECTION)
