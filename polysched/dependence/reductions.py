"""Recognition of reductions: updates of one location that may run in any order.

A statement `x op= e` with an associative and commutative operator updates x once per instance, whatever
order the instances run in.  The pairs between its own update accesses order nothing but the updates.
`x = x op e`, `x = fmax(x, e)`, `x = e < x ? e : x` and `if (e < x) x = e` are the same in another spelling.
So is any of them under a condition that does not read x, on the branches of one as well, and `x = c ? x op e : x`.

`if (e > x) { x = e; k = i; }` also keeps the place of the maximum.  Of equal values the first one counts, so its
updates have an order after all: another one gives another place.  It is recognised and never relaxed.  What may be
done is to run ranges of iterations apart, each from the old x, and to combine their results in the order of the ranges.
The same holds for an iterator that conditions let overwrite an integer, `if (c) last = i`: a range that has overwritten
it ends with another value than it began with.  One number that does, `if (c) any = 1` or `any = c ? 1 : any`, has none.
`if (c && first < 0) first = i` is an element that one iteration alone overwrites, where no iterator is below zero.

Source: Rauchwerger and Padua, "The LRPD test", PLDI 1995 (recognition); Doerfert, Streit, Hack and
Benaissa, "Polly's polyhedral scheduling in the presence of reductions", IMPACT 2015 (what may be relaxed).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from polysched.dependence.dependences import Dependence, Dependences
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Call,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    Select,
    Unary,
    rebuild,
    walk,
)
from polysched.scop.dtypes import INT32, DType, Kind
from polysched.scop.scop import Scop, Statement

OPERATORS = {"+": "sum", "-": "sum", "*": "product", "&": "and", "|": "or", "^": "xor"}
OVERWRITES = frozenset({"any", "last", "first"})
"""An element that conditions let one number overwrite, one that they let an iterator, and one that they let it once."""
CALLS = {"fmax": "max", "fmaxf": "max", "fmaxl": "max", "fmin": "min", "fminf": "min", "fminl": "min"}


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """One statement that accumulates.

    Parameters
    ----------
    statement : the statement, by name.
    operator : `sum`, `product`, `min`, `max`, `and`, `or` or `xor`; `argmin` or `argmax` for the place of one; `any`,
        `last` or `first` where conditions let one number, an iterator, or its first value overwrite the accumulator.
    write, reads : references of the accumulator: the write, and every read of the old value.
    places : references of the writes and reads of the place, for `argmin` and `argmax`.
    ties : which of equal values gives the place, `first` or `last`; `last` also where an iterator overwrites the
        accumulator, `first` where it does so once; empty for the other operators.
    dtype : element type of the accumulator.
    exact : any order of the statement gives the same bits: integers, and minimum and maximum (of numbers; a NaN
        among the values makes a comparison's result depend on the order, signed zeros its sign).  Otherwise a
        reassociation rounds differently, which a user has to allow.
    also : references of further writes of the accumulator, on other branches of a condition.
    beside : what else the same statement accumulates under its conditions, each in an element of its own.
    value : what overwrites the accumulator, for `any`, `last` and `first`.
    nan_first : the first value that is no number is the extremum, as NumPy has it.
    """

    statement: str
    operator: str
    write: str
    reads: tuple[str, ...]
    dtype: DType
    exact: bool
    places: tuple[str, ...] = ()
    ties: str = ""
    also: tuple[str, ...] = ()
    beside: tuple[Reduction, ...] = ()
    value: Expr | None = None
    nan_first: bool = False

    @property
    def any_order(self) -> bool:
        """Whether the result does not depend on the order of the updates, up to rounding."""
        return not any(part.ties for part in self.accumulators)

    @property
    def own(self) -> frozenset[str]:
        """References of all accesses of the accumulator, and of the place."""
        return frozenset({self.write, *self.also, *self.reads, *self.places})

    @property
    def accumulators(self) -> tuple[Reduction, ...]:
        """All that the statement accumulates."""
        return (self, *self.beside)

    def __str__(self) -> str:
        order = "exact in any order" if self.exact else "another order rounds differently"
        if self.operator in OVERWRITES and self.ties:
            order = "in order, or in ranges whose results are combined in order"
        elif self.ties:
            order = f"in order, because the {self.ties} of equal values counts"
        return f"{self.statement}: {self.operator} of {self.dtype.name}, {order}"


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
        ends = {pair.source_reference, pair.sink_reference}
        return replace(pair, reduction=any(ends <= part.own for part in reduction.accumulators))

    return replace(dependences, pairs=tuple(marked(p) for p in dependences.pairs))


def _reduction(statement: Statement) -> Reduction | None:
    """The reduction that a statement is, if it is one."""
    match statement.body:
        case (Assign() as update,):
            return _update(statement, update)
        case (If(condition=test, then=then, otherwise=otherwise),):
            updates = tuple((item, item.value) for item in then if isinstance(item, Assign))
            whole = None if otherwise else _extremum(statement, test, updates, len(then))
            return whole or _under_conditions(statement)
        case (Assign(), *_) as body:
            chosen = [(item, item.value) for item in body
                      if isinstance(item, Assign) and isinstance(item.value, Select)]
            return _place_by_selection(statement, tuple(chosen), len(body))
        case _:
            return None


def _update(statement: Statement, update: Assign) -> Reduction | None:
    """The reduction that a statement of one assignment is, if it is one."""
    if not statement.access(update.target).exact and not _updates_in_place(statement, update):
        return None
    canonical = _canonical(statement)
    old = canonical[update.target]
    if update.op is not None and update.read is not None:
        operator = OPERATORS.get(update.op)
        rest: tuple[Expr, ...] = (update.value,)
        reads: tuple[str, ...] = (update.read,)
    else:
        accumulation = _accumulation(_renamed(update.value, canonical), old)
        if accumulation is None:
            return _chosen_overwrite(statement, update, canonical)
        operator, rest = accumulation
        reads = tuple(r for r in _loads(update.value) if canonical[r] == old)
    if operator is None or any(canonical[r] == old for e in rest for r in _loads(e)):
        return None
    if update.dtype.is_integer and not update.value.dtype.is_integer:
        return None  # each step truncates: the order matters
    if not _survives_conversion(operator, update.dtype, [_plain(e).dtype for e in rest]):
        return None
    return Reduction(statement=statement.name, operator=operator, write=update.target, reads=reads,
                     dtype=update.dtype, exact=update.dtype.is_integer or operator in ("min", "max"))


def _under_conditions(statement: Statement) -> Reduction | None:
    """The reduction that a statement is whose assignments, under conditions on data, all accumulate."""
    canonical = _canonical(statement)
    found: dict[str, Reduction] = {}
    others: list[str] = []
    for tests, update in _branches(statement.body, ()):
        part = None if update is None else _conditional_update(statement, tests, update)
        if part is None or update is None:
            return None
        others += [r for e in (*tests, update.value) for r in _loads(e) if r not in part.reads]
        old = canonical[update.target]
        first = found.setdefault(old, part)
        if first is not part:
            if (first.operator, first.value) != (part.operator, part.value):
                return None
            found[old] = replace(first, also=(*first.also, part.write), reads=(*first.reads, *part.reads))
    if not found or any(canonical[r] in found for r in others):
        return None
    exact = all(part.exact for part in found.values())
    leading, *beside = (replace(part, exact=exact) for part in found.values())
    return replace(leading, beside=tuple(beside))


def _conditional_update(statement: Statement, tests: Sequence[Expr], update: Assign) -> Reduction | None:
    """The reduction that one assignment under conditions is, if it is one."""
    if _tests_old(statement, tests, update):
        return _first(statement, tests, update, update.value) or _guarded_extremum(statement, tests, update)
    return _update(statement, update) or _guarded_extremum(statement, tests, update) or _overwrite(
        statement, update, update.value)


def _branches(body: Sequence[BodyStatement], tests: tuple[Expr, ...]
              ) -> Iterator[tuple[tuple[Expr, ...], Assign | None]]:
    """Every assignment under the conditions that it stands below, negated on their other branches; None for a loop."""
    for item in body:
        match item:
            case Assign():
                yield tests, item
            case If(condition=test):
                yield from _branches(item.then, (*tests, *_conjuncts(test)))
                yield from _branches(item.otherwise, (*tests, Unary("!", test, INT32)))
            case _:
                yield tests, None


def _conjuncts(test: Expr) -> tuple[Expr, ...]:
    if isinstance(test, Binary) and test.op == "&&":
        return (*_conjuncts(test.left), *_conjuncts(test.right))
    return (test,)


def _guarded_extremum(statement: Statement, tests: Sequence[Expr], update: Assign) -> Reduction | None:
    """`x = e` where `e > x` and other conditions hold."""
    for test in tests:
        found = _extremum(statement, test, ((update, update.value),), 1)
        if found is not None:
            return replace(found, reads=tuple(r for r in _loads(test) if r in found.reads))
    return None


def _chosen_overwrite(statement: Statement, update: Assign, canonical: dict[str, str]) -> Reduction | None:
    """`x = test ? v : x`, or the other way round."""
    choice, old = _plain(update.value), canonical[update.target]

    def is_old(e: Expr) -> bool:
        return isinstance(plain := _plain(e), Load) and canonical[plain.reference] == old

    if update.op is not None or not isinstance(choice, Select) or is_old(choice.then) == is_old(choice.otherwise):
        return None
    value = choice.otherwise if is_old(choice.then) else choice.then
    if any(canonical[r] == old for r in _loads(choice.condition)):
        found = None if is_old(choice.then) else _first(statement, _conjuncts(choice.condition), update, value)
    else:
        found = _overwrite(statement, update, value)
    return None if found is None else replace(found, reads=tuple(
        r for r in _loads(update.value) if canonical[r] == old))


def _overwrite(statement: Statement, update: Assign, value: Expr) -> Reduction | None:
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


def _tests_old(statement: Statement, tests: Sequence[Expr], update: Assign) -> bool:
    """Whether a condition compares what is overwritten with a number."""
    canonical = _canonical(statement)
    return any(_compared_number(test, canonical, canonical[update.target]) is not None for test in tests)


def _compared_number(test: Expr, canonical: dict[str, str], old: str) -> tuple[str, int] | None:
    """Sign and number of `x < number` and its like, x being the old value."""
    match test:
        case Binary(op="<" | "<=" | "==" | ">" | ">=", left=left, right=right):
            number = _number(right)
            plain = _plain(left)
            if number is not None and isinstance(plain, Load) and canonical[plain.reference] == old:
                return test.op, number
    return None


def _number(value: Expr) -> int | None:
    match _plain(value):
        case Literal(value=int(number)):
            return number
        case Unary(op="-", operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case _:
            return None


def _first(statement: Statement, tests: Sequence[Expr], update: Assign, value: Expr) -> Reduction | None:
    """`x = i` where `x < 0` and other conditions hold that do not read x, and no i is below zero."""
    canonical = _canonical(statement)
    old = canonical[update.target]
    compared = [c for test in tests if (c := _compared_number(test, canonical, old)) is not None]
    reads = tuple(r for test in tests for r in _loads(test) if canonical[r] == old)
    found = _overwrite(statement, update, value)
    if found is None or found.operator != "last" or len(compared) != 1 or len(reads) != 1:
        return None
    if {update.dtype.kind, *(e.dtype.kind for e in walk(value))} != {Kind.SIGNED}:
        return None
    counter = next(e.name for e in walk(value) if isinstance(e, IteratorRef))
    least, most = _range(statement, statement.iterators.index(counter))
    if not _never_holds(*compared[0], least, most):
        return None
    return replace(found, operator="first", ties="first", reads=reads)


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


def _survives_conversion(operator: str, accumulator: DType, operands: Sequence[DType]) -> bool:
    """Whether the steps may change places although each converts its result to the accumulator's type.

    Sums and bits may be cut off at the end as well as on the way.  `c = c > e ? c : e` stores 44 for 300 in a char,
    and the next comparison is one with 44.  A `_Bool` makes 1 of every value but 0, which loses what sums need.
    """
    if accumulator.is_float:
        return True
    if accumulator.kind is Kind.BOOL:
        return operator in ("and", "or") or (operator in ("xor", "min", "max") and set(operands) == {accumulator})
    low, high = accumulator.value_range()
    ranges = [dtype.value_range() for dtype in operands if dtype.is_integer]
    return operator not in ("min", "max") or (len(ranges) == len(operands)
                                              and all(low <= least and most <= high for least, most in ranges))


def _updates_in_place(statement: Statement, update: Assign) -> bool:
    """`a[e] op= v` where data decide which element it is: written and read at once, and no other element is read."""
    array = statement.access(update.target).array
    others = [a for a in statement.accesses if a.array == array and a.reference not in (update.target, update.read)]
    return update.op is not None and update.read is not None and not others


def _place_by_selection(statement: Statement, chosen: tuple[tuple[Assign, Expr], ...], count: int
                        ) -> Reduction | None:
    """`k = test ? i : k; x = test ? e : x`: the place of an extremum, its value being the last to change."""
    canonical = _canonical(statement)
    updates = []
    tests = set()
    for item, value in chosen:
        if not isinstance(value, Select) or item.op is not None:
            return None
        kept = _plain(value.otherwise)
        if not isinstance(kept, Load) or canonical[kept.reference] != canonical[item.target]:
            return None
        tests.add(_renamed(value.condition, canonical))
        updates.append((item, value.then))
    if len(tests) != 1 or len(updates) != count:
        return None
    found = _extremum(statement, next(iter(tests)), tuple(updates), count)
    return found if found is not None and found.write == chosen[-1][0].target else None


def _extremum(statement: Statement, test: Expr, updates: tuple[tuple[Assign, Expr], ...], count: int
              ) -> Reduction | None:
    """Under a comparison of a value with the accumulator: the accumulator becomes the value, others note its place."""
    canonical = _canonical(statement)
    written = {canonical[item.target] for item, _ in updates}
    compared = _compared_update(test, updates, canonical)
    if compared is None or not len(updates) == len(written) == count or not _overwrites_only(statement, updates):
        return None
    item, operator, strict, nan_first = compared
    arrays = {statement.access(other.target).array for other, _ in updates}
    old = canonical[item.target]
    own = [a.reference for a in statement.accesses if a.array in arrays]
    reads = tuple(r for r in own if canonical[r] == old and r != item.target)
    places = tuple(r for r in own if canonical[r] != old)
    if any(canonical[r] not in written for r in places):
        return None
    found = Reduction(statement=statement.name, operator=operator, dtype=item.dtype, write=item.target, reads=reads,
                      exact=True)
    if places:
        return replace(found, operator=f"arg{operator}", places=places, ties="first" if strict else "last",
                       nan_first=nan_first)
    return None if nan_first else found     # which of several NaN counts, only a place tells


def _overwrites_only(statement: Statement, updates: tuple[tuple[Assign, Expr], ...]) -> bool:
    """Whether known elements get values that nothing of the arrays is part of."""
    arrays = {statement.access(item.target).array for item, _ in updates}
    return all(item.op is None and statement.access(item.target).exact for item, _ in updates) and not any(
        statement.access(r).array in arrays for _, value in updates for r in _loads(value))


def _compared_update(test: Expr, updates: tuple[tuple[Assign, Expr], ...], canonical: dict[str, str]
                     ) -> tuple[Assign, str, bool, bool] | None:
    """The update whose value the test compares with what it replaces; what `_comparison` says of it."""
    for item, value in updates:
        candidate = _plain(_renamed(value, canonical))
        comparison = _comparison(_renamed(test, canonical), canonical[item.target], candidate)
        if comparison is not None and value.dtype == item.dtype:
            return item, *comparison
    return None


def _comparison(test: Expr, old: str, candidate: Expr) -> tuple[str, bool, bool] | None:
    """`max` or `min`, whether a strictly better value is wanted, whether NaN is; None for another condition.

    `e > x || (e != e && x == x)` is the comparison that lets the first NaN win, as NumPy's argmax does.
    """
    def is_old(e: Expr) -> bool:
        plain = _plain(e)
        return isinstance(plain, Load) and plain.reference == old

    match test:
        case Binary(op="||", left=better, right=Binary(
                op="&&", left=Binary(op="!=") as is_nan, right=Binary(op="==") as is_number)):
            first_nan = (all(_plain(e) == candidate for e in (is_nan.left, is_nan.right))
                         and is_old(is_number.left) and is_old(is_number.right))
            found = _comparison(better, old, candidate) if first_nan else None
            return found if found is None else (found[0], found[1], True)
        case Binary(op="<" | "<=" | ">" | ">=") if is_old(test.left) != is_old(test.right):
            value = test.right if is_old(test.left) else test.left
            if _plain(value) != candidate:
                return None
            larger = (test.op in (">", ">=")) == (value is test.left)
            return ("max" if larger else "min"), test.op in ("<", ">"), False
        case _:
            return None


def _canonical(statement: Statement) -> dict[str, str]:
    """For every reference the first one that reaches the same element in every instance."""
    found: dict[str, str] = {}
    for access in statement.accesses:
        twin = next((a.reference for a in statement.accesses[:len(found)]
                     if a.array == access.array and a.exact and access.exact
                     and a.relation.is_equal(access.relation)), access.reference)
        found[access.reference] = found.get(twin, twin)
    return found


def _renamed(value: Expr, canonical: dict[str, str]) -> Expr:
    """The expression with canonical references, so that equal operands compare equal."""
    def change(e: Expr) -> Expr:
        return replace(e, reference=canonical[e.reference]) if isinstance(e, Load) else e

    return rebuild(value, change)


def _plain(value: Expr) -> Expr:
    """The expression below conversions that keep every value."""
    while isinstance(value, Cast) and value.dtype.kind is value.operand.dtype.kind \
            and value.dtype.bits >= value.operand.dtype.bits:
        value = value.operand
    return value


def _loads(value: Expr) -> Iterator[str]:
    return (e.reference for e in walk(value) if isinstance(e, Load))


def _accumulation(value: Expr, old: str) -> tuple[str, tuple[Expr, ...]] | None:
    """Operator and other operands of `old op e` in any of its spellings."""
    def is_old(e: Expr) -> bool:
        plain = _plain(e)
        return isinstance(plain, Load) and plain.reference == old

    match _plain(value):
        case Select() as choice if is_old(choice.then) != is_old(choice.otherwise) and (
                kept := _accumulation(choice.then if is_old(choice.otherwise) else choice.otherwise, old)):
            return kept[0], (choice.condition, *kept[1])
        case Binary(op="+" | "*" | "&" | "|" | "^") as sum_ if is_old(sum_.left) != is_old(sum_.right):
            return OPERATORS[sum_.op], (sum_.right if is_old(sum_.left) else sum_.left,)
        case Binary(op="-") as difference if is_old(difference.left):
            return "sum", (difference.right,)
        case Binary(op="+" | "-" | "*") as chain if (inner := _accumulation(chain.left, old)) is not None:
            return (inner[0], (*inner[1], chain.right)) if inner[0] == OPERATORS[chain.op] else None
        case Call() as call if call.function in CALLS and len(call.arguments) == 2:
            left, right = call.arguments
            if is_old(left) != is_old(right):
                return CALLS[call.function], (right if is_old(left) else left,)
            return None
        case Select(condition=Binary(op="<" | "<=" | ">" | ">=") as test) as select:
            arms = {_plain(select.then), _plain(select.otherwise)}
            sides = {_plain(test.left), _plain(test.right)}
            if arms != sides or len(arms) != 2 or is_old(select.then) == is_old(select.otherwise):
                return None
            takes_left = _plain(select.then) == _plain(test.left)
            other = select.otherwise if is_old(select.then) else select.then
            return ("min" if takes_left == (test.op in ("<", "<=")) else "max"), (other,)
        case _:
            return None
