"""Loops that start at another number than zero, started at zero: units of several stages count their tiles from there.

Rewrite:  for i = 5 ... 16: O[i + 1] = A[i]   ->   for i = 0 ... 11: O[i + 6] = A[i + 5]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.scop.body import Assign, Binary, Expr, IteratorRef, Literal, rebuild
from polysched.scop.scop import Statement, union_map, union_set
from polysched.tensorize.preparing.restating import Restated, checked, pulled_back
from polysched.tensorize.software.renaming import named_map, named_set


def with_loops_from_zero(dependences: Dependences) -> Dependences:
    """The program whose loops start at zero where they start at another number; the same object where none does."""
    scop = dependences.scop
    firsts = {s.name: _firsts(s) for s in scop.statements}
    if not any(map(any, firsts.values())) or not all(isinstance(b, Assign) for s in scop.statements for b in s.body):
        return dependences
    moves = [_move(s, firsts[s.name]) for s in scop.statements]
    statements = tuple(_moved(s, m, firsts[s.name]) for s, m in zip(scop.statements, moves, strict=True))
    back = union_map(moves)
    schedule = pulled_back(scop.schedule, back, union_set(s.domain for s in statements))
    made = replace(scop, statements=statements, schedule=schedule)
    after = checked(dependences, Restated(scop=made, back=back))
    return dependences if after is None else after


def _firsts(statement: Statement) -> tuple[int, ...]:
    """Per iterator its least value; 0 where that is no number."""
    found = []
    for at in range(statement.depth):
        least = statement.domain.dim_min(at).coalesce()
        value = least.max_val() if least.is_cst() else isl.Val.nan(isl.DEFAULT_CONTEXT)
        found.append(int(value.get_num_si()) if value.is_int() else 0)
    return tuple(found)


def _move(statement: Statement, firsts: tuple[int, ...]) -> isl.Map:
    """`{ S[i] -> S[i + 5] }`, onto the iterations as they were."""
    old = [f"{n} + {first}" for n, first in zip(statement.iterators, firsts, strict=True)]
    text = f"{{ {statement.name}[{', '.join(statement.iterators)}] -> {statement.name}[{', '.join(old)}] }}"
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text).intersect_range(statement.domain)


def _moved(statement: Statement, move: isl.Map, firsts: tuple[int, ...]) -> Statement:
    first = {n: value for n, value in zip(statement.iterators, firsts, strict=True) if value}

    def change(e: Expr) -> Expr:
        return _later(e, first) if isinstance(e, IteratorRef) else e

    body = tuple(replace(b, value=rebuild(b.value, change)) for b in statement.body if isinstance(b, Assign))
    accesses = tuple(replace(a, relation=named_map(move.apply_range(a.relation), statement.iterators),
                             subscripts=tuple(rebuild(e, change) for e in a.subscripts)) for a in statement.accesses)
    return replace(statement, domain=named_set(move.domain(), statement.iterators), body=body, accesses=accesses)


def _later(e: IteratorRef, first: Mapping[str, int]) -> Expr:
    value = first.get(e.name, 0)
    return Binary("+", e, Literal(str(value), value, e.dtype), e.dtype) if value else e
