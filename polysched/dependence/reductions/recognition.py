"""Recognition of reductions: updates of one location that may run in any order.

A statement `x op= e` with an associative and commutative operator updates x once per instance, whatever
order the instances run in.  The pairs between its own update accesses order nothing but the updates.
`x = x op e`, `x = fmax(x, e)`, `x = e < x ? e : x` and `if (e < x) x = e` are the same in another spelling.
`x = e < x || e != e ? e : x` is a minimum that NaN wins.
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
from dataclasses import replace

from polysched.dependence.dependences import Dependence, Dependences
from polysched.dependence.reductions.extrema import extremum, guarded_extremum, place_by_selection
from polysched.dependence.reductions.overwrites import (
    chosen_overwrite,
    conjuncts,
    first_overwrite,
    overwrite,
    tests_old,
)
from polysched.dependence.reductions.reduction import EXTREMA, Reduction
from polysched.dependence.reductions.updates import (
    OPERATORS,
    accumulation,
    canonical_references,
    loads,
    plain_value,
    renamed,
    survives_conversion,
    updates_in_place,
)
from polysched.scop.body import Assign, BodyStatement, Expr, If, Select, Unary
from polysched.scop.dtypes import INT32
from polysched.scop.scop import Scop, Statement


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
            whole = None if otherwise else extremum(statement, test, updates, len(then))
            return whole or _under_conditions(statement)
        case (Assign(), *_) as body:
            chosen = [(item, item.value) for item in body
                      if isinstance(item, Assign) and isinstance(item.value, Select)]
            return place_by_selection(statement, tuple(chosen), len(body))
        case _:
            return None


def _update(statement: Statement, update: Assign) -> Reduction | None:
    """The reduction that a statement of one assignment is, if it is one."""
    if not statement.access(update.target).exact and not updates_in_place(statement, update):
        return None
    canonical = canonical_references(statement)
    old = canonical[update.target]
    if update.op is not None and update.read is not None:
        operator = OPERATORS.get(update.op)
        rest: tuple[Expr, ...] = (update.value,)
        reads: tuple[str, ...] = (update.read,)
    else:
        found = accumulation(renamed(update.value, canonical), old)
        if found is None:
            return chosen_overwrite(statement, update, canonical)
        operator, rest = found
        reads = tuple(r for r in loads(update.value) if canonical[r] == old)
    if operator is None or any(canonical[r] == old for e in rest for r in loads(e)):
        return None
    if not _has_any_order(update):
        return None
    if not survives_conversion(operator, update.dtype, [plain_value(e).dtype for e in rest]):
        return None
    return Reduction(statement=statement.name, operator=operator, write=update.target, reads=reads,
                     dtype=update.dtype, exact=update.dtype.is_integer or operator in EXTREMA)


def _has_any_order(update: Assign) -> bool:
    """Whether steps of these types may change places, roundings apart.

    An integer to which fractions are added is truncated at each step.  A product of complex numbers depends on which
    of its factors have parts that are no numbers.
    """
    types = (update.dtype, update.value.dtype)
    return not any(dtype.is_complex for dtype in types) and (not types[0].is_integer or types[1].is_integer)


def _under_conditions(statement: Statement) -> Reduction | None:
    """The reduction that a statement is whose assignments, under conditions on data, all accumulate."""
    canonical = canonical_references(statement)
    found: dict[str, Reduction] = {}
    others: list[str] = []
    for tests, update in _branches(statement.body, ()):
        part = None if update is None else _conditional_update(statement, tests, update)
        if part is None or update is None:
            return None
        others += [r for e in (*tests, update.value) for r in loads(e) if r not in part.reads]
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
    if tests_old(statement, tests, update):
        return first_overwrite(statement, tests, update, update.value) or guarded_extremum(statement, tests, update)
    return _update(statement, update) or guarded_extremum(statement, tests, update) or overwrite(
        statement, update, update.value)


def _branches(body: Sequence[BodyStatement], tests: tuple[Expr, ...]
              ) -> Iterator[tuple[tuple[Expr, ...], Assign | None]]:
    """Every assignment under the conditions that it stands below, negated on their other branches; None for a loop."""
    for item in body:
        match item:
            case Assign():
                yield tests, item
            case If(condition=test):
                yield from _branches(item.then, (*tests, *conjuncts(test)))
                yield from _branches(item.otherwise, (*tests, Unary("!", test, INT32)))
            case _:
                yield tests, None
