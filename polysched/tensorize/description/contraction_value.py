"""The third reading of a text: its contraction, evaluated from its own value and nothing else.

All executions, and all elements of the result that do not depend on each other, are one NumPy vector; the loops of a
reduction run in their order.  Integers wrap as NumPy's do; functions without rounding are what operators say.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from polysched.records import dataclass
from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, Select, Unary
from polysched.scop.dtypes import DType, promote, usual_conversion
from polysched.tensorize.description.contraction import Contraction, Dimension, Limit, Result, Stage
from polysched.tensorize.description.derivation import ideal_of
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS
from polysched.tensorize.description.inputs import Array, Operands, carrier, shape_of
from polysched.tensorize.description.semantics import Element, Semantics, Variable, is_table_read, table_of

_COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
                "!=": np.not_equal}
_OPERATIONS = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
               "^": np.bitwise_xor}
_INTEGRAL = {"fabs": np.abs, "rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def evaluate_contraction(semantics: Semantics, contraction: Contraction, operands: Operands,
                         sizes: Mapping[str, int] | None = None) -> Operands:
    """The written operands after one execution per row of the operands."""
    machine = _Machine(semantics, contraction, operands, dict(sizes or {}))
    with np.errstate(all="ignore"):
        if contraction.whole:
            machine.nest(contraction)
        else:
            for stage in contraction.stages:
                machine.stage(stage)
    return machine.written(operands)


@dataclass(frozen=True)
class _Lanes:
    """Values of iterators: numbers, or vectors over the elements that are computed at once."""

    at: Mapping[str, Any]

    def position(self, element: Element, shape: tuple[int, ...]) -> Any:
        flat: Any = 0
        for subscript, extent in zip(element.subscripts, shape, strict=True):
            flat = flat * extent + subscript.constant + sum(c * self.at[n] for n, c in subscript.terms)
        return np.atleast_1d(np.asarray(flat))


class _Machine:
    def __init__(self, semantics: Semantics, contraction: Contraction, operands: Operands,
                 sizes: Mapping[str, int]) -> None:
        self.sizes, self.semantics = sizes, semantics
        self.variables: dict[str, Variable] = {v.name: v for v in (*semantics.operands, *contraction.locals)}
        self.shapes = {n: shape_of(v.shape, sizes) for n, v in self.variables.items()}
        self.trials = next(iter(operands.values())).shape[0]
        self.memory: dict[str, Array] = {}
        for name, variable in self.variables.items():
            values = operands.get(name)
            if values is None:
                values = np.zeros((self.trials, *self.shapes[name]), carrier(variable.dtype))
            self.memory[name] = _as_numbers(values.reshape(self.trials, -1), variable.dtype)

    def written(self, operands: Operands) -> Operands:
        return {v.name: _as_bits(self.memory[v.name], v.dtype).reshape(operands[v.name].shape)
                for v in self.semantics.operands if v.written}

    def nest(self, contraction: Contraction) -> None:
        """The one nest with its scale, limits and finish."""
        output = contraction.output.array
        if contraction.scale:
            kept = tuple(d for d in contraction.dimensions if d.name in contraction.output.names)
            value = Binary("*", Load(contraction.scale, contraction.output_dtype),
                           Load(str(contraction.output), contraction.output_dtype), contraction.output_dtype)
            self.stage(Stage(kept, (Result(contraction.output, contraction.output_dtype, value,
                                           (contraction.output, Element(contraction.scale))),)))
        summed = contraction.finish is not None or contraction.limits
        if not contraction.accumulates and contraction.results[0].reads_itself:
            touched = self.touched(contraction)
            self.memory[output][:, touched] = 0
        if not summed:
            self.stage(Stage(contraction.dimensions, contraction.results))
            return
        kept_output = self.memory[output]
        if contraction.finish is not None:
            self.memory[output] = _converted(kept_output, contraction.update.dtype)
        for limit in contraction.limits or ((),):
            if isinstance(limit, Limit):
                self.parts(contraction, limit)
            else:
                self.stage(Stage(contraction.dimensions, contraction.results))
        if contraction.finish is not None:
            cut = FUNCTIONS[contraction.finish].dtype
            touched = self.touched(contraction)
            kept_output[:, touched] = np.clip(self.memory[output][:, touched], *cut.value_range()).astype(
                kept_output.dtype)
            self.memory[output] = kept_output

    def touched(self, contraction: Contraction) -> Array:
        """Positions of the result that some iteration writes."""
        lanes = _Lanes(self.points(contraction.dimensions))
        return np.unique(lanes.position(contraction.output, self.shapes[contraction.output.array]))

    def parts(self, contraction: Contraction, limit: Limit) -> None:
        """Sums of parts, each in its own type and cut, added to the result."""
        outer = tuple(d for d in contraction.dimensions if d.name not in limit.dimensions)
        inner = tuple(d for d in contraction.dimensions if d.name in limit.dimensions)
        names = {str(e): e for e in contraction.inputs}
        output, dtype = contraction.output, contraction.output_dtype
        for lanes in self.lanes(outer, (Result(output, dtype, contraction.update, ()),)):
            part: Any = np.zeros(1, carrier(limit.dtype))
            for point in _points(inner, lanes.at, self.sizes):
                addend = self.value(limit.addend, _Lanes(point), names)
                part = part + _converted(addend, limit.dtype)
            cut = part if limit.wraps else np.clip(part, limit.low, limit.high)
            where = lanes.position(output, self.shapes[output.array])
            self.memory[output.array][:, where] += _converted(cut, dtype)

    def stage(self, stage: Stage) -> None:
        """One nest, its results computed from the values before each iteration."""
        names = [{str(e): e for e in r.reads} for r in stage.results]
        for lanes in self.lanes(stage.dimensions, stage.results):
            made = [_converted(self.value(ideal_of(r.update), lanes, known), r.update.dtype)   # wider than the output
                    for r, known in zip(stage.results, names, strict=True)]                    # ahead of a finish
            for r, value in zip(stage.results, made, strict=True):
                where = lanes.position(r.output, self.shapes[r.output.array])
                self.memory[r.output.array][:, where] = value

    def points(self, dimensions: Sequence[Dimension]) -> dict[str, Array]:
        """All iterations as one vector per iterator."""
        found = list(_points(tuple(dimensions), {}, self.sizes))
        return {d.name: np.array([p[d.name] for p in found], np.int64) for d in dimensions}

    def lanes(self, dimensions: tuple[Dimension, ...], results: tuple[Result, ...]) -> Iterator[_Lanes]:
        """Vectors of iterations that do not depend on each other, in an order that every element keeps."""
        written = {r.output for r in results}
        arrays = {r.output.array for r in results}
        apart = frozenset.intersection(*(r.output.names for r in results))
        alone = all(e in written for r in results for e in r.reads if e.array in arrays) and all(
            d.is_box for d in dimensions)
        parallel = tuple(d for d in dimensions if d.name in apart) if alone else ()
        if parallel and not all(self.distinct(r.output, parallel) for r in results):
            parallel = ()
        serial = tuple(d for d in dimensions if d not in parallel)
        together = self.points(parallel)
        for point in _points(serial, {}, self.sizes):
            yield _Lanes({**together, **point})

    def distinct(self, output: Element, parallel: tuple[Dimension, ...]) -> bool:
        """Whether these loops alone tell the elements of a result apart."""
        at = self.points(parallel)
        others = dict.fromkeys(output.names - set(at), 0)
        where = _Lanes({**others, **at}).position(output, self.shapes[output.array])
        return len(np.unique(where)) == len(where)

    def value(self, e: Expr, lanes: _Lanes, names: Mapping[str, Element]) -> Array:
        """The value of an expression: a row per execution, a column per lane."""
        def below(x: Expr) -> Array:
            return self.value(x, lanes, names)

        match e:
            case Literal():
                return np.asarray(e.value).astype(carrier(e.dtype)).reshape(1, 1)
            case IteratorRef():
                return np.atleast_2d(np.asarray(lanes.at[e.name]).astype(np.int32))
            case Load():
                element = names[e.reference]
                return np.asarray(self.memory[element.array][:, lanes.position(element, self.shapes[element.array])])
            case Cast():
                return _converted(below(e.operand), e.dtype)
            case Unary():
                return _unary(e, below(e.operand))
            case Select():
                chosen = np.not_equal(below(e.condition), 0)
                return np.where(chosen, *(_converted(below(x), e.dtype) for x in (e.then, e.otherwise)))
            case Binary():
                return _binary(e, below(e.left), below(e.right))
            case Call() if is_table_read(e):
                return self.table(e, [below(a) for a in e.arguments])
            case Call():
                return _function(e.function, [below(a) for a in e.arguments])
        raise TypeError(f"no expression: {e}")

    def table(self, e: Call, subscripts: list[Array]) -> Array:
        """The elements of an operand at computed subscripts."""
        name = table_of(e)
        flat: Any = 0
        for index, extent in zip(subscripts, self.shapes[name], strict=True):
            flat = flat * extent + np.clip(index.astype(np.int64), 0, extent - 1)   # of a choice that is not taken
        row = np.arange(self.trials).reshape(-1, 1)
        return np.asarray(self.memory[name][row, np.broadcast_to(flat, (self.trials, flat.shape[1]))])


def _points(dimensions: tuple[Dimension, ...], around: Mapping[str, Any], sizes: Mapping[str, int]
            ) -> Iterator[dict[str, Any]]:
    if all(d.is_box for d in dimensions):
        ranges = [d.values({}, sizes) for d in dimensions]
        for point in itertools.product(*ranges):
            yield {**around, **dict(zip([d.name for d in dimensions], point, strict=True))}
        return
    first, *rest = dimensions
    for i in first.values(around, sizes):
        yield from _points(tuple(rest), {**around, first.name: i}, sizes)


def _as_numbers(values: Array, dtype: DType) -> Array:
    """Short floats as single ones, which hold them all."""
    if dtype.name == "float16":
        return values.view(np.float16).astype(np.float32)
    if dtype.name == "bfloat16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values.copy()


def _as_bits(values: Array, dtype: DType) -> Array:
    if dtype.name == "float16":
        return values.astype(np.float16).view(np.uint16)
    if dtype.name == "bfloat16":
        return np.asarray(np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return values


def _converted(value: Array, dtype: DType) -> Array:
    if dtype.name in ("bfloat16", "float16"):
        return value
    return value.astype(carrier(dtype))


def _unary(e: Unary, value: Array) -> Array:
    if e.op == "!":
        return np.equal(value, 0).astype(np.int32)
    inner = _converted(value, promote(e.dtype))
    return {"-": np.negative, "+": np.positive, "~": np.invert}[e.op](inner)


def _binary(e: Binary, left: Array, right: Array) -> Array:
    if e.op in _COMPARISONS:
        common = usual_conversion(e.left.dtype, e.right.dtype)
        return _COMPARISONS[e.op](_converted(left, common), _converted(right, common)).astype(np.int32)
    if e.op in ("&&", "||"):
        a, b = np.not_equal(left, 0), np.not_equal(right, 0)
        return (a & b if e.op == "&&" else a | b).astype(np.int32)
    a = _converted(left, e.dtype)
    if e.op in ("<<", ">>"):
        amount = right.astype(a.dtype)
        return np.asarray(np.left_shift(a, amount) if e.op == "<<" else np.right_shift(a, amount))
    b = _converted(right, e.dtype)
    if e.op in ("/", "%"):
        return _divided(e, a, b)
    return np.asarray(_OPERATIONS[e.op](a, b))


def _divided(e: Binary, a: Array, b: Array) -> Array:
    if e.dtype.is_float:
        return np.asarray(np.divide(a, b))
    quotient, rest = np.divmod(a, b)
    towards_zero = (rest != 0) & ((a < 0) != (b < 0))
    if e.op == "/":
        return np.asarray(quotient + towards_zero.astype(a.dtype))
    return np.asarray(rest - np.where(towards_zero, b, np.zeros_like(b)))


def _function(name: str, arguments: list[Array]) -> Array:
    """The functions that no operators stand for."""
    x = arguments[0]
    if name in ("sat_f32_i32", "cvt_f32_i32"):
        whole = np.rint(x.astype(np.float64))
        inside = (whole >= -(2.0 ** 31)) & (x < 2.0 ** 31)
        ends = np.where(np.isnan(x), 0, np.where(x > 0, 2.0 ** 31 - 1, -(2.0 ** 31)))
        outside = ends if name == "sat_f32_i32" else np.full_like(ends, -(2.0 ** 31))
        return np.where(inside, whole, outside).astype(np.int64).astype(np.int32)
    if name == "f32_to_f16":
        return x.astype(np.float16).astype(np.float32)
    if name == "f32_to_bf16":
        bits = x.view(np.uint32) if x.flags.c_contiguous else np.ascontiguousarray(x).view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
        return np.where(np.isnan(x), np.float32(np.nan), (rounded << np.uint32(16)).view(np.float32))
    single = name.removesuffix("f")
    if single == "round":
        return np.asarray(np.copysign(np.trunc(x) + (np.abs(x - np.trunc(x)) >= 0.5) * np.sign(x), x))
    return np.asarray(_INTEGRAL[single](x))
