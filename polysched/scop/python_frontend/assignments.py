"""Assignments of a Python function: names, tuples, parts of arrays, and `op=`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from polysched.scop.construction import values
from polysched.scop.construction.promotion import result_type, to_numpy
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BFLOAT16, DType
from polysched.scop.python_frontend.data_indices import DataIndices
from polysched.scop.python_frontend.emission import COMPOUND, Emission
from polysched.scop.python_frontend.environment import (
    Environment,
    Restart,
    Stored,
    assigned_names,
)
from polysched.scop.python_frontend.expressions import BINARY, Evaluator, described
from polysched.scop.python_frontend.operands import (
    ArrayValue,
    Indices,
    Operand,
    Pending,
    PythonObject,
    TupleValue,
    View,
    elements_of,
    lifted,
    sources_of,
    stretched,
)
from polysched.scop.python_frontend.source import FunctionSource
from polysched.scop.scop import Storage

SEQUENCES = (ast.Tuple, ast.List)
OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Assignments:
    """Lowers the assignments of one function into a Region, and knows the storage of its scalar variables.

    Attributes
    ----------
    types : the type of every name that needs storage, as far as it is known; grows from pass to pass.
    """

    def __init__(self, source: FunctionSource, region: Region, env: Environment, outer: Mapping[str, Any],
                 types: dict[str, tuple[DType, bool]], forced: set[str], indices: DataIndices) -> None:
        self.source = source
        self.region = region
        self.emission = Emission(region)
        self.types = types
        self.forced = forced
        self.captured: dict[str, Any] = {}
        self.storage: dict[str, Stored] = {}
        self.results: list[View] = []
        self.weak_results: set[str] = set()
        own = frozenset([*assigned_names(source.tree.body), *env])
        self.evaluator = Evaluator(source, self.emission, env, outer, own, forced, self.captured, indices)

    @property
    def env(self) -> Environment:
        """The meaning of the names here."""
        return self.evaluator.env

    @env.setter
    def env(self, env: Environment) -> None:
        self.evaluator.env = env

    def _bound_value(self, name: str) -> Value:
        binding = self.env[name]
        if isinstance(binding, Stored):
            return self.region.load(binding.array, (), weak=binding.weak)
        assert isinstance(binding, Value)
        return binding

    def _assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, SEQUENCES) and isinstance(node.value, SEQUENCES):
            self._check_counts(node, target.elts, node.value.elts)
            self._parallel(target.elts, [self.evaluator.evaluate(e) for e in node.value.elts])
            return
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Call):
            self.emission.stem = target.id
        value = self.evaluator.evaluate(node.value)
        self.emission.stem = "tmp"
        if len(node.targets) > 1:
            value = self._kept(value, node.targets)
        for one in node.targets:
            self.assign_to(one, value)

    def _check_counts(self, node: ast.Assign, targets: Sequence[ast.expr], given: Sequence[ast.expr]) -> None:
        """Refuse other numbers of targets and values, and those that are not known."""
        for element in (*targets, *given):
            if isinstance(element, ast.Starred):
                self.source.refuse(element, f"`{ast.unparse(element)}` stands for any number of items",
                                   hint="name every item")
        if len(targets) != len(given):
            self.source.refuse(node, f"{len(given)} values for {len(targets)} targets")

    def _parallel(self, targets: Sequence[ast.expr], operands: Sequence[Operand]) -> None:
        """`a, b = b, a`: all right sides first."""
        kept = [self._kept(operand, targets[:position]) for position, operand in enumerate(operands)]
        for target, operand in zip(targets, kept, strict=True):
            self.assign_to(target, operand)

    def _kept(self, operand: Operand, targets: Sequence[ast.expr]) -> Operand:
        """The operand, computed now when assigning to the targets could change what it reads."""
        if isinstance(operand, TupleValue):
            return TupleValue(tuple(self._kept(item, targets) for item in operand.items))
        if isinstance(operand, (Pending, ArrayValue)):
            return self.emission.materialised(operand)
        if not isinstance(operand, Value):
            return operand
        written = {array for t in targets for array in self._written(t)}
        return operand if sources_of(self.region, operand).isdisjoint(written) else self._saved(operand)

    def _saved(self, value: Value) -> Value:
        """A value, computed now into a variable of its own."""
        view = self.emission.temporary("kept", value.dtype, ())
        self.emission.assign_element(view.array, (), value)
        return self.region.load(view.array, (), weak=value.weak)

    def _settled(self, operand: Operand) -> Operand:
        """An item of a tuple, computed now when any later assignment could change what it reads."""
        match operand:
            case TupleValue():
                return TupleValue(tuple(map(self._settled, operand.items)))
            case Pending() | ArrayValue():
                return self.emission.materialised(operand)
            case Value() if not self._is_plain(operand):
                indices = self.evaluator.indices
                if not indices.only_reads(self.region, operand):
                    return self._saved(operand)
                indices.used.update(sources_of(self.region, operand))
        return operand

    def _written(self, target: ast.expr) -> list[str]:
        """The arrays that an assignment to a target writes, of those that there are already."""
        if isinstance(target, SEQUENCES):
            return [array for element in target.elts for array in self._written(element)]
        while isinstance(target, ast.Subscript):
            target = target.value
        binding = self.env.get(target.id) if isinstance(target, ast.Name) else None
        return [binding.array] if isinstance(binding, (Stored, View)) else []

    def assign_to(self, target: ast.expr, operand: Operand) -> None:
        """Give a target an operand's value."""
        match target:
            case ast.Name():
                self._assign_name(target, operand)
            case ast.Tuple() | ast.List():
                if not isinstance(operand, TupleValue) or len(operand.items) != len(target.elts):
                    self.source.refuse(target, f"{described(operand)} does not unpack into {len(target.elts)} names")
                self._parallel(target.elts, operand.items)
            case ast.Subscript():
                base = self.evaluator.evaluate(target.value)
                view = self._writable(target, base)
                if isinstance(operand, (TupleValue, PythonObject)):
                    self.source.refuse(target, f"{described(operand)} is assigned to an array")
                self.emission.store(view, operand)
            case _:
                self.source.refuse(target, f"an assignment to `{ast.unparse(target)}`",
                                   hint="assign to a name or to a part of an array")

    def _writable(self, target: ast.Subscript, base: Operand) -> View:
        if not isinstance(base, View):
            self.source.refuse(target.value, f"{described(base)} has no elements to assign to")
        try:
            return self.evaluator.view(target.value, base, target)
        except CannotExpress as problem:
            self.source.refuse(target, problem.problem, hint=problem.hint)

    def _assign_name(self, target: ast.Name, operand: Operand) -> None:
        name = target.id
        match operand:
            case Value():
                indices = self.evaluator.indices
                computed_again = name in indices.names and indices.only_reads(self.region, operand)
                if name in self.forced or not (self._is_plain(operand) or computed_again):
                    self._bind_scalar(target, name, operand)
                else:
                    self.env[name] = operand
            case Pending() if not operand.shape:
                stored = self._storage(target, name, operand.dtype, False)
                view = View(stored.array, (), (), stored.dtype)
                self.emission.store(view, operand)
                self.env[name] = stored
            case ArrayValue() | Pending():
                self.env[name] = self.emission.materialised(operand, name)
            case View() if not operand.shape:
                self._bind_scalar(target, name, self.region.load(operand.array, operand.at(())))
            case TupleValue():
                self.env[name] = self._settled(operand)
            case _:
                self.env[name] = operand

    def _is_plain(self, value: Value) -> bool:
        """Whether a value can stand wherever its name does: a constant or a function of sizes and loop indices."""
        return value.affine is not None or value.condition is not None or values.constant_of(value) is not None

    def _bind_scalar(self, node: ast.AST, name: str, value: Value) -> None:
        """Store a value in a scalar variable."""
        stored = self._storage(node, name, value.dtype, value.weak)
        self.emission.assign_element(stored.array, (), value)
        self.env[name] = stored

    def _storage(self, node: ast.AST, name: str, dtype: DType, weak: bool) -> Stored:
        """The storage of a scalar variable; a value of a wider kind starts the lowering over with that type."""
        known = self.types.get(name)
        joined = (dtype, weak) if known is None else result_type(*known, dtype, weak)
        if known is not None and not known[1] and not weak and known[0] != dtype:
            self.source.refuse(node, f"{name} is of type {known[0]} here and of type {dtype} there",
                               hint="give the two values names of their own, or convert one")
        if joined != known:
            self.types[name] = joined
            if known is not None and name in self.storage:
                raise Restart
        if name not in self.storage:
            array = self.region.fresh(name)
            self.region.declare(array, joined[0], storage=Storage.LOCAL)
            self.storage[name] = Stored(array, *joined)
        return self.storage[name]

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            binding = self.evaluator.evaluate(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
            value = self.evaluator.evaluate(node.value)
            if isinstance(binding, View):
                self._update_view(node, binding, value)
                return
            name = node.target.id
            if not isinstance(self.env.get(name), Stored):
                self.forced.add(name)
                raise Restart
            self._update_scalar(node, name, value)
            return
        if not isinstance(node.target, ast.Subscript):
            self.source.refuse(node.target, "an assignment to something that is no name and no part of an array")
        base = self.evaluator.evaluate(node.target.value)
        view = self._writable(node.target, base)
        self._update_view(node, view, self.evaluator.evaluate(node.value))

    def _update_scalar(self, node: ast.AugAssign, name: str, operand: Operand) -> None:
        """`x op= value` of a scalar variable."""
        if isinstance(operand, Pending) and not operand.shape:
            stored = self.env[name]
            assert isinstance(stored, Stored)
            if self._accumulates(node, operand, stored.array, stored.dtype):
                self.emission.reduce_into(View(stored.array, (), (), stored.dtype), operand, fresh=False)
                return
        value = self.evaluator.computable(operand)
        if not isinstance(value, Value):
            self.source.refuse(node.value, "an array is combined with a scalar variable",
                               hint="write x = x + ... for a new array")
        old = self._bound_value(name)
        new = BINARY[type(node.op)](old, value) if type(node.op) in BINARY else None
        if new is None:
            self.source.refuse(node, "`@=` of a scalar")
        stored = self._storage(node, name, new.dtype, new.weak)
        op = OPERATORS.get(type(node.op))
        if op in COMPOUND and not (stored.dtype.is_integer and op == "/"):
            self.emission.update_element(stored.array, (), op, value, weak=stored.weak)
        else:
            self.emission.assign_element(stored.array, (), new)
        self.env[name] = stored

    def _accumulates(self, node: ast.AugAssign, value: Pending, array: str, dtype: DType) -> bool:
        """Whether a sum can go straight into what it is added to."""
        return (isinstance(node.op, ast.Add) and value.kind == "sum" and value.dtype == dtype
                and array not in value.sources)

    def _update_view(self, node: ast.AugAssign, view: View, operand: Operand) -> None:
        """`A[...] op= value`: of one element as Python does it, of an array as a ufunc with `out` does it."""
        if isinstance(operand, Pending) and self._accumulates(node, operand, view.array, view.dtype) \
                and self.emission.fits(view, operand.shape, exactly=True):
            self.emission.reduce_into(view, operand, fresh=False)
            return
        value: Value | ArrayValue
        if isinstance(node.op, ast.MatMult):
            product = self.evaluator.calls.product(view, operand)
            assert isinstance(product, Pending)
            self.emission.store(view, self.emission.materialised(product))
            return
        value = self.evaluator.computable(operand)
        if not view.shape:
            if not isinstance(value, Value):
                self.source.refuse(node.value, "an array is combined with one element")
            self._update_element(node, view, (), value)
            return
        source = value if isinstance(value, ArrayValue) else ArrayValue(
            (), value.dtype, lambda indices: value, sources_of(self.region, value))
        self._check_in_place(node, view, value)
        if len(source.shape) > len(view.shape):
            self.source.refuse(node, "an in-place operation with an array of more dimensions")   # as NumPy does
        self.emission.fits(view, source.shape)
        if view.array in source.sources and self.emission.overtakes(view, source):
            source = elements_of(self.region, self.emission.materialised(source))
        with ExitStack() as loops:
            indices = self.emission.open_target(loops, view)
            self._update_element(node, view, indices, source.element(stretched(indices, source.shape)))

    def _update_element(self, node: ast.AugAssign, view: View, indices: Indices, value: Value) -> None:
        op = OPERATORS.get(type(node.op))
        place = view.at(indices)
        if op is not None:
            self.emission.update_element(view.array, place, op, value)
            return
        old = self.region.load(view.array, place)
        self.emission.assign_element(view.array, place, BINARY[type(node.op)](old, value))

    def _check_in_place(self, node: ast.AugAssign, view: View, value: Value | ArrayValue) -> None:
        """Refuse what NumPy refuses: an in-place result that its array cannot hold."""
        operands = [elements_of(self.region, view), value]
        result = lifted(self.region, BINARY[type(node.op)], operands).dtype
        if BFLOAT16 in (result, view.dtype):
            return
        if not np.can_cast(to_numpy(result), to_numpy(view.dtype), "same_kind"):
            self.source.refuse(node, f"the {result} result of an in-place operation does not fit {view.dtype} elements",
                               hint="convert the right side with .astype, as NumPy wants it too")
