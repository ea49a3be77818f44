"""A function of TVM's tensor IR as a Scop.

    f = te.create_prim_func([A, B, C])            scop = from_tir(f)

Blocks bind their variables to expressions of loops; `init` happens where the variables of the reduction are at their
first values.  Integers of sizes and loop variables are taken not to wrap, as TVM's own analysis takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NoReturn

import islpy as isl

from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.construction import values
from polysched.scop.construction.reading import plain_name, refusing, within_budget
from polysched.scop.construction.region import Region
from polysched.scop.construction.updates import as_update
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.scop import Scop, Storage
from polysched.scop.tir_frontend.expressions import Reader
from polysched.scop.tir_frontend.nodes import (
    buffer_of,
    dtype_of,
    has_strides,
    is_buffer,
    key,
    kind,
    shape_of,
    type_name,
)

_REDUCES, _BOUND_TO_THREADS = 2, 4
"""Numbers that TVM gives to the kind of an iteration variable, and of a loop."""


def from_tir(function: Any, *, name: str | None = None) -> Scop:
    """The Scop of a `PrimFunc`.

    Parameters
    ----------
    function : what `te.create_prim_func` makes, or `tvm.script.from_source` of text.
    name : the Scop's name; the function's global symbol by default, or `main`.

    Raises
    ------
    UsageError : this is no function of TVM's tensor IR.
    UnsupportedScopError : it has what is no affine region, with the text of that part.
    """
    if not hasattr(function, "params") or not hasattr(function, "body"):
        raise UsageError("this is no function of TVM's tensor IR", witness=type(function).__name__,
                         hint="te.create_prim_func makes one of tensor expressions")
    symbol = getattr(function, "attrs", None) and function.attrs.get("global_symbol", None)
    own = name or str(symbol or "main")
    return within_budget(lambda: _Function(function, own).scop(), own, hint="give the loops before they are tiled")


class _Function:
    """Builds the Scop of one function."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.name = function, name
        self.region = Region("f")
        self.region.name = "f" if name == "main" else self.region.fresh(plain_name(name))   # C has a main of its own
        self.values: dict[Any, Value] = {}
        self.arrays: dict[Any, str] = {}
        self.bound: dict[Any, str] = {}
        self.reader = Reader(self._variable, self._load, self.region)

    def scop(self) -> Scop:
        mapped = {key(p): buffer for p, buffer in dict(getattr(self.function, "buffer_map", None) or {}).items()}
        for parameter in self.function.params:
            buffer = mapped.get(key(parameter))
            with self._refusing(parameter):
                if buffer is not None or is_buffer(parameter):
                    self._declare(parameter if buffer is None else buffer, Storage.ARGUMENT)
                else:
                    self._scalar(parameter)
        self._statement(self.function.body)
        scop = self.region.finish()
        if not scop.statements:
            raise UnsupportedScopError("the function stores nothing", where=self.name)
        return scop

    def _refuse(self, problem: str, node: Any, hint: str | None = None) -> NoReturn:
        raise UnsupportedScopError(problem, where=self.name, hint=hint, witness=_words(node))

    def _refusing(self, node: Any) -> AbstractContextManager[None]:
        return refusing(self.name, partial(_words, node))

    def _scalar(self, variable: Any) -> None:
        dtype = dtype_of(variable)
        if dtype is None:
            raise CannotExpress(f"a parameter of type {type_name(variable)}")
        name = self.region.fresh(plain_name(variable.name))
        if dtype.is_integer:
            self.values[key(variable)] = self.region.parameter(name, dtype=dtype)
            return
        self.region.declare(name, dtype, storage=Storage.ARGUMENT, constant=True)
        self.values[key(variable)] = self.region.load(name)

    def _declare(self, buffer: Any, storage: Storage) -> None:
        dtype = dtype_of(buffer)
        if dtype is None or has_strides(buffer):
            raise CannotExpress(f"a buffer of {type_name(buffer)}, or with strides")
        extents = [self._extent(size) for size in shape_of(buffer)]
        name = self.region.fresh(plain_name(buffer.name))
        self.arrays[key(buffer)] = name
        self.region.declare(name, dtype, extents, storage=storage)

    def _extent(self, size: Any) -> Value:
        """An extent; a variable that is no parameter of the function is one of the Scop."""
        if kind(size) == "Var" and key(size) not in self.values:
            self.values[key(size)] = self.region.parameter(self.region.fresh(plain_name(size.name)), at_least=0)
        value = self.reader.value(size)
        if value.affine is None:
            raise CannotExpress("an extent is no affine function of the parameters")
        return value

    def _variable(self, node: Any) -> Value:
        if key(node) in self.bound:
            return self.region.load(self.bound[key(node)])
        if key(node) not in self.values:
            raise CannotExpress(f"a variable {node.name} that is bound nowhere here")
        return self.values[key(node)]

    def _load(self, node: Any, subscripts: Sequence[Value]) -> Value:
        return self.region.load(self._array(buffer_of(node)), subscripts)

    def _array(self, buffer: Any) -> str:
        if key(buffer) not in self.arrays:
            raise CannotExpress(f"a buffer {buffer.name} that is declared nowhere here")
        return self.arrays[key(buffer)]

    def _statement(self, node: Any) -> None:
        match kind(node):
            case "SeqStmt":
                for part in node.seq:
                    self._statement(part)
            case "For":
                self._loop(node)
            case "IfThenElse":
                self._condition(node)
            case "SBlockRealize":
                self._block(node)
            case "Bind" | "LetStmt":
                with self._refusing(node):
                    self._bind(node.var, self.reader.value(node.value))
                if getattr(node, "body", None) is not None:
                    self._statement(node.body)
            case "BufferStore":
                with self._refusing(node):
                    self._store(node)
            case "AllocBuffer" | "DeclBuffer":
                with self._refusing(node):
                    self._declare(node.buffer, Storage.LOCAL)
                if getattr(node, "body", None) is not None:
                    self._statement(node.body)
            case name:
                self._refuse(f"a statement {name} has no form in a region", node)

    def _affine(self, expression: Any, what: str) -> Value:
        with self._refusing(expression):
            value = self.reader.value(expression)
        if value.affine is None:
            self._refuse(f"{what} is no affine function of parameters and loop variables", expression)
        return value

    def _loop(self, node: Any) -> None:
        step = 1 if getattr(node, "step", None) is None else int(node.step)
        if int(node.kind) == _BOUND_TO_THREADS or step <= 0:
            self._refuse("a loop bound to threads, or without a positive step", node, "give it before it is scheduled")
        start = self._affine(node.min, "the start of a loop")
        stop = values.arithmetic("+", start, self._affine(node.extent, "the extent of a loop"))
        with self.region.loop(plain_name(node.loop_var.name), start, stop, step) as value:
            self.values[key(node.loop_var)] = value
            self._statement(node.body)

    def _holds(self, expression: Any) -> isl.Set:
        with self._refusing(expression):
            value = values.truth(self.reader.value(expression))
        if value.condition is None:
            self._refuse("a condition is no affine function of parameters and loop variables", expression,
                         "compute both values, and choose with T.if_then_else")
        return value.condition

    def _condition(self, node: Any) -> None:
        holds = self._holds(node.condition)
        with self.region.guard(holds):
            self._statement(node.then_case)
        if node.else_case is not None:
            with self.region.guard(holds.complement()):
                self._statement(node.else_case)

    def _block(self, realized: Any) -> None:
        block = realized.block
        if list(block.match_buffers):
            self._refuse("a block looks at a buffer through another one", block.match_buffers[0])
        with self._refusing(block.name_hint):
            for buffer in block.alloc_buffers:
                self._declare(buffer, Storage.LOCAL)
        begins = isl.Set("{ : }")
        for variable, bound in zip(block.iter_vars, realized.iter_values, strict=True):
            value = self._affine(bound, "the value of a block's variable")
            self.values[key(variable.var)] = value
            if int(variable.iter_type) == _REDUCES:
                first = self._affine(variable.dom.min, "the first value of a block's variable")
                assert value.affine is not None
                assert first.affine is not None
                begins = begins.intersect(value.affine.eq_set(first.affine))
        with self.region.guard(self._holds(realized.predicate)):
            if block.init is not None:
                with self.region.guard(begins):
                    self._statement(block.init)
            self._statement(block.body)

    def _bind(self, variable: Any, value: Value) -> None:
        """Name a value: one of sizes and loop variables, or a scalar that is computed here and now."""
        if value.affine is not None:
            self.values[key(variable)] = value
            return
        dtype = dtype_of(variable)
        if dtype is None:
            raise CannotExpress(f"a value of type {type_name(variable)}")
        name = self.bound[key(variable)] = self.region.fresh(plain_name(variable.name))
        self.region.declare(name, dtype, storage=Storage.LOCAL)
        self.region.assign(name, (), values.converted(value, dtype))

    def _store(self, node: Any) -> None:
        array = self._array(buffer_of(node))
        subscripts = [self.reader.value(index) for index in node.indices]
        dtype = self.region.arrays[array].dtype
        value = self.reader.value(node.value)
        if value.dtype != dtype and not value.weak:
            raise CannotExpress(f"a value of another type is stored, {value.dtype} into {dtype}")
        op, written = as_update(self.region, array, subscripts, values.converted(value, dtype))
        self.region.assign(array, subscripts, written, op=op)


def _words(node: Any) -> str:
    """A part of a function, as TVM writes it."""
    return " ".join(str(node).split("# Metadata")[0].split())[:80]
