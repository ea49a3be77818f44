"""Extrema found by comparisons, `if (e > x) x = e`, and their places: another order may give another place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polysched.dependence.reductions.reduction import Reduction
from polysched.dependence.reductions.updates import canonical_references, loads, plain_value, renamed
from polysched.scop.body import Assign, Binary, Expr, Load, Select
from polysched.scop.scop import Statement


def place_by_selection(statement: Statement, chosen: tuple[tuple[Assign, Expr], ...], count: int
                       ) -> Reduction | None:
    """`k = test ? i : k; x = test ? e : x`: the place of an extremum, its value being the last to change."""
    canonical = canonical_references(statement)
    updates = []
    tests = set()
    for item, value in chosen:
        if not isinstance(value, Select) or item.op is not None:
            return None
        kept = plain_value(value.otherwise)
        if not isinstance(kept, Load) or canonical[kept.reference] != canonical[item.target]:
            return None
        tests.add(renamed(value.condition, canonical))
        updates.append((item, value.then))
    if len(tests) != 1 or len(updates) != count:
        return None
    found = extremum(statement, next(iter(tests)), tuple(updates), count)
    return found if found is not None and found.write == chosen[-1][0].target else None


def guarded_extremum(statement: Statement, tests: Sequence[Expr], update: Assign) -> Reduction | None:
    """`x = e` where `e > x` and other conditions hold."""
    for test in tests:
        found = extremum(statement, test, ((update, update.value),), 1)
        if found is not None:
            return replace(found, reads=tuple(r for r in loads(test) if r in found.reads))
    return None


def extremum(statement: Statement, test: Expr, updates: tuple[tuple[Assign, Expr], ...], count: int
             ) -> Reduction | None:
    """Under a comparison of a value with the accumulator: the accumulator becomes the value, others note its place."""
    canonical = canonical_references(statement)
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
        statement.access(r).array in arrays for _, value in updates for r in loads(value))


def _compared_update(test: Expr, updates: tuple[tuple[Assign, Expr], ...], canonical: dict[str, str]
                     ) -> tuple[Assign, str, bool, bool] | None:
    """The update whose value the test compares with what it replaces; what `_comparison` says of it."""
    for item, value in updates:
        candidate = plain_value(renamed(value, canonical))
        comparison = _comparison(renamed(test, canonical), canonical[item.target], candidate)
        if comparison is not None and value.dtype == item.dtype:
            return item, *comparison
    return None


def _comparison(test: Expr, old: str, candidate: Expr) -> tuple[str, bool, bool] | None:
    """`max` or `min`, whether a strictly better value is wanted, whether NaN is; None for another condition.

    `e > x || (e != e && x == x)` is the comparison that lets the first NaN win, as NumPy's argmax does.
    """
    def is_old(e: Expr) -> bool:
        plain = plain_value(e)
        return isinstance(plain, Load) and plain.reference == old

    match test:
        case Binary(op="||", left=better, right=Binary(
                op="&&", left=Binary(op="!=") as is_nan, right=Binary(op="==") as is_number)):
            first_nan = (all(plain_value(e) == candidate for e in (is_nan.left, is_nan.right))
                         and is_old(is_number.left) and is_old(is_number.right))
            found = _comparison(better, old, candidate) if first_nan else None
            return found if found is None else (found[0], found[1], True)
        case Binary(op="<" | "<=" | ">" | ">=") if is_old(test.left) != is_old(test.right):
            value = test.right if is_old(test.left) else test.left
            if plain_value(value) != candidate:
                return None
            larger = (test.op in (">", ">=")) == (value is test.left)
            return ("max" if larger else "min"), test.op in ("<", ">"), False
        case _:
            return None
