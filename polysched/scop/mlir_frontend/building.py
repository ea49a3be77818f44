"""Functions of MLIR as Scops.

A load is written into the expression of the store that uses it; `kept_values` says where that would read something
else.  What a loop carries (`iter_args`) and what a condition gives are variables.  Memory behind two arguments is taken
to be apart, as passes over the affine dialect take it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import reduce
from typing import Any, NoReturn

import islpy as isl

from polysched.errors import PolyschedError, SourceLocation, SourceSyntaxError, UnsupportedScopError, UsageError
from polysched.scop.construction import values
from polysched.scop.construction.reading import plain_name, refusing, within_budget
from polysched.scop.construction.region import Region
from polysched.scop.construction.updates import as_update
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, INT64, DType
from polysched.scop.mlir_frontend.affine_forms import AffineMap, AffineSet
from polysched.scop.mlir_frontend.arithmetic import computed, constant
from polysched.scop.mlir_frontend.custom_forms import CUSTOM
from polysched.scop.mlir_frontend.grammar import Grammar, apart
from polysched.scop.mlir_frontend.kept_values import LOADS, STORES, kept_values
from polysched.scop.mlir_frontend.operations import TYPES, Block, Operation, memref_of, walk, with_unique_names
from polysched.scop.mlir_frontend.words import Words
from polysched.scop.scop import Scop, Storage

_LOG = logging.getLogger(__name__)
EXTENTS = "extents"
"""The attribute of a function with the extents of its memrefs: for each a map over its arguments of type index."""
_SEGMENTS = 3
_BEGIN = re.compile(
    r"""(?:\s|//[^\n]*)*(?:(?:builtin\.)?module\b|func\.func\b|[#!][\w$.]+\s*=|"(?:builtin\.module|func\.func)")""")


def begins_as_mlir(text: str) -> bool:
    """Whether a text begins as one of MLIR does, and none of C."""
    return _BEGIN.match(text) is not None


def from_mlir(text: str, *, path: str = "MLIR", function: str | None = None) -> Scop:
    """The Scop of the only function of a text, or of the one of this name.

    Parameters
    ----------
    path : for messages.

    Raises
    ------
    SourceSyntaxError : the text cannot be read; with the line.
    UnsupportedScopError : the function has what is no affine region, or a type that is not had.
    UsageError : there is no function, none of this name, or there are several.
    """
    functions = _Functions(text, path)
    if function is not None:
        return functions.scop(function)
    if len(functions.names) > 1:
        raise UsageError("the text has several functions", where=path, witness=", ".join(functions.names),
                         hint="from_mlir(text, function=...) reads one, all_from_mlir all that can be read")
    return functions.scop(functions.names[0])


def all_from_mlir(text: str, *, path: str = "MLIR") -> tuple[Scop, ...]:
    """The Scops of all functions with a body; raises as `from_mlir`.

    Of several functions those that cannot be read are left out, in a line of the log each; not all of them may be.
    """
    functions = _Functions(text, path)
    read: list[Scop] = []
    refused: list[PolyschedError] = []
    for name in functions.names:
        try:
            read.append(functions.scop(name))
        except (SourceSyntaxError, UnsupportedScopError) as error:
            refused.append(error)
    if not read:
        raise refused[0]
    for reason in refused:
        _LOG.warning("a function is left out: %s", reason)
    return tuple(read)


class _Functions:
    """The functions of a text that have a body, or whose body cannot be read."""

    def __init__(self, text: str, path: str) -> None:
        grammar = Grammar(Words(text, path), CUSTOM)
        top = Block(operations=grammar.top())
        self.path, self.refused = path, grammar.refused
        functions = [operation for operation in walk(top) if operation.name == "func.func" and operation.regions]
        self.read: dict[str, Operation] = {}
        for k, function in enumerate(functions):
            name = str(function.attributes.get("sym_name", f"f{k}"))
            self.read[apart(name, {*self.read, *self.refused})] = function
        if not (self.read or self.refused):
            raise UsageError("the text has no function with a body", where=path, hint="func.func @name(...) { ... }")

    @property
    def names(self) -> list[str]:
        """In the order of the text, those that cannot be read last."""
        return [*self.read, *self.refused]

    def scop(self, name: str) -> Scop:
        if name in self.refused:
            raise self.refused[name]
        if name not in self.read:
            raise UsageError(f"the text has no function {name}", where=self.path,
                             witness=f"its functions are {', '.join(self.names)}")
        return _scop(self.read[name], self.path)


def _scop(function: Operation, path: str) -> Scop:
    return within_budget(
        lambda: _Function(function, path).scop(), SourceLocation(path, function.line),
        witness=str(function.attributes.get("sym_name", "")),
        hint="give the loops before they are tiled, or fewer of floordiv, mod, min and max inside one another")


class _Function:
    """Builds the Scop of one function."""

    def __init__(self, function: Operation, path: str) -> None:
        self.path = path
        self.function = function = with_unique_names(function)
        self.region = Region("f")
        self.region.name = self._fresh(str(function.attributes.get("sym_name", "f")))
        self.values: dict[str, Value] = {}
        self.arrays: dict[str, str] = {}
        self.kept = kept_values(function.regions[0])

    def scop(self) -> Scop:
        body = self.function.regions[0]
        if self.function.types:
            self._refuse(self.function, "the function gives a result", hint="store it into a memref")
        with self._refusing(self.function):
            self._arguments(body)
        self._block(body, ())
        scop = self.region.finish()
        if not scop.statements:
            self._refuse(self.function, "the function stores nothing")
        return scop

    def _refuse(self, operation: Operation, problem: str, *, hint: str | None = None) -> NoReturn:
        raise UnsupportedScopError(problem, where=SourceLocation(self.path, operation.line), witness=operation.name,
                                   hint=hint)

    def _refusing(self, operation: Operation) -> AbstractContextManager[None]:
        return refusing(SourceLocation(self.path, operation.line), lambda: operation.name)

    def _arguments(self, body: Block) -> None:
        pairs = list(zip(body.arguments, body.types, strict=True))
        for name, text in pairs:
            if text == "index" or (text in TYPES and TYPES[text].is_integer and text != "i1"):
                self.values[name] = self.region.parameter(self._fresh(name), dtype=TYPES.get(text, INT64))
        memrefs = [(name, text) for name, text in pairs if name not in self.values and text not in TYPES]
        extents = self._extents([self.values[name] for name, text in pairs if text == "index"], len(memrefs))
        for name, text in pairs:
            if name in self.values:
                continue
            if text in TYPES:
                own = self._fresh(name)
                self.region.declare(own, TYPES[text], storage=Storage.ARGUMENT, constant=True)
                self.values[name] = self.region.load(own)
        for (name, text), given in zip(memrefs, extents, strict=True):
            self._declare(name, text, Storage.ARGUMENT, given)

    def _extents(self, sizes: list[Value], count: int) -> list[list[Value]]:
        maps = self.function.attributes.get(EXTENTS)
        if maps is None:
            return [[] for _ in range(count)]
        if not isinstance(maps, list) or len(maps) != count or not all(
                isinstance(m, AffineMap) and m.arguments == len(sizes) for m in maps):
            self._refuse(self.function, f"`{EXTENTS}` has no map over the arguments of type index for each memref")
        return [m.of(sizes) for m in maps]

    def _declare(self, name: str, text: str, storage: Storage, known: Sequence[Value]) -> None:
        """An array for a memref.

        Parameters
        ----------
        known : its extents, but for leading ones that nobody knows: each such `?` is a parameter of its own.
        """
        found = memref_of(text)
        if found is None or found[1] not in TYPES or found[2]:
            raise CannotExpress(f"a value of type {text}",
                                f"memrefs of {', '.join(TYPES)} in the plain layout are read, and numbers of these")
        own = self._fresh(name)
        extents = []
        given = [None] * (len(found[0]) - len(known)) + [*known]
        if len(given) != len(found[0]):
            raise CannotExpress(f"{len(known)} extents for a value of type {text}")
        for position, (size, extent) in enumerate(zip(found[0], given, strict=True)):
            if size is not None:
                extents.append(values.number(size))
            elif extent is not None:
                extents.append(extent)
            else:
                extents.append(self.region.parameter(self.region.fresh(f"{own}_{position}"), at_least=0))
        if any(extent.affine is None or self._iterators_of(extent) for extent in extents):
            raise CannotExpress("an extent is no affine function of the parameters")
        self.arrays[name] = own
        self.region.declare(own, TYPES[found[1]], extents, storage=storage)

    def _iterators_of(self, value: Value) -> bool:
        assert value.affine is not None
        return any(value.affine.involves_dims(isl.dim_type.param, position, 1) for loop in self.region.loops
                   if (position := value.affine.find_dim_by_name(isl.dim_type.param, loop.symbol)) >= 0)

    def _fresh(self, name: str) -> str:
        return self.region.fresh(plain_name(name))

    def _block(self, block: Block, targets: tuple[str, ...]) -> None:
        """Operations in their order.

        Parameters
        ----------
        targets : the variables that take what the block gives.
        """
        if targets and not (block.operations and block.operations[-1].name == "affine.yield"):
            raise CannotExpress("a region gives no value")
        for operation in block.operations:
            with self._refusing(operation):
                self._operation(operation, targets)

    def _operation(self, operation: Operation, targets: tuple[str, ...]) -> None:
        match operation.name:
            case "affine.for":
                self._loop(operation)
            case "affine.if":
                self._condition(operation)
            case name if name in STORES:
                self._store(operation)
            case "memref.alloc" | "memref.alloca":
                self._alloc(operation)
            case "affine.yield":
                self._yield(operation, targets)
            case "affine.parallel":
                self._refuse(operation, "affine.parallel is read in its own form alone",
                             hint="let mlir-opt print it without --mlir-print-op-generic")
            case "memref.dealloc":
                pass
            case "return" | "func.return":
                if operation.operands:
                    self._refuse(operation, "the function gives a result", hint="store it into a memref")
            case _:
                self._define(operation)

    def _result(self, operation: Operation) -> Value:
        """The result of an operation without regions."""
        match operation.name:
            case name if name in LOADS:
                array, subscripts = self._element(operation, operation.operands)
                return self.region.load(array, subscripts)
            case "affine.apply" | "affine.min" | "affine.max":
                return self._mapped(operation)
            case "arith.constant":
                return constant(operation.attributes.get("value"), operation.types[0])
            case "memref.dim":
                return self._dim(operation)
            case name if name.startswith(("arith.", "math.")):
                return computed(operation, [self._typed(operation, k) for k in range(len(operation.operands))])
            case _:
                return self._refuse(operation, f"{operation.name} has no form in a region")

    def _define(self, operation: Operation) -> None:
        if len(operation.results) != 1:
            self._refuse(operation, f"{operation.name} with {len(operation.results)} results has no form in a region")
        name, value = operation.results[0], self._result(operation)
        if name in self.kept and value.affine is None and value.condition is None:
            variable = self._variable(name, value.dtype)
            self.region.assign(variable, (), values.converted(value, value.dtype), line=operation.line)
            value = self.region.load(variable)
        self.values[name] = value

    def _variable(self, name: str, dtype: DType) -> str:
        own = self._fresh(name)
        self.region.declare(own, dtype, storage=Storage.LOCAL)
        return own

    def _value(self, operation: Operation, name: str) -> Value:
        if name not in self.values:
            self._refuse(operation, f"%{name} is no value here" if name not in self.arrays else
                         f"%{name} is a memref, no number")
        return self.values[name]

    def _typed(self, operation: Operation, position: int) -> Value:
        """An operand; only one of type index is a number without a width."""
        value = self._value(operation, operation.operands[position])
        kind = operation.operand_types[position] if position < len(operation.operand_types) else "index"
        casts = operation.name.startswith("arith.index_cast")
        if kind in TYPES and value.weak and not casts and value.dtype != BOOL:
            return Value(values.converted(value, TYPES[kind]), TYPES[kind])
        condition = operation.name == "arith.select" and position == 0   # whose type the custom form does not say
        if kind in TYPES and value.dtype != TYPES[kind] and not (value.weak or condition):
            self._refuse(operation, f"%{operation.operands[position]} is of type {value.dtype}, not {kind}")
        return value

    def _mapped(self, operation: Operation) -> Value:
        found = self._map(operation, "map", operation.operands)
        if operation.name == "affine.apply" and len(found) != 1:
            self._refuse(operation, f"affine.apply has {len(found)} results")
        return found[0] if len(found) == 1 else _extreme(operation.name[-3:], found)

    def _map(self, operation: Operation, name: str, operands: Sequence[str]) -> list[Value]:
        """What a map of an operation gives for operands."""
        own = operation.attributes.get(name)
        if not isinstance(own, AffineMap) or own.arguments != len(operands) or not own.results:
            self._refuse(operation, f"{operation.name} has no `{name}` for its operands")
        found = own.of([self._value(operation, operand) for operand in operands])
        if any(value.affine is None for value in found):
            self._refuse(operation, "a bound or index is no affine function of parameters and loop variables",
                         hint="an index that depends on data stands in memref.load or memref.store")
        return found

    def _element(self, operation: Operation, operands: Sequence[str]) -> tuple[str, list[Value]]:
        """Array and subscripts of an access, whose operands begin with the memref."""
        if not operands or operands[0] not in self.arrays:
            self._refuse(operation, f"%{operands[0] if operands else ''} is no memref here")
        array = self.arrays[operands[0]]
        count = len(self.region.arrays[array].extents)
        dtype, said = self.region.arrays[array].dtype, next(filter(None, map(memref_of, operation.operand_types)), None)
        if said is not None and TYPES.get(said[1]) != dtype:
            self._refuse(operation, f"%{operands[0]} has elements of type {dtype}, not {said[1]}")
        if operation.name.startswith("memref."):
            subscripts = [self._value(operation, name) for name in operands[1:]]
        else:
            subscripts = self._map(operation, "map", operands[1:]) if count else []
        if len(subscripts) != count:
            self._refuse(operation, f"%{operands[0]} has {count} dimensions, not {len(subscripts)}")
        return array, subscripts

    def _store(self, operation: Operation) -> None:
        array, subscripts = self._element(operation, operation.operands[1:])
        value = self._value(operation, operation.operands[0])
        dtype = self.region.arrays[array].dtype
        if value.dtype != dtype and not value.weak:
            self._refuse(operation, f"a value of another type is stored, {value.dtype} into {dtype}")
        op, written = as_update(self.region, array, subscripts, values.converted(value, dtype))
        self.region.assign(array, subscripts, written, op=op, line=operation.line)

    def _alloc(self, operation: Operation) -> None:
        found = memref_of(operation.types[0]) if operation.types else None
        if found is None or len(operation.results) != 1 or found[0].count(None) != len(operation.operands):
            self._refuse(operation, "an allocation has one memref, and a size for each `?` of its type")
        sizes = iter([self._value(operation, name) for name in operation.operands])
        extents = [values.number(size) if size is not None else next(sizes) for size in found[0]]
        self._declare(operation.results[0], operation.types[0], Storage.LOCAL, extents)

    def _dim(self, operation: Operation) -> Value:
        if len(operation.operands) != 2:
            self._refuse(operation, "memref.dim has two operands")
        array = self.region.arrays.get(self.arrays.get(operation.operands[0], ""))
        position = values.constant_of(self._value(operation, operation.operands[-1]))
        if array is None or not isinstance(position, int) or not 0 <= position < len(array.extents):
            self._refuse(operation, "memref.dim asks for no dimension of a memref here")
        extent = array.extents[position]
        assert extent is not None
        return Value(values.number(0).expr, INT64, True, extent)

    def _loop(self, operation: Operation) -> None:
        sizes, step, body = self._parts(operation)
        first, last = sizes[0], sizes[0] + sizes[1]
        lower = _extreme("max", self._map(operation, "lowerBoundMap", operation.operands[:first]))
        upper = _extreme("min", self._map(operation, "upperBoundMap", operation.operands[first:last]))
        carried = self._variables(operation)
        for variable, initial in zip(carried, operation.operands[last:], strict=True):
            self._assign(operation, variable, initial)
        variable, *own = body.arguments
        with self.region.loop(self._iterator(variable), lower, upper, step) as value:
            self.values[variable] = value
            for name, local in zip(own, carried, strict=True):
                self.values[name] = self.region.load(local)
            self._block(body, carried)
        self._give(operation, carried)

    def _parts(self, operation: Operation) -> tuple[list[int], int, Block]:
        """How many operands are of the lower bound, of the upper bound and carried; the step; the body."""
        sizes = operation.attributes.get("operandSegmentSizes", self._segments(operation))
        if not isinstance(sizes, list) or len(sizes) != _SEGMENTS or not all(
                isinstance(size, int) and size >= 0 for size in sizes) or sum(sizes) != len(operation.operands):
            self._refuse(operation, "the loop has other bounds than operands")
        step = operation.attributes.get("step", 1)
        if not isinstance(step, int) or step <= 0:
            self._refuse(operation, "the loop has no positive step")
        if len(operation.regions) != 1 or len(operation.results) != sizes[2] or len(
                operation.regions[0].arguments) != 1 + sizes[2]:
            self._refuse(operation, "the loop carries other values than it gives")
        return sizes, step, operation.regions[0]

    def _segments(self, operation: Operation) -> list[int] | None:
        """How many operands are of the lower bound, of the upper bound and carried, where no attribute says so."""
        maps = [operation.attributes.get(name) for name in ("lowerBoundMap", "upperBoundMap")]
        counts = [own.arguments for own in maps if isinstance(own, AffineMap)]
        return [*counts, len(operation.operands) - sum(counts)] if len(counts) == len(maps) else None

    def _iterator(self, name: str) -> str:
        return plain_name(name) if name[0].isalpha() and not name.startswith("arg") else f"i{len(self.region.loops)}"

    def _condition(self, operation: Operation) -> None:
        condition = operation.attributes.get("condition")
        if not isinstance(condition, AffineSet) or condition.arguments != len(operation.operands) or not (
                1 <= len(operation.regions) <= 2):
            self._refuse(operation, "the condition is no set over its operands")
        operands = [self._value(operation, name) for name in operation.operands]
        if any(value.affine is None for value in operands):
            self._refuse(operation, "a condition is no affine function of parameters and loop variables")
        holds = condition.of(operands)
        given = self._variables(operation)
        for region, where in zip(operation.regions, (holds, holds.complement()), strict=False):
            with self.region.guard(where):
                self._block(region, given)
        self._give(operation, given)

    def _variables(self, operation: Operation) -> tuple[str, ...]:
        """A variable for each result of an operation with regions."""
        if any(kind not in TYPES for kind in operation.types) or len(operation.types) != len(operation.results):
            self._refuse(operation, "a loop or condition carries a value that is no number",
                         hint=f"its type is one of {', '.join(TYPES)}")
        return tuple(self._variable(name, TYPES[kind])
                     for name, kind in zip(operation.results, operation.types, strict=True))

    def _give(self, operation: Operation, variables: tuple[str, ...]) -> None:
        for name, variable in zip(operation.results, variables, strict=True):
            self.values[name] = self.region.load(variable)

    def _yield(self, operation: Operation, targets: tuple[str, ...]) -> None:
        if len(targets) != len(operation.operands):
            self._refuse(operation, f"{len(operation.operands)} values are given, {len(targets)} were expected")
        sources: Sequence[Any] = operation.operands
        if len(targets) > 1:   # a value may read the variable of another one
            for name in sources:
                value = self._value(operation, name)
                variable = self._variable(name, value.dtype)
                self._assign(operation, variable, name)
                self.values[name] = self.region.load(variable)
        for target, name in zip(targets, sources, strict=True):
            self._assign(operation, target, name)

    def _assign(self, operation: Operation, variable: str, name: str) -> None:
        value = self._value(operation, name)
        self.region.assign(variable, (), values.converted(value, self.region.arrays[variable].dtype),
                           line=operation.line)


def _extreme(kind: str, found: Sequence[Value]) -> Value:
    return reduce(lambda left, right: values.extremum(kind, left, right), found)
