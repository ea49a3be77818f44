"""What operations of `arith` and `math` compute, as values.

Integers have no sign in MLIR: values are signed here, and an operation on unsigned ones converts to them and back.
A value of type `index` is an integer with an affine form.

Source: MLIR's documentation, "'arith' Dialect" and "'math' Dialect".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from polysched.scop.construction import values
from polysched.scop.construction.functions import (
    absolute,
    bitwise,
    call,
    ceil_divide,
    floor_divide,
    reciprocal_root,
    truncated_quotient,
    truncated_remainder,
)
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, INT64, UINT8, UINT16, UINT32, UINT64, DType
from polysched.scop.mlir_frontend.operations import TYPES, Operation

_UNSIGNED = {"i8": UINT8, "i16": UINT16, "i32": UINT32, "i64": UINT64}
_COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_PREDICATES_F = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
                 "uno", "true")
_PREDICATES_I = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_MATH_H = {"absf": "fabs", "powf": "pow", "roundeven": "rint"}
_EXACT_INDEX = ("addi", "subi", "muli", "floordivsi", "divsi", "remsi", "maxsi", "minsi", "select", "index_cast",
                "index_castui", "ceildivsi")

Operator = Callable[[Value, Value], Value]
_BINARY: Mapping[str, Operator] = {
    **{name: partial(values.arithmetic, op) for name, op in
       {"addf": "+", "subf": "-", "mulf": "*", "addi": "+", "subi": "-", "muli": "*"}.items()},
    **{name: partial(bitwise, op) for name, op in
       {"andi": "&", "ori": "|", "xori": "^", "shli": "<<", "shrsi": ">>"}.items()},
    "divf": values.divide, "remf": lambda a, b: call("fmod", (a, b)),
    "divsi": truncated_quotient, "remsi": truncated_remainder, "floordivsi": floor_divide, "ceildivsi": ceil_divide,
    "maximumf": partial(values.extremum, "max", propagate_nan=True),
    "minimumf": partial(values.extremum, "min", propagate_nan=True),
    "maxnumf": lambda a, b: call("fmax", (a, b)), "minnumf": lambda a, b: call("fmin", (a, b)),
    "maxsi": partial(values.extremum, "max"), "minsi": partial(values.extremum, "min")}
_OF_UNSIGNED: Mapping[str, Operator] = {
    "divui": truncated_quotient, "remui": truncated_remainder, "ceildivui": ceil_divide,
    "shrui": partial(bitwise, ">>"), "maxui": partial(values.extremum, "max"), "minui": partial(values.extremum, "min")}


_CASTS = ("extf", "truncf", "extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui", "index_cast",
          "index_castui", "bitcast")
OPERANDS: Mapping[str, int] = {**dict.fromkeys((*_BINARY, *_OF_UNSIGNED, "cmpf", "cmpi"), 2), "select": 3,
                               **dict.fromkeys((*_CASTS, "negf"), 1)}
"""How many each operation of `arith` has, but for `constant`."""
_OF_FLOATS = frozenset(("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf", "cmpf",
                        "negf", "extf", "truncf", "fptosi", "fptoui"))


def computed(operation: Operation, operands: Sequence[Value]) -> Value:
    """The result of an operation.

    Raises
    ------
    CannotExpress : a body has no form for it, or it has other operands than such an operation.
    """
    dialect, _, name = operation.name.partition(".")
    kind = operation.types[0]
    if kind == "index" and name not in _EXACT_INDEX:
        raise CannotExpress(f"{operation.name} of values of type index")
    if dialect == "math":
        return _function(name, operands)
    if name not in OPERANDS:
        raise CannotExpress(operation.name)
    if len(operands) != OPERANDS[name]:
        raise CannotExpress(f"{operation.name} of {len(operands)} operands")
    _require_kind(name, operands)
    if name in ("cmpi", "cmpf"):
        return _compared(operation, *operands)
    if name == "select":
        return values.select(*operands)
    if name == "negf":
        return values.negate(operands[0])
    if name in _BINARY:
        return _BINARY[name](*operands)
    if name in _OF_UNSIGNED:
        return values.cast(_OF_UNSIGNED[name](*(_unsigned(v) for v in operands)), _type(kind))
    return _converted(name, operands[0], kind)


def _require_kind(name: str, operands: Sequence[Value]) -> None:
    """Refuse integers where an operation of `arith` has floats, and the other way round."""
    if name != "select" and any(v.dtype.is_float != (name in _OF_FLOATS) for v in operands):
        raise CannotExpress(f"arith.{name} of {', '.join(str(v.dtype) for v in operands)}")


def constant(value: object, kind: str) -> Value:
    """A constant of a type.

    Raises
    ------
    CannotExpress : it is no number, or does not fit.
    """
    if kind == "index" and isinstance(value, int):
        return values.number(value)
    if isinstance(value, bool) or kind == "i1":
        return values.truth(values.number(bool(value)))
    dtype = _type(kind)
    if isinstance(value, int) and dtype.is_integer:
        _, largest = dtype.value_range()
        wrapped = value - (1 << dtype.bits) if largest < value < 1 << dtype.bits else value
        return values.Value(values.converted(values.number(wrapped), dtype), dtype)
    if not isinstance(value, (int, float)) or dtype.is_integer:
        raise CannotExpress("a constant that is no number of its type")
    return values.Value(values.float_literal(float(value), dtype), dtype)


def _type(kind: str) -> DType:
    if kind == "index":
        return INT64
    if kind not in TYPES:
        raise CannotExpress(f"a value of type {kind}", f"the types are index, {', '.join(TYPES)}")
    return TYPES[kind]


def _unsigned(value: Value) -> Value:
    for dtype in _UNSIGNED.values():
        if dtype.bits == value.dtype.bits and value.dtype != BOOL:
            return values.cast(value, dtype)
    raise CannotExpress(f"an operation on unsigned values of {value.dtype}")


def _converted(name: str, value: Value, kind: str) -> Value:
    """A conversion, whose name says what the bits mean."""
    if name in ("index_cast", "index_castui"):
        return _of_index(name, value, kind)
    if name == "bitcast":
        raise CannotExpress(f"arith.{name}")
    if value.dtype == BOOL:
        signed = values.negate(values.cast(value, INT64)) if name in ("extsi", "sitofp") else value
        return values.cast(signed, _type(kind))
    if name in ("extui", "uitofp"):
        return values.cast(_unsigned(value), _type(kind))
    if name == "fptoui":
        wide = next((t for t in _UNSIGNED.values() if t.bits == _type(kind).bits), UINT8)
        return values.cast(values.cast(value, wide), _type(kind))
    if name == "trunci" and kind == "i1":
        return values.truth(bitwise("&", value, values.cast(values.number(1), value.dtype)))
    return values.cast(value, _type(kind))


def _of_index(name: str, value: Value, kind: str) -> Value:
    """To or from `index`; the affine form of a parameter stays."""
    if name == "index_castui" and (value.dtype == BOOL or value.affine is None):
        raise CannotExpress(f"arith.{name}")
    if kind == "index" and value.affine is not None:
        return Value(values.converted(value, INT64), INT64, True, value.affine)
    return value if kind == "index" and value.weak else values.cast(value, _type(kind))


def _compared(operation: Operation, left: Value, right: Value) -> Value:
    predicate = operation.attributes.get("predicate")
    names = _PREDICATES_F if operation.name.endswith("f") else _PREDICATES_I
    if isinstance(predicate, int) and 0 <= predicate < len(names):
        predicate = names[predicate]
    if not isinstance(predicate, str) or predicate not in names:
        raise CannotExpress(f"a comparison {predicate}")
    if predicate in ("true", "false"):
        return values.number(predicate == "true")
    if operation.name.endswith("i"):
        if predicate[0] == "u":
            left, right = _unsigned(left), _unsigned(right)
        return values.compare(_COMPARED[predicate[-2:]], left, right)
    return _compared_floats(predicate, left, right)


def _compared_floats(predicate: str, left: Value, right: Value) -> Value:
    """Ordered predicates are false and unordered ones true where a side is no number."""
    ordered = values.logical("&&", values.compare("==", left, left), values.compare("==", right, right))
    if predicate in ("ord", "uno"):
        return ordered if predicate == "ord" else values.logical_not(ordered)
    if predicate in ("one", "ueq"):
        apart = values.logical("||", values.compare("<", left, right), values.compare(">", left, right))
        return apart if predicate == "one" else values.logical_not(apart)
    if predicate[0] == "o" or predicate == "une":
        return values.compare(_COMPARED[predicate[1:]], left, right)
    opposite = {"lt": ">=", "le": ">", "gt": "<=", "ge": "<"}[predicate[1:]]
    return values.logical_not(values.compare(opposite, left, right))


def _function(name: str, operands: Sequence[Value]) -> Value:
    of_one = {"absi": absolute, "rsqrt": reciprocal_root}
    if name in of_one and len(operands) == 1:
        return of_one[name](*operands)
    return call(_MATH_H.get(name, name), tuple(operands))
