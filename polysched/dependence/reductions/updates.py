"""How an assignment accumulates: `x = x op e` in any of its spellings, and which elements are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from polysched.dependence.reductions.reduction import EXTREMA
from polysched.scop.body import Assign, Binary, Call, Cast, Expr, Load, Select, rebuild, walk
from polysched.scop.dtypes import DType, Kind
from polysched.scop.scop import Statement

OPERATORS = {"+": "sum", "-": "sum", "*": "product", "&": "and", "|": "or", "^": "xor"}
NAN_WINS_OVER = {"max": "maximum", "min": "minimum"}
CALLS = {"fmax": "max", "fmaxf": "max", "fmaxl": "max", "fmin": "min", "fminf": "min", "fminl": "min"}


def accumulation(value: Expr, old: str) -> tuple[str, tuple[Expr, ...]] | None:
    """Operator and other operands of `old op e` in any of its spellings."""
    is_old = partial(_is_old, old)
    match plain_value(value):
        case Select() as choice if is_old(choice.then) != is_old(choice.otherwise) and (
                kept := accumulation(choice.then if is_old(choice.otherwise) else choice.otherwise, old)):
            return kept[0], (choice.condition, *kept[1])
        case Binary(op="+" | "*" | "&" | "|" | "^") as sum_ if is_old(sum_.left) != is_old(sum_.right):
            return OPERATORS[sum_.op], (sum_.right if is_old(sum_.left) else sum_.left,)
        case Binary(op="-") as difference if is_old(difference.left):
            return "sum", (difference.right,)
        case Binary(op="+" | "-" | "*") as chain if (inner := accumulation(chain.left, old)) is not None:
            return (inner[0], (*inner[1], chain.right)) if inner[0] == OPERATORS[chain.op] else None
        case Call() as call if call.function in CALLS and len(call.arguments) == 2:
            left, right = call.arguments
            if is_old(left) != is_old(right):
                return CALLS[call.function], (right if is_old(left) else left,)
            return None
        case Select(condition=Binary(op="<" | "<=" | ">" | ">=") as test) as select:
            return _chosen(select, test, old)
        case other_form:
            return _nan_wins(other_form, old)


def _is_old(old: str, e: Expr) -> bool:
    plain = plain_value(e)
    return isinstance(plain, Load) and plain.reference == old


def _chosen(select: Select, test: Binary, old: str) -> tuple[str, tuple[Expr]] | None:
    """The same of `old < e ? old : e` and its like: one of the two that are compared, by what comes out."""
    arms = {plain_value(select.then), plain_value(select.otherwise)}
    sides = {plain_value(test.left), plain_value(test.right)}
    if arms != sides or len(arms) != 2 or _is_old(old, select.then) == _is_old(old, select.otherwise):
        return None
    takes_left = plain_value(select.then) == plain_value(test.left)
    other = select.otherwise if _is_old(old, select.then) else select.then
    return ("min" if takes_left == (test.op in ("<", "<=")) else "max"), (other,)


def _nan_wins(value: Expr, old: str) -> tuple[str, tuple[Expr, ...]] | None:
    """Operator and other operand of `e != e ? e : e < x ? e : x`, or of `e < x || e != e ? e : x` with either old.

    The value that is compared with itself is the one that a comparison takes where it holds: the other one, where it is
    NaN, is what is left.
    """
    match value:
        case Select(condition=Binary(op="!=") as unequal,
                    otherwise=Select(condition=Binary(op="<" | ">")) as numbers) as select:
            found = accumulation(numbers, old)
        case Select(condition=Binary(op="||", left=Binary(op="<" | "<=" | ">" | ">=") as test,
                                     right=Binary(op="!=") as unequal)) as select:
            numbers = replace(select, condition=test)
            found = accumulation(numbers, old)
        case _:
            return None
    alike = {plain_value(e) for e in (unequal.left, unequal.right, select.then, numbers.then)}
    if found is None or len(alike) != 1 or not select.dtype.is_float or found[0] not in NAN_WINS_OVER:
        return None
    return NAN_WINS_OVER[found[0]], found[1]


def survives_conversion(operator: str, accumulator: DType, operands: Sequence[DType]) -> bool:
    """Whether the steps may change places although each converts its result to the accumulator's type.

    Sums and bits may be cut off at the end as well as on the way.  `c = c > e ? c : e` stores 44 for 300 in a char,
    and the next comparison is one with 44.  A `_Bool` makes 1 of every value but 0, which loses what sums need.
    """
    if accumulator.is_float:
        return True
    if accumulator.kind is Kind.BOOL:
        return operator in ("and", "or") or (operator in EXTREMA | {"xor"} and set(operands) == {accumulator})
    low, high = accumulator.value_range()
    ranges = [dtype.value_range() for dtype in operands if dtype.is_integer]
    return operator not in EXTREMA or (len(ranges) == len(operands)
                                              and all(low <= least and most <= high for least, most in ranges))


def updates_in_place(statement: Statement, update: Assign) -> bool:
    """`a[e] op= v` where data decide which element it is: written and read at once, and no other element is read."""
    array = statement.access(update.target).array
    others = [a for a in statement.accesses if a.array == array and a.reference not in (update.target, update.read)]
    return update.op is not None and update.read is not None and not others


def canonical_references(statement: Statement) -> dict[str, str]:
    """For every reference the first one that reaches the same element in every instance."""
    found: dict[str, str] = {}
    for access in statement.accesses:
        twin = next((a.reference for a in statement.accesses[:len(found)]
                     if a.array == access.array and a.exact and access.exact
                     and a.relation.is_equal(access.relation)), access.reference)
        found[access.reference] = found.get(twin, twin)
    return found


def renamed(value: Expr, canonical: dict[str, str]) -> Expr:
    """The expression with canonical references, so that equal operands compare equal."""
    def change(e: Expr) -> Expr:
        return replace(e, reference=canonical[e.reference]) if isinstance(e, Load) else e

    return rebuild(value, change)


def plain_value(value: Expr) -> Expr:
    """The expression below conversions that keep every value."""
    while isinstance(value, Cast) and value.dtype.kind is value.operand.dtype.kind \
            and value.dtype.bits >= value.operand.dtype.bits:
        value = value.operand
    return value


def loads(value: Expr) -> Iterator[str]:
    """The references that an expression reads."""
    return (e.reference for e in walk(value) if isinstance(e, Load))
