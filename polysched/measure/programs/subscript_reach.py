"""How far a subscript reaches that is no affine function: intervals over the boxes of its iterators.

`x[(b * T + t) * C + i]` with counters up to B, T and C reaches element `B * T * C - 1`; once sizes are given,
arithmetic on intervals says so (Moore, "Interval Analysis", 1966, chapter 3).  An interval may be too long, never too
short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import (
    COMPARISON,
    LOGICAL,
    Assign,
    Binary,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Select,
    Unary,
    assignments,
    passed_references,
)
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Access, Scop, Statement, Storage

Interval: TypeAlias = tuple[int, int]
DIM = isl.dim_type


def largest_subscript(scop: Scop, statement: Statement, access: Access, position: int,
                      sizes: Mapping[str, int]) -> int | None:
    """At most this element of a dimension is reached at these sizes.

    Returns
    -------
    None where the subscript depends on data, has no counterpart in the source, or is that of the first of several
    elements that a function reaches; -1 where nothing runs.
    """
    if len(access.subscripts) != len(scop.array(access.array).extents) or (
            access.reference in passed_references(statement.body)):
        return None
    box = _box(statement, sizes)
    if box is None:
        return -1
    found = _Evaluation(scop, statement, sizes, box).interval(access.subscripts[position])
    return None if found is None else found[1]


def _box(statement: Statement, sizes: Mapping[str, int]) -> dict[str, Interval] | None:
    """The values of every iterator; None where no instance runs."""
    domain = fix_parameters(statement.domain, sizes)
    if domain.is_empty():
        return None
    return {name: (int(domain.dim_min_val(d).to_python()), int(domain.dim_max_val(d).to_python()))
            for d, name in enumerate(statement.iterators) if _is_bounded(domain, d)}


def _is_bounded(domain: isl.Set, dimension: int) -> bool:
    return bool(domain.dim_min_val(dimension).is_int() and domain.dim_max_val(dimension).is_int())


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Values inside one statement.

    Parameters
    ----------
    open_scalars : scalars whose values are being looked for: one that depends on itself has no interval.
    """

    scop: Scop
    statement: Statement
    sizes: Mapping[str, int]
    box: Mapping[str, Interval]
    open_scalars: frozenset[str] = frozenset()

    def interval(self, expr: Expr) -> Interval | None:
        """All values of an integer expression; None where they are not known."""
        match expr:
            case Literal() if isinstance(expr.value, int):
                return (expr.value, expr.value)
            case IteratorRef():
                return self.box.get(expr.name)
            case ParameterRef() if expr.name in self.sizes:
                return (self.sizes[expr.name], self.sizes[expr.name])
            case Load():
                return self._scalar(self.statement.access(expr.reference).array)
            case Cast() | Unary():
                return self._one_operand(expr)
            case Select():
                return _union(self.interval(expr.then), self.interval(expr.otherwise))
            case Binary() if expr.op in COMPARISON | LOGICAL:
                return (0, 1)
            case Binary():
                left, right = self.interval(expr.left), self.interval(expr.right)
                return None if left is None or right is None else _combined(expr.op, left, right)
        return None

    def _one_operand(self, expr: Cast | Unary) -> Interval | None:
        inner = self.interval(expr.operand)
        if inner is None or not expr.dtype.is_integer:
            return None
        if isinstance(expr, Unary):
            low, high = inner
            return {"-": (-high, -low), "+": inner, "!": (0, 1), "~": (-high - 1, -low - 1)}.get(expr.op)
        low, high = expr.dtype.value_range()
        return inner if low <= inner[0] and inner[1] <= high else None

    def _scalar(self, name: str) -> Interval | None:
        """A variable of the region has the values that it is assigned, and no others in a valid program."""
        array = self.scop.array(name)
        if not array.is_scalar or array.storage is not Storage.LOCAL or name in self.open_scalars:
            return None
        values: list[Interval | None] = []
        for statement in self.scop.statements:
            box = _box(statement, self.sizes)
            if box is None:
                continue
            inside = replace(self, statement=statement, box=box, open_scalars=self.open_scalars | {name})
            own = {a.target: a for a in assignments(statement.body)}   # calls write others
            values += [inside._assigned(own[write.reference]) if write.reference in own else None
                       for write in statement.writes if write.array == name]
        if not values:
            return None
        result = values[0]
        for value in values[1:]:
            result = _union(result, value)
        return result

    def _assigned(self, assignment: Assign) -> Interval | None:
        if assignment.op is not None or not assignment.dtype.is_integer:
            return None
        value = self.interval(assignment.value)
        low, high = assignment.dtype.value_range()
        return value if value is not None and low <= value[0] and value[1] <= high else None


def _union(left: Interval | None, right: Interval | None) -> Interval | None:
    return None if left is None or right is None else (min(left[0], right[0]), max(left[1], right[1]))


def _combined(op: str, left: Interval, right: Interval) -> Interval | None:
    match op:
        case "+":
            return (left[0] + right[0], left[1] + right[1])
        case "-":
            return (left[0] - right[1], left[1] - right[0])
        case "*":
            corners = [a * b for a in left for b in right]
            return (min(corners), max(corners))
        case "/" if right[0] > 0:
            corners = [_quotient(a, b) for a in left for b in right]
            return (min(corners), max(corners))
        case "%" if right[0] > 0:
            most = right[1] - 1
            return (max(-most, min(left[0], 0)), min(most, max(left[1], 0)))
        case _:
            return None


def _quotient(dividend: int, divisor: int) -> int:
    """Rounded towards zero (C11 6.5.5)."""
    return abs(dividend) // divisor * (1 if dividend >= 0 else -1)
