"""Elements of tables as unknowns: reads at equal subscripts are one, so that bodies compare without the tables.

Two bodies are equal for every content of their tables if they are equal for every value of these unknowns; reads whose
subscripts are not proved to be equal count as two (Ackermann 1954, congruence of an uninterpreted function).
"""

from __future__ import annotations

from collections.abc import Callable

from polysched.scop.body import Call, Expr, Load, rebuild_shared
from polysched.tensorize.description.semantics import is_table_read, table_of


def values_of_tables(left: Expr, right: Expr, same: Callable[[Expr, Expr], bool]) -> tuple[Expr, Expr]:
    """Both expressions with an unknown in the place of every read, the innermost first.

    Parameters
    ----------
    same : whether two subscripts are always equal.
    """
    known: list[tuple[Call, Load]] = []

    def change(e: Expr) -> Expr:
        if not is_table_read(e):
            return e
        for other, value in known:
            if other.function == e.function and other.dtype == e.dtype and len(other.arguments) == len(e.arguments) \
                    and all(a == b or same(a, b) for a, b in zip(other.arguments, e.arguments, strict=True)):
                return value
        known.append((e, Load(f"{table_of(e)} at subscript {len(known) + 1}", e.dtype)))
        return known[-1][1]

    return rebuild_shared(left, change), rebuild_shared(right, change)
