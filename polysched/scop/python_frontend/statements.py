"""From the statements of a Python function to a Scop."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import islpy as isl
import numpy as np

from polysched.scop.body import BodyStatement, If
from polysched.scop.construction import values
from polysched.scop.construction.promotion import result_type, to_numpy
from polysched.scop.construction.region import UNIVERSE, OutOfBounds, Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BFLOAT16, BOOL, DType
from polysched.scop.python_frontend.emission import COMPOUND, Emission, NeedsLoops
from polysched.scop.python_frontend.environment import (
    Environment,
    Restart,
    Stale,
    Stored,
    after_loop,
    assigned_names,
    at_loop_entry,
    is_array,
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

OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def without_continue(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The same statements without `continue`: what follows it moves into the branches that do not continue."""
    result: list[ast.stmt] = []
    for position, statement in enumerate(body):
        if isinstance(statement, ast.Continue):
            return result
        if isinstance(statement, ast.If) and _continues(statement):
            rest = list(body[position + 1:])
            then = without_continue([*statement.body, *rest])
            otherwise = without_continue([*statement.orelse, *rest])
            kept = then or [ast.copy_location(ast.Pass(), statement)]
            return [*result, ast.copy_location(ast.If(statement.test, kept, otherwise), statement)]
        result.append(statement)
    return result


def _continues(statement: ast.stmt) -> bool:
    """Whether a branch, at any depth but not in an inner loop, continues the loop around it."""
    if isinstance(statement, ast.If):
        return any(_continues(s) for s in [*statement.body, *statement.orelse])
    return isinstance(statement, ast.Continue)


class Lowering:
    """Lowers the statements of one function into a Region.

    Attributes
    ----------
    types : the type of every name that needs storage, as far as it is known; grows from pass to pass.
    """

    def __init__(self, source: FunctionSource, region: Region, env: Environment, outer: Mapping[str, Any],
                 types: dict[str, tuple[DType, bool]], forced: set[str]) -> None:
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
        self.evaluator = Evaluator(source, self.emission, env, outer, own, forced, self.captured)

    @property
    def env(self) -> Environment:
        """The meaning of the names here."""
        return self.evaluator.env

    @env.setter
    def env(self, env: Environment) -> None:
        self.evaluator.env = env

    def function(self) -> None:
        """Lower the whole body of the function."""
        for name in list(self.env):
            if name in self.forced and not is_array(self.env[name]):
                self._bind_scalar(self.source.tree, name, self._bound_value(name))
        body = list(self.source.tree.body)
        if body and isinstance(body[-1], ast.Return):
            self.block(body[:-1])
            self._return(body[-1])
        else:
            self.block(body)

    def _bound_value(self, name: str) -> Value:
        binding = self.env[name]
        if isinstance(binding, Stored):
            return self.region.load(binding.array, (), weak=binding.weak)
        assert isinstance(binding, Value)
        return binding

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements in order."""
        for statement in without_continue(body):
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Lower one statement."""
        self.emission.line = self.source.line_of(node)
        try:
            self._statement(node)
        except CannotExpress as problem:
            self.source.refuse(node, problem.problem, hint=problem.hint)
        except OutOfBounds as problem:
            self.source.refuse(node, f"{problem} whatever the sizes are",
                               hint=f"the element {problem.witness} does not exist")

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                self._assign(node)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign_to(node.target, self.evaluator.evaluate(node.value))
            case ast.AugAssign():
                self._augmented(node)
            case ast.For():
                self._for(node)
            case ast.If():
                self._if(node)
            case ast.Pass():
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Assert():
                self._assert(node)
            case ast.While():
                self.source.refuse(node.test, "a while loop", hint="write a for loop over a range with affine bounds")
            case ast.Break():
                self.source.refuse(node, "a break", hint="put the condition into the bounds of the loop")
            case ast.Return():
                self.source.refuse(node, "a return before the end", hint="return once, in the last line")
            case ast.Expr():
                self.source.refuse(node, "an expression whose value is not used")
            case _:
                self.source.refuse(node, f"{type(node).__name__} is no statement that a kernel can contain",
                                   hint="loops over ranges, if, assignments and a final return are")

    def _assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            if len(target.elts) != len(node.value.elts):
                self.source.refuse(node, f"{len(node.value.elts)} values for {len(target.elts)} targets")
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

    def _parallel(self, targets: Sequence[ast.expr], operands: Sequence[Operand]) -> None:
        """`a, b = b, a`: all right sides first."""
        kept = [self._kept(operand, targets[:position]) for position, operand in enumerate(operands)]
        for target, operand in zip(targets, kept, strict=True):
            self.assign_to(target, operand)

    def _kept(self, operand: Operand, targets: Sequence[ast.expr]) -> Operand:
        """The operand, computed now when assigning to the targets could change what it reads."""
        if isinstance(operand, (Pending, ArrayValue)):
            return self.emission.materialised(operand)
        if not isinstance(operand, Value):
            return operand
        written = {self._written(t) for t in targets}
        if sources_of(self.region, operand).isdisjoint(written):
            return operand
        view = self.emission.temporary("kept", operand.dtype, ())
        self.emission.assign_element(view.array, (), operand)
        return self.region.load(view.array, (), weak=operand.weak)

    def _written(self, target: ast.expr) -> str | None:
        """The array that an assignment to a target writes, when it has one already."""
        while isinstance(target, ast.Subscript):
            target = target.value
        binding = self.env.get(target.id) if isinstance(target, ast.Name) else None
        return binding.array if isinstance(binding, (Stored, View)) else None

    def assign_to(self, target: ast.expr, operand: Operand) -> None:
        """Give a target an operand's value."""
        match target:
            case ast.Name():
                self._assign_name(target, operand)
            case ast.Tuple() | ast.List():
                if not isinstance(operand, TupleValue) or len(operand.items) != len(target.elts):
                    self.source.refuse(target, f"{described(operand)} does not unpack into {len(target.elts)} names")
                for element, item in zip(target.elts, operand.items, strict=True):
                    self.assign_to(element, item)
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
                if name in self.forced or not self._is_plain(operand):
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

    def _for(self, node: ast.For) -> None:
        if node.orelse:
            self.source.refuse(node.orelse[0], "the else of a for loop", hint="write it behind the loop")
        if not isinstance(node.target, ast.Name):
            self.source.refuse(node.target, "a loop over more than one name", hint="loop over a range")
        start, stop, step = self._range(node.iter)
        name = node.target.id
        assigned = [n for n in assigned_names(node.body) if n != name]
        if name in assigned_names(node.body):
            self.source.refuse(node.target, f"the loop variable {name} is assigned in its loop",
                               hint="use another name inside the loop")
        before = dict(self.env)
        with self.emission.loop("t" if name == "_" else name, start, stop, step) as value:
            self.env = at_loop_entry(before, assigned)
            if name in self.forced:
                self._bind_scalar(node.target, name, value)
                before.setdefault(name, self.env[name])
            self.env[name] = value
            self.block(node.body)
            if name in self.forced:
                self.env[name] = self.storage[name]
            inside = self.env
        self.env = after_loop(before, inside, [*assigned, name])

    def _range(self, node: ast.expr) -> tuple[Value, Value, int]:
        """The bounds and the step of the loop."""
        turned = False
        call = node
        if isinstance(call, ast.Call) and self._is_builtin(call.func, builtins.reversed) and len(call.args) == 1:
            call, turned = call.args[0], True
        if not isinstance(call, ast.Call) or not self._is_builtin(call.func, builtins.range) or call.keywords:
            self.source.refuse(node, "a loop over something else than a range",
                               hint="write for i in range(n) and subscript with i")
        bounds = [self.evaluator.affine(a, "a bound of the loop") for a in call.args]
        if not 1 <= len(bounds) <= 3:
            self.source.refuse(call, f"range takes one to three arguments, not {len(bounds)}")
        start, stop = (values.number(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = values.constant_of(bounds[2]) if len(bounds) == 3 else 1
        if not isinstance(step, int) or step == 0:
            self.source.refuse(call.args[2], "the step of the loop is not a constant other than 0",
                               hint="a symbolic step is not affine")
        if turned and abs(step) != 1:
            self.source.refuse(node, "reversed of a range with a step", hint="write the range backwards")
        if turned:
            shift = values.number(step)
            return values.arithmetic("-", stop, shift), values.arithmetic("-", start, shift), -step
        return start, stop, step

    def _is_builtin(self, node: ast.expr, function: Any) -> bool:
        if not isinstance(node, ast.Name) or node.id in self.env:
            return False
        operand = self.evaluator.evaluate(node)
        return isinstance(operand, PythonObject) and operand.value is function

    def _if(self, node: ast.If) -> None:
        test = self.evaluator.condition(node.test)
        if test.condition is None:
            self._if_data(node, test)
            return
        if self.region.holds(test.condition):
            self.block(node.body)
            return
        if self.region.holds(test.condition.complement()):
            self.block(node.orelse)
            return
        before = dict(self.env)
        with self.region.guard(test.condition):
            self.block(node.body)
        then, self.env = self.env, dict(before)
        with self.region.guard(test.condition.complement()):
            self.block(node.orelse)
        self._merge(before, then, self.env, test)

    def _merge(self, before: Environment, then: Environment, otherwise: Environment, test: Value | None) -> None:
        """The meaning of names behind two branches."""
        result = dict(before)
        for name in dict.fromkeys([*then, *otherwise]):
            a, b = then.get(name), otherwise.get(name)
            if a is b:
                merged = a
            elif isinstance(a, Value) and isinstance(b, Value) and test is not None:
                merged = values.select(test, a, b)
            elif (a is None or b is None) and isinstance(a or b, Stored):
                merged = a or b
            else:
                merged = Stale(is_array(a) or is_array(b))
            if merged is not None:
                result[name] = merged
        self.env = result

    def _if_data(self, node: ast.If, test: Value) -> None:
        """A branch that depends on data: one opaque statement where both sides are plain assignments."""
        before = dict(self.env)
        outer = self.emission.collected
        try:
            then, otherwise = self._as_body(node, test, before)
        except NeedsLoops:
            self.emission.collected, self.env = outer, before
            if outer is not None:
                raise
            self._if_saved(node, test, before)
            return
        finally:
            self.emission.collected = outer
        self.emission.line = self.source.line_of(node)
        statement = If(values.truth_expression(test), then, otherwise)
        if test.necessary is not None and not otherwise:
            with self.region.guard(test.necessary):
                self.emission.emit(statement)
        else:
            self.emission.emit(statement)

    def _as_body(self, node: ast.If, test: Value,
                 before: Environment) -> tuple[tuple[BodyStatement, ...], tuple[BodyStatement, ...]]:
        """Both sides of a branch as the bodies of one statement."""
        then: list[BodyStatement] = []
        self.emission.collected = then
        if test.necessary is not None:
            with self.region.guard(test.necessary):
                self.block(node.body)
        else:
            self.block(node.body)
        after_then, self.env = self.env, dict(before)
        otherwise: list[BodyStatement] = []
        self.emission.collected = otherwise
        self.block(node.orelse)
        self._merge(before, after_then, self.env, None)
        return tuple(then), tuple(otherwise)

    def _if_saved(self, node: ast.If, test: Value, before: Environment) -> None:
        """A branch around loops: the truth value is saved, and guards every statement inside."""
        taken = self._saved_truth(test)
        sides = [(node.body, taken, test.necessary)]
        if node.orelse:
            sides.append((node.orelse, self._saved_truth(values.logical_not(self.region.load(taken))), None))
        after: list[Environment] = []
        for body, condition, necessary in sides:
            self.env = dict(before)
            self.emission.conditions.append(condition)
            with self.region.guard(necessary if necessary is not None else isl.Set(UNIVERSE)):
                self.block(body)
            self.emission.conditions.pop()
            after.append(self.env)
        self._merge(before, after[0], after[1] if len(after) > 1 else dict(before), None)

    def _saved_truth(self, test: Value) -> str:
        view = self.emission.temporary("taken", BOOL, ())
        self.emission.assign_element(view.array, (), test)
        return view.array

    def _assert(self, node: ast.Assert) -> None:
        """An assertion about sizes is checked before the kernel runs."""
        test = self.evaluator.condition(node.test)
        if test.condition is None:
            self.source.refuse(node.test, "an assertion about data", hint="check it before the call")
        if not self.region.require(test.condition, kind="assertion", text=ast.unparse(node.test)):
            self.source.refuse(node.test, "the assertion never holds")

    def _return(self, node: ast.Return) -> None:
        """The last line's values become arrays that the caller gets."""
        if node.value is None:
            return
        self.emission.line = self.source.line_of(node)
        try:
            operand = self.evaluator.evaluate(node.value)
            if isinstance(operand, PythonObject) and operand.value is None:
                return
            items = operand.items if isinstance(operand, TupleValue) else (operand,)
            self.results = [self._result(node, item) for item in items]
        except CannotExpress as problem:
            self.source.refuse(node, problem.problem, hint=problem.hint)

    def _result(self, node: ast.Return, operand: Operand) -> View:
        if isinstance(operand, Value) or (isinstance(operand, (Pending, ArrayValue)) and not operand.shape):
            dtype = operand.dtype
            view = self.emission.temporary("result", dtype, ())
            self.emission.store(view, operand)
            if isinstance(operand, Value) and operand.weak:
                self.weak_results.add(view.array)
            return view
        if isinstance(operand, (ArrayValue, Pending)):
            return self.emission.materialised(operand, "result")
        if not isinstance(operand, View):
            self.source.refuse(node, f"{described(operand)} is returned", hint="return numbers and arrays")
        return operand
