"""Parts of subscripts that have a few cases, one of which is known at a place, so that nothing is asked there.

    A[(i + 1) % n]              is  A[i + 1]  where i + 1 < n,  and  A[i + 1 - n]  where n <= i + 1 < 2 n
    A[i == 0 ? n - 1 : i - 1]   is  A[i - 1]  where i > 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Comparison, Linear, constant, variables
from polysched.emit_c.loop_ir.loops import Settled, StatementInstance
from polysched.emit_c.loop_ir.split_loops import at_least
from polysched.emit_c.loop_ir.subscripts import comparison_of, linear_form
from polysched.records import dataclass
from polysched.scop.body import Binary, Expr, Literal, Select, rebuild, walk
from polysched.scop.dtypes import INT32
from polysched.scop.scop import Scop, Statement

Iterators: TypeAlias = Mapping[str, Linear]


MOST_QUOTIENTS = LIMITS.most_quotients
"""Quotients of a dividend that the innermost loop does not move, which comparisons tell apart."""


@dataclass(frozen=True)
class Case:
    """A value of a part, and comparisons by `>=` over loop variables and parameters where it is certain.

    Parameters
    ----------
    value : the quotient of a remainder; 1 for the side of a choice where its condition holds, else 0.
    """

    value: int
    conditions: tuple[Comparison, ...]


@dataclass(frozen=True)
class Cases:
    """A part of a subscript whose value is one of a few linear forms.

    Parameters
    ----------
    part : the expression, over the iterators of its statement.
    cases : the values that are looked for, most likely ones first.
    provided : what has to hold for all of that.
    rounds : per number of quotients from 0 on, the conditions under which there are no others; empty for a choice.
    ends : where the value changes, for a part that has two.
    """

    part: Binary | Select
    cases: tuple[Case, ...]
    provided: tuple[Comparison, ...] = ()
    rounds: tuple[tuple[Comparison, ...], ...] = ()
    ends: tuple[Comparison, ...] = ()

    @property
    def moved_by(self) -> frozenset[str]:
        """The variables on which the case depends."""
        return frozenset[str]().union(*(variables(c) for case in self.cases for c in case.conditions))


def statement_at(scop: Scop, instance: StatementInstance) -> Statement:
    """The statement of an instance, with subscripts as they are at its place."""
    statement = scop.statement(instance.statement)
    return _settled(statement, instance.settled) if instance.settled else statement


def subscript_cases(scop: Scop, instance: StatementInstance) -> tuple[Cases, ...]:
    """The parts of the subscripts of an instance that have several cases.

    What stands inside another one that has no linear form comes first; the other one comes once it is settled.
    """
    statement = statement_at(scop, instance)
    iterators: Iterators = dict(zip(statement.iterators, instance.iterators, strict=True))
    parts = dict.fromkeys(expr for access in statement.accesses for subscript in access.subscripts
                          for expr in walk(subscript) if isinstance(expr, Binary | Select))
    found = (_remainder(e, iterators) if isinstance(e, Binary) else _choice(e, iterators) for e in parts)
    return tuple(cases for cases in found if cases is not None)


def _remainder(part: Binary, iterators: Iterators) -> Cases | None:
    if part.op != "%":
        return None
    dividend, divisor = linear_form(part.left, iterators), linear_form(part.right, iterators)
    if dividend is None or divisor is None:
        return None
    cases = tuple(Case(q, (Comparison(">=", dividend, divisor * q), Comparison(">=", divisor * (q + 1) - 1, dividend)))
                  for q in range(MOST_QUOTIENTS + 1))
    natural = Comparison(">=", dividend, constant(0))
    rounds = tuple((natural, Comparison("<", dividend, divisor * count)) for count in range(2, MOST_QUOTIENTS + 1))
    return Cases(part, cases, (Comparison(">=", divisor, constant(1)),), rounds, (Comparison(">=", dividend, divisor),))


def _choice(part: Select, iterators: Iterators) -> Cases | None:
    condition = comparison_of(part.condition, iterators)
    if condition is None:
        return None
    holds = Case(1, tuple(at_least(condition)))
    if condition.op == "==":
        below, above = (Comparison(op, condition.left, condition.right) for op in ("<", ">"))
        return Cases(part, (Case(0, tuple(at_least(above))), Case(0, tuple(at_least(below))), holds))
    return Cases(part, (holds, Case(0, tuple(at_least(condition.negation())))), ends=(at_least(condition)[0],))


@lru_cache(maxsize=LIMITS.kept_questions)
def _settled(statement: Statement, settled: tuple[Settled, ...]) -> Statement:
    def change(subscript: Expr) -> Expr:
        for one in settled:
            subscript = _replaced(subscript, one)
        return subscript

    return replace(statement, accesses=tuple(
        replace(a, subscripts=tuple(map(change, a.subscripts))) for a in statement.accesses))


def _replaced(expr: Expr, settled: Settled) -> Expr:
    value = _value(settled)
    return rebuild(expr, lambda e: value if e == settled.part else e)


def _value(settled: Settled) -> Expr:
    """What a part is in the case that is known, or with comparisons in place of a division."""
    part = settled.part
    if isinstance(part, Select):
        return part.then if settled.value else part.otherwise
    if settled.value is not None:
        return _less(part, settled.value)
    chosen = _less(part, settled.rounds - 1)
    for quotient in reversed(range(settled.rounds - 1)):
        test = Binary("<", part.left, _times(part, quotient + 1), INT32)
        chosen = Select(test, _less(part, quotient), chosen, part.dtype)
    return chosen


def _less(part: Binary, quotient: int) -> Expr:
    return part.left if quotient == 0 else Binary("-", part.left, _times(part, quotient), part.dtype)


def _times(part: Binary, factor: int) -> Expr:
    return part.right if factor == 1 else Binary("*", Literal(str(factor), factor, INT32), part.right, part.dtype)
