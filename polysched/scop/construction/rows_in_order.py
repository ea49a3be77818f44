"""Rows of a sparse matrix: elements between two neighbours of an array of row starts.

    for (i = 0; i < n; i++)                            the elements that two iterations reach lie in two rows,
      for (k = p[i]; k < p[i + 1]; k++)          ->    which are apart where p never decreases
        v[k] *= d[i];

What an iteration writes depends on data, so any iteration may write any element of v.  A test of p at run time tells
that they do not (`Assumption.rows`); dependences then stay within a row.

Source: W. Pugh, D. Wonnacott, "Nonlinear array dependence analysis", LCR 1995 (symbolic monotonicity of index arrays);
M. M. Strout, M. Hall, C. Olschanowsky, "The sparse polyhedral framework", Proceedings of the IEEE 106(11), 2018.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import islpy as isl

from polysched.scop.body import Assign, Binary, BodyStatement, Expr, Literal, Load, While, assignments, references
from polysched.scop.dtypes import Kind
from polysched.scop.scop import ROWS_IN_ORDER, Access, AccessKind, Assumption, Scop, Statement


@dataclass(frozen=True)
class _Row:
    """A loop over one row in a statement.

    Parameters
    ----------
    starts : the array of row starts.
    low, first : the references that read the row's start, and that set the counter to it.
    inside : the references that stay in the row.
    """

    starts: str
    low: str
    first: str
    inside: frozenset[str]


def with_rows_in_order(scop: Scop) -> Scop | None:
    """The program with the assumption that rows lie one behind the other; None where nothing is written in rows."""
    rows = {s.name: tuple(_rows(scop, s)) for s in scop.statements}
    found = [made for name in dict.fromkeys(a.array for s in scop.statements for a in s.writes if not a.exact)
             if (made := _assumption(scop, name, rows)) is not None]
    if not found:
        return None
    return replace(scop, assumptions=(*scop.assumptions, *found),
                   statements=tuple(_with_counters_set(s, rows[s.name]) for s in scop.statements))


def _with_counters_set(statement: Statement, rows: tuple[_Row, ...]) -> Statement:
    """The statement with the first values of the rows' counters as what they are: always written."""
    first = {row.first for row in rows}
    return replace(statement, accesses=tuple(
        replace(a, kind=AccessKind.MUST_WRITE) if a.reference in first else a for a in statement.accesses))


def _assumption(scop: Scop, array: str, rows: Mapping[str, tuple[_Row, ...]]) -> Assumption | None:
    """The assumption for an array every access to which stays in a row; all rows begin in one array."""
    pairs: list[tuple[str, str]] = []
    starts: set[str] = set()
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array != array:
                continue
            row = next((row for row in rows[statement.name] if access.reference in row.inside), None)
            if row is None:
                return None
            starts.add(row.starts)
            pairs.append((access.reference, row.low))
    if len(starts) != 1:
        return None
    name = starts.pop()
    return Assumption(kind=ROWS_IN_ORDER, text=f"the rows of {array} that begin at elements of {name} lie in order",
                      rows=tuple(pairs))


def _rows(scop: Scop, statement: Statement) -> Iterator[_Row]:
    """The loops `for (k = p[f]; k < p[f + 1]; k++)` in a statement."""
    for before, loop in pairwise(statement.body):
        if isinstance(before, Assign) and isinstance(loop, While):
            row = _row(scop, statement, before, loop)
            if row is not None:
                yield row


def _row(scop: Scop, statement: Statement, first: Assign, loop: While) -> _Row | None:
    counter = statement.access(first.target).array
    low, high = _plain(first.value), _limit(statement, loop.condition, counter)
    if low is None or high is None or first.op is not None or not scop.array(counter).is_scalar:
        return None
    start, end = statement.access(low.reference), statement.access(high.reference)
    if not _are_neighbours(start, end) or not _are_starts(scop, start, first, low):
        return None
    *inner, step = loop.body
    if not _counts_up(statement, step, counter) or any(
            statement.access(a.target).array == counter for a in assignments(tuple(inner))):
        return None
    used = set(references(tuple(inner)))
    inside = frozenset(a.reference for a in statement.accesses
                       if a.reference in used and not a.exact and _is_counter(statement, a, counter))
    return _Row(start.array, start.reference, first.target, inside)


def _plain(value: Expr) -> Load | None:
    return value if isinstance(value, Load) else None


def _limit(statement: Statement, condition: Expr, counter: str) -> Load | None:
    """p[f + 1] of `k < p[f + 1]`, without a conversion."""
    match condition:
        case Binary(op="<", left=Load() as left, right=Load() as right) if left.dtype == right.dtype:
            return right if statement.access(left.reference).array == counter else None
    return None


def _are_neighbours(start: Access, end: Access) -> bool:
    """Whether two exact reads of one array of one dimension are of an element and the next."""
    if start.array != end.array or not (start.exact and end.exact) or start.relation.dim(isl.dim_type.out) != 1:
        return False
    same = isl.MultiAff.identity_on_domain_space(start.relation.range().get_space())
    following = same.set_at(0, same.get_at(0).add_constant_val(isl.Val.one(isl.DEFAULT_CONTEXT)))
    return bool(start.relation.apply_range(isl.Map.from_multi_aff(following)).is_equal(end.relation))


def _are_starts(scop: Scop, start: Access, first: Assign, low: Load) -> bool:
    """Whether row starts fit a `long`, keep their type in the counter, and are not written."""
    written = {a.array for s in scop.statements for a in s.writes}
    kind = low.dtype
    fits = kind.is_integer and (kind.kind is Kind.SIGNED or kind.bits < 64)
    return fits and kind == first.dtype and start.array not in written


def _counts_up(statement: Statement, item: BodyStatement, counter: str) -> bool:
    return (isinstance(item, Assign) and item.op == "+" and statement.access(item.target).array == counter
            and isinstance(item.value, Literal) and isinstance(item.value.value, int) and item.value.value > 0)


def _is_counter(statement: Statement, access: Access, counter: str) -> bool:
    """Whether an access has the counter as its only subscript."""
    match access.subscripts:
        case (Load(reference=reference),):
            return statement.access(reference).array == counter
    return False


def in_one_row(scop: Scop) -> Mapping[str, isl.Map]:
    """Per reference that stays in a row of an array whose rows lie in order, where that row begins."""
    pairs = dict(pair for assumption in scop.assumptions for pair in assumption.rows)
    accesses = {a.reference: a for s in scop.statements for a in s.accesses}
    return {reference: accesses[low].relation for reference, low in pairs.items()
            if reference in accesses and low in accesses and accesses[low].exact}
