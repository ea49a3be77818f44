"""Recognition of reductions: updates of one location that may run in any order.

A statement `x op= e` with an associative and commutative operator updates x once per instance, whatever
order the instances run in.  The pairs between its own update accesses order nothing but the updates.
`x = x op e`, `x = fmax(x, e)` and `x = e < x ? e : x` are the same in another spelling.

Source: Rauchwerger and Padua, "The LRPD test", PLDI 1995 (recognition); Doerfert, Streit, Hack and
Benaissa, "Polly's polyhedral scheduling in the presence of reductions", IMPACT 2015 (what may be relaxed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from polysched.dependence.dependences import Dependence, Dependences
from polysched.scop.body import Assign, Binary, Call, Cast, Expr, Load, Select, walk
from polysched.scop.dtypes import DType
from polysched.scop.scop import Scop, Statement

OPERATOR_OF_COMPOUND = {"+": "sum", "-": "sum", "*": "product", "&": "and", "|": "or", "^": "xor"}
OPERATOR_OF_CALL = {"fmax": "max", "fmaxf": "max", "fmaxl": "max", "fmin": "min", "fminf": "min", "fminl": "min"}


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """One statement that accumulates.

    Parameters
    ----------
    statement : the statement, by name.
    operator : `sum`, `product`, `min`, `max`, `and`, `or` or `xor`.
    write, reads : references of the accumulator: the write, and every read of the old value.
    dtype : element type of the accumulator.
    exact : any order gives the same bits: integers, and minimum and maximum of comparisons.  Otherwise a
        reassociation rounds differently, which a user has to allow.
    """

    statement: str
    operator: str
    write: str
    reads: tuple[str, ...]
    dtype: DType
    exact: bool


def find_reductions(scop: Scop) -> tuple[Reduction, ...]:
    """Every statement of the Scop that is a reduction, in textual order."""
    return tuple(r for s in scop.statements if (r := _reduction(s)) is not None)


def mark_reductions(dependences: Dependences) -> Dependences:
    """Set `reduction` on the pairs that order updates of one reduction only."""
    of_statement = {r.statement: r for r in find_reductions(dependences.scop)}

    def marked(pair: Dependence) -> Dependence:
        reduction = of_statement.get(pair.source)
        if reduction is None or pair.sink != pair.source:
            return pair
        own = {reduction.write, *reduction.reads}
        if not {pair.source_reference, pair.sink_reference} <= own:
            return pair
        return replace(pair, reduction=True)

    return replace(dependences, pairs=tuple(marked(p) for p in dependences.pairs))


def _reduction(statement: Statement) -> Reduction | None:
    """The reduction that a statement of one assignment is, if it is one."""
    if len(statement.body) != 1 or not isinstance(statement.body[0], Assign):
        return None
    update = statement.body[0]
    if not statement.access(update.target).exact:
        return None
    own = frozenset(_same_element(statement, update.target))
    if update.op is not None:
        found = (OPERATOR_OF_COMPOUND.get(update.op), update.value, [update.read] if update.read else [])
        rest: tuple[Expr, ...] = (update.value,)
        operator, reads = found[0], tuple(found[2])
    else:
        parsed = _accumulation(_plain(update.value), own)
        if parsed is None:
            return None
        operator, reads, rest = parsed
    if operator is None or any(reference in own for e in rest for reference in _loads(e)):
        return None
    if update.dtype.is_integer and not all(_is_integer_sum(e) for e in (update.value,)):
        return None  # the conversion to the accumulator's type truncates at every step
    exact = update.dtype.is_integer or operator in ("min", "max")
    return Reduction(statement=statement.name, operator=operator, write=update.target, reads=reads,
                     dtype=update.dtype, exact=exact)


def _same_element(statement: Statement, target: str) -> Iterator[str]:
    """References of the reads that reach in every instance the element that `target` writes."""
    written = statement.access(target)
    for access in statement.reads:
        if access.array == written.array and access.exact and access.relation.is_equal(written.relation):
            yield access.reference


def _plain(value: Expr) -> Expr:
    """The expression below the conversions to its own kind that a front end makes explicit."""
    while isinstance(value, Cast) and value.dtype.kind is value.operand.dtype.kind:
        value = value.operand
    return value


def _loads(value: Expr) -> Iterator[str]:
    return (e.reference for e in walk(value) if isinstance(e, Load))


def _is_integer_sum(value: Expr) -> bool:
    return value.dtype.is_integer


def _accumulation(value: Expr, own: frozenset[str]) -> tuple[str | None, tuple[str, ...], tuple[Expr, ...]] | None:
    """Operator, reads of the old value, and the other operands, of `old op e` in any of its spellings."""
    def is_old(e: Expr) -> bool:
        plain = _plain(e)
        return isinstance(plain, Load) and plain.reference in own

    def reference(e: Expr) -> str:
        plain = _plain(e)
        return plain.reference if isinstance(plain, Load) else ""

    match value:
        case Binary(op="+" | "*" | "&" | "|" | "^") if is_old(value.left) != is_old(value.right):
            old, other = (value.left, value.right) if is_old(value.left) else (value.right, value.left)
            return OPERATOR_OF_COMPOUND[value.op], (reference(old),), (other,)
        case Binary(op="-") if is_old(value.left):
            return "sum", (reference(value.left),), (value.right,)
        case Call() if value.function in OPERATOR_OF_CALL and len(value.arguments) == 2:
            left, right = value.arguments
            if is_old(left) == is_old(right):
                return None
            old, other = (left, right) if is_old(left) else (right, left)
            return OPERATOR_OF_CALL[value.function], (reference(old),), (other,)
        case Select(condition=Binary(op="<" | "<=" | ">" | ">=") as test):
            return _selection(value, test, is_old, reference)
        case _:
            return None


def _selection(value: Select, test: Binary, is_old, reference  # type: ignore[no-untyped-def]
               ) -> tuple[str | None, tuple[str, ...], tuple[Expr, ...]] | None:
    """`e < old ? e : old` and its mirror images are a minimum or a maximum."""
    if is_old(test.left) == is_old(test.right) or is_old(value.then) == is_old(value.otherwise):
        return None
    old_test, other_test = (test.left, test.right) if is_old(test.left) else (test.right, test.left)
    old_arm, other_arm = ((value.then, value.otherwise) if is_old(value.then)
                          else (value.otherwise, value.then))
    if _shape(other_test) != _shape(other_arm):
        return None
    smaller = "then" if test.op in ("<", "<=") else "otherwise"   # arm chosen when the left is the smaller one
    left_arm = "then" if is_old(test.left) == is_old(value.then) else "otherwise"
    operator = "min" if smaller == left_arm else "max"
    return operator, (reference(old_test), reference(old_arm)), (other_arm, other_test)


def _shape(value: Expr) -> str:
    return repr(_plain(value))
