"""Elements that conditions let one number or an iterator overwrite: `if (c) any = 1`, `if (c) last = i`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polysched.dependence.reductions.reduction import Reduction
from polysched.dependence.reductions.updates import canonical_references, loads, plain_value
from polysched.scop.body import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    Select,
    Unary,
    walk,
)
from polysched.scop.dtypes import Kind
from polysched.scop.scop import Statement


def chosen_overwrite(statement: Statement, update: Assign, canonical: dict[str, str]) -> Reduction | None:
    """`x = test ? v : x`, or the other way round."""
    choice, old = plain_value(update.value), canonical[update.target]

    def is_old(e: Expr) -> bool:
        return isinstance(plain := plain_value(e), Load) and canonical[plain.reference] == old

    if update.op is not None or not isinstance(choice, Select) or is_old(choice.then) == is_old(choice.otherwise):
        return None
    value = choice.otherwise if is_old(choice.then) else choice.then
    if any(canonical[r] == old for r in loads(choice.condition)):
        found = None if is_old(choice.then) else first_overwrite(statement, conjuncts(choice.condition), update, value)
    else:
        found = overwrite(statement, update, value)
    return None if found is None else replace(found, reads=tuple(
        r for r in loads(update.value) if canonical[r] == old))


def overwrite(statement: Statement, update: Assign, value: Expr) -> Reduction | None:
    """`x = v` under conditions: v is the same number in all iterations, or an iterator without loss."""
    if update.op is not None or not update.dtype.is_integer or not statement.access(update.target).exact:
        return None
    parts = set(walk(value))
    if not any(isinstance(e, Load | IteratorRef | Call) for e in parts):
        operator = "any"
    elif all(isinstance(e, IteratorRef | Cast) for e in parts):
        counter = next(e.dtype.bits for e in parts if isinstance(e, IteratorRef))
        if any(e.dtype.kind not in (Kind.SIGNED, Kind.UNSIGNED) or e.dtype.bits < counter for e in (*parts, update)):
            return None
        operator = "last"
    else:
        return None
    return Reduction(statement=statement.name, operator=operator, write=update.target, reads=(), dtype=update.dtype,
                     exact=True, ties="" if operator == "any" else "last", value=value)


def first_overwrite(statement: Statement, tests: Sequence[Expr], update: Assign, value: Expr) -> Reduction | None:
    """`x = i` where `x < 0` and other conditions hold that do not read x, and no i is below zero."""
    canonical = canonical_references(statement)
    old = canonical[update.target]
    compared = [c for test in tests if (c := _compared_number(test, canonical, old)) is not None]
    reads = tuple(r for test in tests for r in loads(test) if canonical[r] == old)
    found = overwrite(statement, update, value)
    if found is None or found.operator != "last" or len(compared) != 1 or len(reads) != 1:
        return None
    if {update.dtype.kind, *(e.dtype.kind for e in walk(value))} != {Kind.SIGNED}:
        return None
    counter = next(e.name for e in walk(value) if isinstance(e, IteratorRef))
    least, most = _range(statement, statement.iterators.index(counter))
    if not _never_holds(*compared[0], least, most):
        return None
    return replace(found, operator="first", ties="first", reads=reads)


def tests_old(statement: Statement, tests: Sequence[Expr], update: Assign) -> bool:
    """Whether a condition compares what is overwritten with a number."""
    canonical = canonical_references(statement)
    return any(_compared_number(test, canonical, canonical[update.target]) is not None for test in tests)


def _compared_number(test: Expr, canonical: dict[str, str], old: str) -> tuple[str, int] | None:
    """Sign and number of `x < number` and its like, x being the old value."""
    match test:
        case Binary(op="<" | "<=" | "==" | ">" | ">=", left=left, right=right):
            number = _number(right)
            plain = plain_value(left)
            if number is not None and isinstance(plain, Load) and canonical[plain.reference] == old:
                return test.op, number
    return None


def _number(value: Expr) -> int | None:
    match plain_value(value):
        case Literal(value=int(number)):
            return number
        case Unary(op="-", operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case _:
            return None


def _never_holds(sign: str, number: int, least: int | None, most: int | None) -> bool:
    """Whether `x sign number` is false for every x from `least` to `most`."""
    below, above = least is not None and number < least, most is not None and number > most
    match sign:
        case "<":
            return below or number == least
        case "<=":
            return below
        case ">":
            return above or number == most
        case ">=":
            return above
        case _:
            return below or above


def _range(statement: Statement, position: int) -> tuple[int | None, int | None]:
    """The least and the largest value of an iterator, whatever the parameters; None where there is none."""
    line = statement.domain.project_out_all_params()
    ends = line.dim_min_val(position), line.dim_max_val(position)
    least, most = (int(end.to_python()) if end.is_int() else None for end in ends)
    return least, most


def conjuncts(test: Expr) -> tuple[Expr, ...]:
    """The conditions that hold where a conjunction does."""
    if isinstance(test, Binary) and test.op == "&&":
        return (*conjuncts(test.left), *conjuncts(test.right))
    return (test,)
