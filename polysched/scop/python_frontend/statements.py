"""From the statements of a Python function to a Scop: loops, branches, the order of everything."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import Any

import islpy as isl

from polysched.scop.body import BodyStatement, If
from polysched.scop.construction import values
from polysched.scop.construction.region import UNIVERSE, OutOfBounds
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL
from polysched.scop.python_frontend.assignments import Assignments
from polysched.scop.python_frontend.emission import NeedsLoops
from polysched.scop.python_frontend.environment import (
    Environment,
    Stale,
    Stored,
    after_loop,
    assigned_names,
    at_loop_entry,
    is_array,
)
from polysched.scop.python_frontend.expressions import described
from polysched.scop.python_frontend.operands import (
    ArrayValue,
    Operand,
    Pending,
    PythonObject,
    TupleValue,
    View,
)


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


class Lowering(Assignments):
    """Lowers the statements of one function into a Region."""

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

    def _for(self, node: ast.For) -> None:
        if node.orelse:
            self.source.refuse(node.orelse[0], "the else of a for loop", hint="write it behind the loop")
        if not isinstance(node.target, ast.Name):
            self.source.refuse(node.target, "a loop over more than one name", hint="loop over a range")
        start, stop, step, turned = self._range(node.iter)
        name = node.target.id
        assigned = [n for n in assigned_names(node.body) if n != name]
        if name in assigned_names(node.body):
            self.source.refuse(node.target, f"the loop variable {name} is assigned in its loop",
                               hint="use another name inside the loop")
        before = dict(self.env)
        with self.emission.loop("t" if name == "_" else name, start, stop, step, turned=turned) as value:
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

    def _range(self, node: ast.expr) -> tuple[Value, Value, int, bool]:
        """The bounds and the step of the loop, and whether the last element comes first."""
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
        return start, stop, step, turned

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
