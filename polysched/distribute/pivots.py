"""Index-set splitting at the row that a step passes on: what is before it, the row itself, and what is behind it.

`for k, i: A[i] = f(A[i], A[k])` passes row k to all others in the middle of the loop over i.  Written as three statements,
i < k, i = k and i > k, the first reads the row as it was, the last as it is now, and each needs one step only.

Source: Griebl, Feautrier, Lengauer, "Index set splitting", IJPP 28(6), 2000.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.scop.body import Assign
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.software.renaming import fresh_name, renamed_statement


def with_pivots_apart(dependences: Dependences, owners: Mapping[str, isl.Map]) -> Scop | None:
    """The program with statements in three parts, where they pass one row to others of theirs; None where none does."""
    scop = dependences.scop
    rows = {s.name: row for s in scop.statements if (row := _pivot(dependences, s, owners[s.name])) is not None}
    if not rows:
        return None
    taken = {s.name for s in scop.statements} | {a.reference for s in scop.statements for a in s.accesses}
    statements: list[Statement] = []
    back = isl.UnionPwMultiAff.empty(scop.context.get_space())
    for statement in scop.statements:
        parts = _parts(statement, rows[statement.name], taken) if statement.name in rows else [statement]
        statements += parts
        for part in parts:
            back = back.union_add(_to_whole(part, statement))
    return replace(scop, statements=tuple(statements), schedule=scop.schedule.pullback_union_pw_multi_aff(back))


def _pivot(dependences: Dependences, statement: Statement, owner: isl.Map) -> isl.Constraint | None:
    """The equation that tells the row which a statement passes to other rows of its own."""
    if not all(isinstance(b, Assign) for b in statement.body):
        return None
    same = owner.apply_range(owner.reverse())
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.FLOW and pair.source == pair.sink == statement.name:
            sources = pair.relation.subtract(same).domain()
            if sources.is_empty():
                continue
            for equation in isl.Set.affine_hull(sources).get_constraints():
                if equation.is_equality() and not equation.is_div_constraint() and _names_row(equation, owner):
                    return equation
    return None


def _names_row(equation: isl.Constraint, owner: isl.Map) -> bool:
    """Whether an equation says which coordinate it is, by an outer loop and not by a number."""
    used = {at for at in range(equation.dim(isl.dim_type.set))
            if not equation.get_coefficient_val(isl.dim_type.set, at).is_zero()}
    axis = {at for at in range(owner.dim(isl.dim_type.in_)) if owner.involves_dims(isl.dim_type.in_, at, 1)
            and _is_coordinate(owner, at)}
    return bool(used & axis) and len(used) > 1


def _is_coordinate(owner: isl.Map, at: int) -> bool:
    space = owner.domain().get_space()
    own = isl.Map.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, at))
    return bool(owner.is_subset(own))


def _parts(statement: Statement, row: isl.Constraint, taken: set[str]) -> list[Statement]:
    value = row.get_aff()
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(value.get_domain_space()))
    found = []
    for side, of in (("before", value.lt_set(zero)), ("row", value.eq_set(zero)), ("behind", value.gt_set(zero))):
        domain = statement.domain.intersect(of)
        if domain.is_empty():
            continue
        name = fresh_name(f"{statement.name}_{side}", taken)
        fresh = {a.reference: fresh_name(f"{a.reference}_{side}", taken) for a in statement.accesses}
        part = replace(statement, domain=domain, accesses=tuple(
            replace(a, relation=a.relation.intersect_domain(domain)) for a in statement.accesses))
        found.append(renamed_statement(part, name, fresh))
    return found


def _to_whole(part: Statement, whole: Statement) -> isl.UnionPwMultiAff:
    """`{ S_row[i] -> S[i] }` on the domain of a part."""
    identity = isl.Map.identity(part.domain.get_space().map_from_set()).intersect_domain(part.domain)
    identity = identity.set_tuple_name(isl.dim_type.out, whole.name)
    return isl.UnionPwMultiAff.from_union_map(isl.UnionMap.from_map(identity))
