"""The third reading of a described function: its equations, as the matcher reads them, evaluated from their own value.

Every element that the function leaves is the value of an instance; a value is one of its cases, whose leaves are
elements that were there before, numbers, and values of recursive statements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from polysched.errors import BudgetExceededError, UsageError
from polysched.scop.body import COMPARISON, Binary, Call, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.c_arithmetic import (
    COMPARISONS,
    convert,
    float_operation,
    integer_operation,
    math_function,
    round_float,
)
from polysched.scop.dtypes import usual_conversion
from polysched.scop.interpreter import extents_of
from polysched.scop.points import box_size, fix_parameters, pairs_of, points_of
from polysched.tensorize.description.exact_numbers import MULTIPLY_ADD
from polysched.tensorize.functions.expansion import Case, Kind, cases
from polysched.tensorize.functions.recurrences import Recurrences

Index = tuple[int, ...]
MOST_INSTANCES = 20_000   # of all statements together


class EquationValues:
    """A system at some sizes: which case every instance falls into, and what its leaves are.

    Parameters
    ----------
    sizes : values of all parameters, by the names of the system's text.

    Raises
    ------
    BudgetExceededError : the text has too many instances at these sizes.
    """

    def __init__(self, system: Recurrences, sizes: Mapping[str, int]) -> None:
        self.system = system
        self.sizes = {f"{system.prefix}{n}": v for n, v in sizes.items()}
        self.plain = dict(sizes)
        domains = {n: fix_parameters(e.domain, self.sizes) for n, e in system.equations.items()}
        if (count := sum(map(box_size, domains.values()))) > MOST_INSTANCES:
            raise BudgetExceededError(f"the text executes more than {MOST_INSTANCES} statements",
                                      where=system.scop.name, witness=f"{count} with {self.plain}",
                                      hint="describe a smaller function, or its sizes as parameters")
        self.known: dict[str, dict[Index, _Instance]] = {}

    def _instances(self, name: str) -> dict[Index, _Instance]:
        """Per instance of a statement its case, with every leaf's place."""
        if name in self.known:
            return self.known[name]
        found: dict[Index, _Instance] = {}
        for case in cases(self.system, name, self.system.equations[name].domain):
            domain = fix_parameters(case.domain, self.sizes)
            leaves = {reference: dict(pairs_of(fix_parameters(leaf.relation, self.sizes).intersect_domain(domain)))
                      for reference, leaf in case.leaves.items()}
            for point in points_of(domain):
                found[point] = _Instance(case, {r: leaves[r][point] for r in leaves})
        self.known[name] = found
        return found

    @cached_property
    def _shapes(self) -> dict[str, tuple[int | None, ...]]:
        return {a.name: extents_of(a, self.plain) for a in self.system.scop.arrays}

    def position(self, array: str, element: Index) -> int:
        """The place of an element in the array's memory."""
        at = element[0] if element else 0
        for index, extent in zip(element[1:], self._shapes[array][1:], strict=True):
            at = at * (extent or 0) + index
        return at

    @cached_property
    def lengths(self) -> dict[str, int]:
        """Per array of the caller how many elements the text reaches or declares."""
        found: dict[str, int] = {}
        for statement in self.system.scop.statements:
            for access in statement.accesses:
                reached = fix_parameters(access.relation.intersect_domain(statement.domain), self.plain).range()
                ends = [1 + self.position(access.array, p) for p in points_of(reached)]
                found[access.array] = max([found.get(access.array, 1), *ends])
        for name in found:
            shape = self._shapes[name]
            if None not in shape:
                found[name] = max(found[name], math.prod(e or 0 for e in shape))
        return found

    def run(self, memory: Mapping[str, np.ndarray[Any, np.dtype[Any]]]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
        """The arrays after one execution.

        Raises
        ------
        UndefinedBehaviourError : these values make the text do what C leaves undefined.
        """
        execution = _Execution(self, {n: v.ravel().tolist() for n, v in memory.items()})
        after = {n: v.copy() for n, v in memory.items()}
        for equation in self.system.equations.values():
            if equation.array not in after:
                continue
            targets = dict(pairs_of(fix_parameters(equation.target, self.sizes)))
            for point in points_of(fix_parameters(equation.final, self.sizes)):
                value = execution.value(equation.name, point)
                after[equation.array].ravel()[self.position(equation.array, targets[point])] = value
        return after

    def case(self, equation: str, point: Index) -> _Instance:
        """The case of one instance."""
        return self._instances(equation)[point]


class _Instance:
    """An instance's case and the places of its leaves."""

    def __init__(self, case: Case, places: Mapping[str, Index]) -> None:
        self.case, self.places = case, places


class _Execution:
    """One set of operands: values of instances are computed once."""

    def __init__(self, values: EquationValues, memory: Mapping[str, list[Any]]) -> None:
        self.values, self.memory = values, memory
        self.known: dict[tuple[str, Index], Any] = {}

    def value(self, name: str, point: Index) -> Any:
        """The value of an instance; those that it needs are computed ahead of it, so that long sums nest no calls."""
        pending = [(name, point)]
        while pending:
            key = pending[-1]
            needed = [] if key in self.known else self.needed(self.values.case(*key))
            pending += needed
            if not needed:
                self.compute(*pending.pop())
        return self.known[name, point]

    def needed(self, instance: _Instance) -> list[tuple[str, Index]]:
        """The instances that an instance reads and that have no value yet."""
        reads = ((leaf.name, instance.places[r]) for r, leaf in instance.case.leaves.items() if leaf.kind is Kind.VALUE)
        return [key for key in reads if key not in self.known]

    def compute(self, name: str, point: Index) -> None:
        """The value of an instance whose reads have theirs."""
        if (name, point) not in self.known:
            instance = self.values.case(name, point)
            self.known[name, point] = self.of(instance.case.value, lambda e: self.leaf(instance, e))

    def leaf(self, instance: _Instance, e: Load) -> Any:
        leaf, place = instance.case.leaves[e.reference], instance.places[e.reference]
        match leaf.kind:
            case Kind.VALUE:
                return self.known[leaf.name, place]
            case Kind.MEMORY:
                return self.memory[leaf.name][self.values.position(leaf.name, place)]
            case Kind.NUMBER:
                return convert(place[0], e.dtype)

    def of(self, e: Expr, leaf: Callable[[Load], Any]) -> Any:
        """The value of an expression in its type."""
        match e:
            case Literal():
                return round_float(e.value, e.dtype) if e.dtype.is_float else e.value
            case Load():
                return leaf(e)
            case Cast():
                return convert(self.of(e.operand, leaf), e.dtype)
            case Unary(op="!"):
                return int(not self.of(e.operand, leaf))
            case Unary():
                return _negated(e, convert(self.of(e.operand, leaf), e.dtype))
            case Select():
                chosen = e.then if self.of(e.condition, leaf) else e.otherwise
                return convert(self.of(chosen, leaf), e.dtype)
            case Binary():
                return self.binary(e, leaf)
            case Call():
                return _called(e, [self.of(a, leaf) for a in e.arguments])
        raise UsageError(f"no expression of a described function: {e}")

    def binary(self, e: Binary, leaf: Callable[[Load], Any]) -> Any:
        left = self.of(e.left, leaf)
        if e.op in ("&&", "||"):
            return int(bool(self.of(e.right, leaf))) if bool(left) is (e.op == "&&") else int(bool(left))
        right = self.of(e.right, leaf)
        if e.op in COMPARISON:
            common = usual_conversion(e.left.dtype, e.right.dtype)
            return int(COMPARISONS[e.op](convert(left, common), convert(right, common)))
        first: Any = convert(left, e.dtype)
        second: Any = right if e.op in ("<<", ">>") else convert(right, e.dtype)
        if e.dtype.is_float:
            return float_operation(e.op, first, second, e.dtype)
        return integer_operation(e.op, first, second, e.dtype, True)


def _negated(e: Unary, value: Any) -> Any:
    if e.op == "+":
        return value
    if e.op == "~":
        return convert(~value, e.dtype)
    return -value if e.dtype.is_float else integer_operation("-", 0, value, e.dtype, True)


def _called(e: Call, arguments: list[Any]) -> Any:
    if e.function in MULTIPLY_ADD:
        single = np.float32 if e.function == "fmaf" else np.float64
        return float(MULTIPLY_ADD[e.function](*map(single, arguments)))
    if e.function in ("min", "max"):
        return {"min": min, "max": max}[e.function](*arguments)
    function, kinds = math_function(e.function)
    return convert(function(*(convert(a, k) for a, k in zip(arguments, kinds, strict=True))), e.dtype)
