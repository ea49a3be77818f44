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

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.scop.body import references
from polysched.scop.construction.data_rows import Row, leading_values, rows_of
from polysched.scop.scop import ROWS_IN_ORDER, AccessKind, Assumption, Scop, Statement


def with_rows_in_order(scop: Scop) -> Scop | None:
    """The program with the assumption that rows lie one behind the other; None where nothing is written in rows."""
    rows = {s.name: tuple(row for row in rows_of(scop, s) if _is_set_there(row)) for s in scop.statements}
    found = [made for name in dict.fromkeys(a.array for s in scop.statements for a in s.writes if not a.exact)
             if (made := _assumption(scop, name, rows)) is not None]
    if not found:
        return None
    return replace(scop, assumptions=(*scop.assumptions, *found),
                   statements=tuple(_with_counters_set(s, rows[s.name]) for s in scop.statements))


def _with_counters_set(statement: Statement, rows: tuple[Row, ...]) -> Statement:
    """The statement with the first values of the rows' counters as what they are: always written."""
    first = {row.first for row in rows}
    return replace(statement, accesses=tuple(
        replace(a, kind=AccessKind.MUST_WRITE) if a.reference in first else a for a in statement.accesses))


def _assumption(scop: Scop, array: str, rows: Mapping[str, tuple[Row, ...]]) -> Assumption | None:
    """The assumption for an array every access to which stays in a row; all rows begin in one array."""
    pairs: list[tuple[str, str]] = []
    starts: set[str] = set()
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array != array:
                continue
            row = next((row for row in rows[statement.name] if access.reference in _inside(row)), None)
            if row is None:
                return None
            starts.add(row.start.array)
            pairs.append((access.reference, row.low))
    if len(starts) != 1:
        return None
    name = starts.pop()
    return Assumption(kind=ROWS_IN_ORDER, text=f"the rows of {array} that begin at elements of {name} lie in order",
                      rows=tuple(pairs))


def _is_set_there(row: Row) -> bool:
    """Whether the statement with the loop sets the counter itself."""
    return row.setter is row.statement


def _inside(row: Row) -> frozenset[str]:
    """The references that stay in the row: those whose only subscript that is no constant is the counter."""
    used = set(references(row.inner))
    return frozenset(a.reference for a in row.statement.accesses
                     if a.reference in used and not a.exact and leading_values(a) is not None and row.goes_along(a))


def in_one_row(scop: Scop) -> Mapping[str, isl.Map]:
    """Per reference that stays in a row of an array whose rows lie in order, where that row begins."""
    pairs = dict(pair for assumption in scop.assumptions for pair in assumption.rows)
    accesses = {a.reference: a for s in scop.statements for a in s.accesses}
    return {reference: accesses[low].relation for reference, low in pairs.items()
            if reference in accesses and low in accesses and accesses[low].exact}
