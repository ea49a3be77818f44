"""How much an iteration does, for deciding from how many on a team of threads pays.

A copy of 32000 floats in cache takes 4 microseconds in vectors, several times what a team of threads costs.  What a
loop in vector lanes does per iteration is counted in accesses of arrays and operations (`Costs.lane_operation_cycles`);
one that does little has to run longer.
"""

from __future__ import annotations

from collections.abc import Iterable

from polysched.scop.body import Assign, Binary, BodyStatement, Call, Expr, If, Load, Perform, Select, Unary, While, walk
from polysched.scop.scop import Scop, Statement
from polysched.target import Target
from polysched.tiling.limits import LIMITS

USUAL = LIMITS.usual_work

LIGHTEST = LIMITS.lightest_factor

DIVISION = LIMITS.division_work


def team_iterations(target: Target) -> int:
    """Usual iterations in lanes from which on a team of threads shares a loop of them."""
    return target.team_iterations(USUAL * target.costs.lane_operation_cycles)


def times_as_many(scop: Scop, statements: Iterable[str]) -> float:
    """How many times as many iterations of these statements in lanes take as long as usual ones; 1 to `LIGHTEST`."""
    cost = sum(work_of(scop, scop.statement(name)) for name in statements)
    return min(max(USUAL / max(cost, 1), 1.0), LIGHTEST)


def work_of(scop: Scop, statement: Statement) -> int:
    """Accesses of arrays in memory and operations of one instance; those that take long count as several."""
    held = {a.name for a in scop.arrays if a.is_scalar or a.is_temporary}
    return (sum(access.array not in held for access in statement.accesses)
            + sum(_operations(item) for item in statement.body))


def _operations(item: BodyStatement) -> int:
    match item:
        case Assign():
            return bool(item.op) + _of(item.value)
        case If():
            return _of(item.condition) + sum(map(_operations, (*item.then, *item.otherwise)))
        case While() | Perform():
            return USUAL


def _of(value: Expr) -> int:
    return sum(_single(part) for part in walk(value) if not isinstance(part, Load))


def _single(part: Expr) -> int:
    match part:
        case Call():
            return USUAL
        case Binary(op="/" | "%"):
            return DIVISION
        case Binary() | Unary() | Select():
            return 1
        case _:
            return 0
