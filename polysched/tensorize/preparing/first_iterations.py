"""A sum that starts in its own first iteration, behind a statement that starts it.

Rewrite:  S: C = (k == 0 ? e : C) + v   ->   S_first: if (k == 0) C = e;   S: C = C + v

S_first runs right ahead of the same instance of S, which writes the same element, so nobody else sees it; where v may
read that element by another name, nothing is changed.  Nothing is added that was not added before: floats are the same
bit for bit.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.scheduling.tree.loop_tree import from_isl, split_bands, to_isl
from polysched.scop.body import Assign, Cast, Expr, Load, Select, Unary, rebuild, walk
from polysched.scop.dtypes import INT32, DType
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_set
from polysched.tensorize.preparing.conditions import instances_where
from polysched.tensorize.preparing.restating import (
    identity,
    narrowed,
    one_behind_the_other,
    pulled_back,
    with_body,
)
from polysched.tensorize.software.renaming import fresh_name, renamed_statement


def with_starts_apart(dependences: Dependences) -> Dependences | None:
    """The program with the start of one sum in a statement of its own; None where there is none."""
    scop = dependences.scop
    for statement in scop.statements:
        if (made := _apart(scop, statement)) is not None:
            return analyse(made, value_based=dependences.value_based, inputs=dependences.inputs)
    return None


def _apart(scop: Scop, statement: Statement) -> Scop | None:
    """The program with the start of a statement's sum apart; None where it does not start in one of its iterations."""
    item = _plain_assignment(statement)
    if item is None:
        return None
    target = statement.access(item.target)
    old = {a.reference for a in statement.reads if a.array == target.array and a.relation.is_subset(target.relation)}
    choice = _choice_of_start(statement, item, old)
    if choice is None:
        return None
    condition, kept, start = choice.condition, choice.otherwise, choice.then
    if _reads_one(choice.then, old):
        condition, kept, start = Unary("!", choice.condition, INT32), choice.then, choice.otherwise
    where = instances_where(scop, statement, condition)
    if where is None:
        return None
    start, kept = (_of_type(e, choice.dtype) for e in (start, kept))   # both sides of `?:` become of one type
    made = replace(item, value=rebuild(item.value, lambda e: kept if e == choice else e))
    hidden = not _sees_start(with_body(statement, made), target, where, old)
    return _with_start(scop, statement, made, where, start, old) if hidden else None


def _plain_assignment(statement: Statement) -> Assign | None:
    """The one assignment of a statement, to an element that is written for sure."""
    item = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(item, Assign) or item.op is not None:
        return None
    target = statement.access(item.target)
    return item if target.kind is AccessKind.MUST_WRITE and target.exact else None


def _sees_start(rest: Statement, target: Access, where: isl.Set, old: set[str]) -> bool:
    """Whether the rest may read the element that is started in another place than that of the old value."""
    started = target.relation.intersect_domain(where)
    return any(a.array == target.array and a.reference not in old and not a.relation.is_disjoint(started)
               for a in rest.reads)


def _of_type(e: Expr, dtype: DType) -> Expr:
    return e if e.dtype == dtype else Cast(e, dtype)


def _choice_of_start(statement: Statement, item: Assign, old: set[str]) -> Select | None:
    """The choice between the old value and another one, where the old value is read nowhere else."""
    found = {e for e in walk(item.value) if isinstance(e, Select) and e.dtype == item.dtype
             and (_reads_one(e.then, old) or _reads_one(e.otherwise, old))}
    everywhere = (item.value, *(s for a in statement.accesses for s in a.subscripts))
    loads = sum(_reads_one(e, old) for top in everywhere for e in walk(top))
    return next(iter(found)) if len(found) == 1 and loads == 1 else None


def _reads_one(e: Expr, references: set[str]) -> bool:
    return isinstance(e, Load) and e.reference in references


def _with_start(scop: Scop, statement: Statement, item: Assign, where: isl.Set, start: Expr, old: set[str]) -> Scop:
    name = fresh_name(f"{statement.name}_first", {s.name for s in scop.statements})
    first = narrowed(with_body(statement, Assign(item.target, start, item.dtype)), where)
    first = renamed_statement(first, name, {a.reference: f"{name}_{a.reference}" for a in first.accesses})
    rest = with_body(statement, item)
    target = statement.access(item.target)   # the old value is read by every instance now
    rest = replace(rest, accesses=tuple(replace(a, relation=target.relation) if a.reference in old else a
                                        for a in rest.accesses))
    same = isl.Map.identity(first.domain.get_space().map_from_set()).intersect_domain(first.domain)
    back = identity(scop).union(isl.UnionMap.from_map(same.set_tuple_name(isl.dim_type.out, statement.name)))
    statements = tuple(p for s in scop.statements for p in ((first, rest) if s.name == statement.name else (s,)))
    tree = from_isl(pulled_back(scop.schedule, back, union_set(s.domain for s in statements)))
    ordered = replace(tree, root=one_behind_the_other(
        split_bands(tree.root), [first.domain, rest.domain]))
    return replace(scop, statements=statements, schedule=to_isl(ordered))
