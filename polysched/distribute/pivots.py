"""Index-set splitting at the row that a step passes on: what is before it, the row itself, and what is behind it.

`for k, i: A[i] = f(A[i], A[k])` passes row k to all others in the middle of the loop over i.  As three statements,
i < k, i = k and i > k, the first reads the row as it was, the last as it is now, and each needs one step only.

Source: Griebl, Feautrier, Lengauer, "Index set splitting", IJPP 28(6), 2000.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.scop.body import Assign
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.software.renaming import fresh_name, renamed_statement


def pivots(dependences: Dependences, owners: Mapping[str, isl.Map]) -> Iterator[tuple[Statement, isl.Constraint]]:
    """Statements and the equations of rows that they pass to other rows of their own."""
    for statement in dependences.scop.statements:
        if not all(isinstance(b, Assign) for b in statement.body):
            continue
        owner, seen = owners[statement.name], set[str]()
        same = owner.apply_range(owner.reverse())
        for pair in dependences.pairs:
            if pair.kind is not DependenceKind.FLOW or not pair.source == pair.sink == statement.name:
                continue
            for sources in pair.relation.subtract(same).domain().get_basic_sets():
                for equation in sources.affine_hull().get_constraints():
                    if _names_row(equation, owner) and str(equation) not in seen:
                        seen.add(str(equation))
                        yield statement, equation


def split_at(scop: Scop, statement: Statement, row: isl.Constraint) -> Scop:
    """The program with one statement in three: on one side of an equation, on it, and on the other side."""
    taken = {s.name for s in scop.statements} | {a.reference for s in scop.statements for a in s.accesses}
    parts = _parts(statement, row, taken)
    back = isl.UnionPwMultiAff.empty(scop.context.get_space())
    for other in scop.statements:
        for part in parts if other is statement else [other]:
            back = back.union_add(_to_whole(part, other))
    return replace(scop, statements=tuple(p for s in scop.statements for p in (parts if s is statement else [s])),
                   schedule=scop.schedule.pullback_union_pw_multi_aff(back))


def _names_row(equation: isl.Constraint, owner: isl.Map) -> bool:
    """Whether an equation says which coordinate it is, by an outer loop and not by a number."""
    if not equation.is_equality() or equation.is_div_constraint():
        return False
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
