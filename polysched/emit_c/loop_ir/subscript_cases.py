"""Parts of subscripts that have two cases, one of which is known at a place, so that nothing is asked there.

    A[(i + 1) % n]              is  A[i + 1]  where i + 1 < n,  and  A[i + 1 - n]  where n <= i + 1 < 2 n
    A[i == 0 ? n - 1 : i - 1]   is  A[i - 1]  where i > 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Comparison, Linear, constant
from polysched.emit_c.loop_ir.loops import Settled, StatementInstance
from polysched.emit_c.loop_ir.subscripts import comparison_of, linear_form
from polysched.scop.body import Binary, Expr, Select, rebuild, walk
from polysched.scop.dtypes import INT32
from polysched.scop.scop import Scop, Statement

Iterators: TypeAlias = Mapping[str, Linear]


@dataclass(frozen=True)
class TwoCases:
    """A part of a subscript whose value is one of two linear forms.

    Parameters
    ----------
    part : the expression, over the iterators of its statement.
    condition : which of them, in terms of loop variables and parameters; of `e % p` it is `e >= p`.
    provided : what has to hold lest there are more than two.
    """

    part: Binary | Select
    condition: Comparison
    provided: tuple[Comparison, ...] = ()

    @property
    def divides(self) -> bool:
        return isinstance(self.part, Binary)


def statement_at(scop: Scop, instance: StatementInstance) -> Statement:
    """The statement of an instance, with subscripts as they are at its place."""
    statement = scop.statement(instance.statement)
    return _settled(statement, instance.settled) if instance.settled else statement


def subscript_cases(scop: Scop, instance: StatementInstance) -> tuple[TwoCases, ...]:
    """The parts of the subscripts of an instance that have two cases.

    What stands inside another one that has no linear form comes first; the other one comes once it is settled.
    """
    statement = statement_at(scop, instance)
    iterators: Iterators = dict(zip(statement.iterators, instance.iterators, strict=True))
    parts = dict.fromkeys(expr for access in statement.accesses for subscript in access.subscripts
                          for expr in walk(subscript) if isinstance(expr, Binary | Select))
    found = (_remainder(e, iterators) if isinstance(e, Binary) else _choice(e, iterators) for e in parts)
    return tuple(cases for cases in found if cases is not None)


def _remainder(part: Binary, iterators: Iterators) -> TwoCases | None:
    if part.op != "%":
        return None
    dividend, divisor = linear_form(part.left, iterators), linear_form(part.right, iterators)
    if dividend is None or divisor is None:
        return None
    return TwoCases(part, Comparison(">=", dividend, divisor), (
        Comparison(">=", dividend, constant(0)), Comparison("<", dividend, divisor * 2)))


def _choice(part: Select, iterators: Iterators) -> TwoCases | None:
    condition = comparison_of(part.condition, iterators)
    return None if condition is None else TwoCases(part, condition)


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
    """What a part is in the case that is known, or with a comparison in place of a division."""
    part = settled.part
    if isinstance(part, Select):
        return part.then if settled.holds else part.otherwise
    less = Binary("-", part.left, part.right, part.dtype)
    if settled.holds is None:
        return Select(Binary("<", part.left, part.right, INT32), part.left, less, part.dtype)
    return less if settled.holds else part.left
