"""`extract`: a Python function to a `PythonScop`, the Scop with the way from a call's arguments to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import islpy as isl
import numpy as np

from polysched.errors import PolyschedError
from polysched.records import dataclass
from polysched.scop.body import ARITHMETIC, Binary, Load, assignments, statement_expressions, walk
from polysched.scop.construction import values
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import Value
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT64, DType
from polysched.scop.limits import LIMITS
from polysched.scop.python_frontend.data_indices import DataIndices
from polysched.scop.python_frontend.environment import Environment, Restart, Stored, outer_names
from polysched.scop.python_frontend.operands import View, whole_view
from polysched.scop.python_frontend.signature import (
    ArgumentType,
    ArrayType,
    ScalarType,
    argument_types,
    bound_arguments,
    extent_names,
)
from polysched.scop.python_frontend.source import FunctionSource, read_source
from polysched.scop.python_frontend.statements import Lowering
from polysched.scop.scop import Array, Assumption, Scop, Storage

MOST_PASSES = LIMITS.extraction_passes
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


@dataclass(frozen=True)
class Extent:
    """One dimension of an array argument.

    Parameters
    ----------
    parameter : the Scop's parameter whose value is this extent; None when the extent is fixed otherwise.
    text : what the extent has to equal, over names of parameters, when it is not a parameter of its own.
    """

    parameter: str | None
    text: str | None = None


@dataclass(frozen=True)
class Argument:
    """How an argument of the function reaches the Scop.

    Parameters
    ----------
    name : in the function.
    type : array or scalar, with its element type.
    target : the array or the parameter of the Scop.
    extents : one per dimension of an array.
    """

    name: str
    type: ArgumentType
    target: str
    extents: tuple[Extent, ...] = ()

    @property
    def is_size(self) -> bool:
        """Whether the argument is an integer, a parameter of the Scop."""
        return isinstance(self.type, ScalarType) and self.type.dtype.is_integer


@dataclass(frozen=True, eq=False, kw_only=True)
class PythonScop:
    """A Scop that came from a Python function.

    Parameters
    ----------
    scop : the Scop.
    source : the function's source.
    arguments : in the function's order.
    results : the returned arrays by name, 0-dimensional for numbers, in order; an argument's name where the function
        returns its argument.
    weak_results : those of the results that are Python numbers.
    returns_tuple : the function returns a tuple, even of one.
    captured : what the function used from outside, by name: numbers, functions, types, modules, and `module.part`.
    valid : the parameter values for which the function is defined; those outside the Scop's context have
        empty loops or arrays.
    """

    scop: Scop
    source: FunctionSource
    arguments: tuple[Argument, ...]
    results: tuple[str, ...] = ()
    weak_results: frozenset[str] = frozenset()
    returns_tuple: bool = False
    captured: Mapping[str, Any]
    valid: isl.Set

    def sizes_of(self, values: Mapping[str, Any]) -> dict[str, int]:
        """The Scop's parameters for arguments of the function, by name."""
        return sizes_of(self.arguments, values)


def from_python(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Scop:
    """The Scop of a Python function over NumPy arrays.

    Parameters
    ----------
    args, kwargs : example arguments, whose types are taken, and whose sizes the Scop is for in any case; none when
        every argument is annotated.

    Raises
    ------
    UnsupportedScopError : something is not affine or not understood; the message shows line and place.
    SourceSyntaxError : the function's source cannot be read.
    """
    source = read_source(function)
    if not args and not kwargs:
        return extract(source, argument_types(source, None)).scop
    arguments = bound_arguments(source, args, kwargs)
    return extract_for(source, arguments).scop


def extract_for(source: FunctionSource, arguments: Mapping[str, Any]) -> PythonScop:
    """Lower a function for the types and sizes of arguments, by name."""
    return extract(source, argument_types(source, arguments), values=arguments)


def sizes_of(arguments: Sequence[Argument], values: Mapping[str, Any]) -> dict[str, int]:
    """The values of a Scop's parameters for arguments of its function, by name."""
    sizes = {a.target: int(values[a.name]) for a in arguments if a.is_size}
    for argument in arguments:
        for extent, size in zip(argument.extents, np.shape(values[argument.name]), strict=False):
            if extent.parameter is not None:
                sizes[extent.parameter] = size
    return sizes


def extract(source: FunctionSource, types: Mapping[str, ArgumentType], *, same: Mapping[str, str] | None = None,
            values: Mapping[str, Any] | None = None) -> PythonScop:
    """Lower a function whose argument types are known.

    Parameters
    ----------
    same : array arguments that are the same array as an earlier one, by name.
    values : arguments, by name, whose sizes the Scop's context should have where it leaves out rare cases.

    Raises
    ------
    UnsupportedScopError : something is not affine or not understood; the message shows line and place.
    """
    known: dict[str, tuple[DType, bool]] = {}
    forced = {n.target.id for n in ast.walk(source.tree)
              if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    indices = DataIndices()
    for _ in range(MOST_PASSES):
        attempt = _Attempt(source, types, same or {}, known, forced, indices, values)
        try:
            return attempt.run()
        except Restart:
            continue
    raise PolyschedError(f"the types of the variables of {source.tree.name} do not settle", where=source.path)


class _Attempt:
    """One pass over a function, with what the passes before found out about its variables."""

    def __init__(self, source: FunctionSource, types: Mapping[str, ArgumentType], same: Mapping[str, str],
                 known: dict[str, tuple[DType, bool]], forced: set[str], indices: DataIndices,
                 values: Mapping[str, Any] | None) -> None:
        self.source, self.types, self.same = source, types, same
        self.region = Region(source.tree.name)
        self.arguments: list[Argument] = []
        self.symbols: dict[str, str] = {}
        env = self._bind_arguments()
        if values is not None:
            self.region.sizes.hint = sizes_of(self.arguments, values)
        self.lowering = Lowering(source, self.region, env, outer_names(source.function), known, forced, indices)

    def run(self) -> PythonScop:
        """Lower the body and finish the Scop."""
        self.lowering.function()
        results = tuple(self._result_array(v) for v in self.lowering.results)
        scop = self.region.finish()
        written = {a.array for s in scop.statements for a in s.accesses if a.is_write}
        if self.lowering.evaluator.indices.are_written(written):
            raise Restart
        outputs = set(results)
        arrays = tuple(_final(a, a.name in written, a.name in outputs) for a in scop.arrays)
        assumptions = (*scop.assumptions, *_wrapping(scop))
        final = self.source.tree.body[-1]
        return PythonScop(scop=replace(scop, arrays=arrays, assumptions=assumptions), source=self.source,
                          arguments=tuple(self.arguments), results=results,
                          weak_results=frozenset(self.lowering.weak_results),
                          returns_tuple=isinstance(final, ast.Return) and isinstance(final.value, ast.Tuple),
                          captured=dict(self.lowering.captured), valid=self.region.sizes.valid)

    def _result_array(self, view: View) -> str:
        array = self.region.arrays[view.array]
        whole = len(view.shape) == len(array.extents) and all(
            s.dimension == d and s.step == 1 and values.constant_of(s.start) == 0
            for d, s in enumerate(view.subscripts))
        if not whole:
            self.source.refuse(self.source.tree.body[-1], "a part of an array is returned",
                               hint="return the whole array, or a copy: part.copy()")
        return view.array

    def _bind_arguments(self) -> Environment:
        """Declare every argument: integers and extents as parameters, the rest as arrays."""
        env: Environment = {}
        names = extent_names(self.source, self.types)
        for name, kind in self.types.items():
            if isinstance(kind, ScalarType) and kind.dtype.is_integer:
                env[name] = self._size_argument(name, kind)
        for name, kind in self.types.items():
            if isinstance(kind, ScalarType) and not kind.dtype.is_integer:
                env[name] = self._scalar_argument(name, kind)
            elif isinstance(kind, ArrayType):
                env[name] = self._array_argument(name, kind, names, env)
        order = list(self.types)
        self.arguments.sort(key=lambda a: order.index(a.name))
        return env

    def _scalar_argument(self, name: str, kind: ScalarType) -> Stored | Value:
        """A number by value; a short float travels as float32, which holds it exactly."""
        array = self.region.fresh(name)
        short = kind.dtype in (FLOAT16, BFLOAT16)
        self.region.declare(array, FLOAT32 if short else kind.dtype, storage=Storage.ARGUMENT, constant=True)
        self.arguments.append(Argument(name, kind, array))
        return values.cast(self.region.load(array), kind.dtype) if short else Stored(array, kind.dtype, kind.weak)

    def _size_argument(self, name: str, kind: ScalarType) -> Value:
        parameter = self.region.fresh(name)
        self.symbols[name] = parameter
        value = self.region.parameter(parameter, dtype=INT64)
        self.arguments.append(Argument(name, kind, parameter))
        if kind.dtype == BOOL:
            self.region.assume(isl.Set(f"[{parameter}] -> {{ : 0 <= {parameter} <= 1 }}"))
            return replace(values.compare("!=", value, values.number(0)), weak=kind.weak)
        if kind.weak or kind.dtype == INT64:
            return replace(value, weak=kind.weak)
        return replace(values.cast(value, kind.dtype), affine=value.affine)

    def _array_argument(self, name: str, kind: ArrayType, names: Mapping[tuple[str, int], str],
                        env: Environment) -> View:
        if name in self.same:
            first = env[self.same[name]]
            assert isinstance(first, View)
            original = next(a for a in self.arguments if a.name == self.same[name])
            self.arguments.append(replace(original, name=name))
            return first
        extents, shape = [], []
        for dimension, extent in enumerate(kind.extents):
            described, value = self._extent(name, dimension, extent, names)
            extents.append(described)
            shape.append(value)
        array = self.region.fresh(name)
        self.region.declare(array, kind.dtype, shape, storage=Storage.ARGUMENT,
                            c_element=None if shape else f"(*{array})")
        self.arguments.append(Argument(name, kind, array, tuple(extents)))
        return whole_view(self.region, array, tuple(shape))

    def _extent(self, array: str, dimension: int, extent: int | str | None,
                names: Mapping[tuple[str, int], str]) -> tuple[Extent, Value]:
        """One extent of an array argument: a number, a size of its own, or an expression of sizes."""
        if isinstance(extent, int):
            return Extent(None, str(extent)), values.number(extent)
        if extent is None:
            symbol = self.region.fresh(names.get((array, dimension), f"{array}_{dimension}"))
            return Extent(symbol), self.region.parameter(symbol, at_least=0)
        if extent.isidentifier():
            if extent in self.symbols:
                symbol = self.symbols[extent]
                value = self.region.parameter(symbol, at_least=0)
                return Extent(None, symbol), value
            self.symbols[extent] = self.region.fresh(extent)
            return Extent(self.symbols[extent]), self.region.parameter(self.symbols[extent], at_least=0)
        value = self._extent_expression(array, ast.parse(extent, mode="eval").body)
        assert value.affine is not None
        self.region.assume(value.affine.ge_set(values.affine_constant(0)))
        return Extent(None, _renamed(extent, self.symbols)), value

    def _extent_expression(self, array: str, node: ast.expr) -> Value:  # noqa: RET503 - `refuse` never returns
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return values.number(node.value)
        if isinstance(node, ast.Name):
            self.symbols.setdefault(node.id, node.id)
            return self.region.parameter(self.symbols[node.id])
        if isinstance(node, ast.BinOp) and (sign := SIGNS.get(type(node.op))):
            value = values.arithmetic(sign, self._extent_expression(array, node.left),
                                      self._extent_expression(array, node.right))
            if value.affine is not None:
                return value
        annotated = next(a for a in ast.walk(self.source.tree) if isinstance(a, ast.arg) and a.arg == array)
        self.source.refuse(annotated, f"`{ast.unparse(node)}` is no affine extent",
                           hint="an extent is a number, a name, or an affine expression of names")


def _renamed(extent: str, symbols: Mapping[str, str]) -> str:
    tree = ast.parse(extent, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = symbols[node.id]
    return ast.unparse(tree)


def _final(array: Array, written: bool, output: bool) -> Array:
    """The array with what only the whole function shows: whether it is written, and whether it is returned."""
    if output and array.storage is Storage.LOCAL:
        element = f"(*{array.name})" if array.is_scalar else array.c_element
        return replace(array, storage=Storage.ARGUMENT, c_element=element)
    if array.storage is Storage.ARGUMENT and not array.constant:
        return replace(array, constant=not written)
    return array


def _wrapping(scop: Scop) -> tuple[Assumption, ...]:
    """NumPy's signed integers wrap around, which C leaves undefined."""
    signed = any(isinstance(e, Binary) and e.op in ARITHMETIC and e.dtype.is_integer and e.dtype.is_signed
                 and any(isinstance(x, Load) for x in walk(e))
                 for s in scop.statements for top in statement_expressions(s.body) for e in walk(top))
    compound = any(a.op is not None and a.dtype.is_integer and a.dtype.is_signed
                   for s in scop.statements for a in assignments(s.body))
    if not signed and not compound:
        return ()
    return (Assumption(kind="wrap", text="signed integers wrap around, as NumPy's do: compile with -fwrapv"),)
