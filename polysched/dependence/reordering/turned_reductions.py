"""Reductions whose innermost loop strides over rows: the program in which their updates may come in any order.

    for i: for j: if (S[j][i] == 0) last = i;
    ->  last_index = -1;  for i: for j: if (S[j][i] == 0) last_index = i > last_index ? i : last_index;
        if (last_index >= 0) last = last_index;

The index of the last hit is the largest one where no later iteration has a smaller number, and a maximum has no order.
Updates are relaxed only where another order is along memory: where every other access stays or moves by one element
along an outer loop, and one of them jumps along the innermost one.

Source: as for `reductions`; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.6
(recognition of reductions) and 9.3 (interchange for locality).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence.reductions import Reduction, find_reductions
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    Select,
    Unary,
    walk,
)
from polysched.scop.dtypes import INT32, Kind
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement, Storage


def in_any_order(scop: Scop) -> Scop | None:
    """The program whose exact reductions may be relaxed, so that loops run along memory; None where nothing is gained.

    Every statement inside loops has to be such a reduction: others may lose by another order.
    """
    nests = [s for s in scop.statements if s.depth > 1]
    known = {r.statement: r for r in find_reductions(scop)}
    reductions = [known[s.name] for s in nests if s.name in known]
    if not nests or len(reductions) < len(nests) or not all(map(_may_be_free, reductions)):
        return None
    if not any(_jumps(scop.statement(r.statement), r) for r in reductions):
        return None
    for reduction in reductions:
        if reduction.operator == "last":
            found = _with_largest(scop, reduction)
            if found is None:
                return None
            scop = found
    return scop


def _may_be_free(reduction: Reduction) -> bool:
    """Whether the updates are exact in any order, or those of one last index."""
    if reduction.operator == "last" and not reduction.beside:
        return True
    return reduction.exact and reduction.any_order


def _jumps(statement: Statement, reduction: Reduction) -> bool:
    """Whether elements lie apart along the innermost loop, and all stay or are neighbours along another."""
    own = {r for part in reduction.accumulators for r in part.own}
    others = [a for a in statement.accesses if a.reference not in own]
    steps = [[_step(statement, a, k) for a in others] for k in range(statement.depth)]
    accumulators = [_step(statement, a, k) for a in statement.accesses if a.reference in own
                    for k in range(statement.depth)]
    return any(step is None for step in steps[-1]) and any(
        None not in found and 1 in found for found in steps[:-1]) and set(accumulators) == {0}


def _step(statement: Statement, access: Access, position: int) -> int | None:
    """Elements by which an access moves along a loop: 0 or 1; None for another way, or an unknown one."""
    if not access.exact:
        return None
    moved = isl.Map.identity(statement.domain.get_space().map_from_set())
    for k in range(statement.depth):
        moved = moved.drop_constraints_involving_dims(isl.dim_type.in_, k, 1) if k == position else moved
    space = isl.LocalSpace.from_space(moved.get_space())
    step = isl.Constraint.equality_alloc(space).set_coefficient_val(isl.dim_type.out, position, 1)
    step = step.set_coefficient_val(isl.dim_type.in_, position, -1).set_constant_val(-1)
    moved = moved.add_constraint(step)
    deltas = access.relation.reverse().apply_range(moved).apply_range(access.relation).deltas()
    if deltas.is_empty():
        return 0
    if not deltas.is_singleton():
        return None
    point = deltas.sample_point()
    found = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(deltas.dim(isl.dim_type.set))]
    if any(found[:-1]):
        return None
    last = int(found[-1]) if found else 0
    return last if last in (0, 1) else None


@dataclass(frozen=True, kw_only=True)
class _Names:
    """What the index is called, and the statements before and behind the loops."""

    array: str
    before: str
    behind: str


def _with_largest(scop: Scop, reduction: Reduction) -> Scop | None:
    """The program in which the largest number that would have overwritten an element is found first."""
    statement = scop.statement(reduction.statement)
    target = statement.access(reduction.write)
    counter = next(e.name for e in walk(_value(reduction)) if isinstance(e, IteratorRef))
    position = statement.iterators.index(counter)
    least = statement.domain.project_out_all_params().dim_min_val(position)
    if not least.is_int() or not _is_alone(scop, reduction, target) or not _is_signed(reduction):
        return None
    start = int(least.to_python()) - 1
    if start < INT32.value_range()[0] or not _never_falls(scop, statement, position) or _is_element_of_loops(target):
        return None
    names = _names(scop, target.array, statement.name)
    if names is None:
        return None
    index = Array(name=names.array, dtype=reduction.dtype, storage=Storage.LOCAL, c_element=names.array)
    changed = _largest(statement, reduction, names.array)
    first = _begin(statement, reduction, names, start)
    last = _end(statement, reduction, target, names, start)
    order = scop.schedule
    schedule = isl.Schedule.from_domain(isl.UnionSet.from_set(first.domain)).sequence(order).sequence(
        isl.Schedule.from_domain(isl.UnionSet.from_set(last.domain)))
    statements = [changed if s is statement else s for s in scop.statements]
    return replace(scop, arrays=(*scop.arrays, index), statements=(first, *statements, last), schedule=schedule)


def _is_alone(scop: Scop, reduction: Reduction, target: Access) -> bool:
    """Whether nothing else uses the array of an element."""
    return all(a.reference in reduction.own for s in scop.statements for a in s.accesses if a.array == target.array)


def _is_signed(reduction: Reduction) -> bool:
    """Whether numbers compare in every type that they are converted to as they do."""
    return {reduction.dtype.kind, *(e.dtype.kind for e in walk(_value(reduction)))} == {Kind.SIGNED}


def _value(reduction: Reduction) -> Expr:
    assert reduction.value is not None, "an element that is overwritten is so by a value"
    return reduction.value


def _never_falls(scop: Scop, statement: Statement, position: int) -> bool:
    """Whether an iterator is nowhere smaller in a later instance of a statement."""
    order = scop.schedule.get_map().intersect_domain(isl.UnionSet.from_set(
        statement.domain.intersect_params(scop.context)))
    earlier = order.lex_lt_union_map(order)
    later = isl.Map.from_union_map(earlier) if not earlier.is_empty() else None
    if later is None:
        return True
    space = isl.LocalSpace.from_space(later.get_space())
    falls = isl.Constraint.inequality_alloc(space).set_coefficient_val(isl.dim_type.in_, position, 1)
    falls = falls.set_coefficient_val(isl.dim_type.out, position, -1).set_constant_val(-1)
    return bool(later.add_constraint(falls).is_empty())


def _is_element_of_loops(target: Access) -> bool:
    """Whether loops decide which element it is."""
    return not target.exact or any(isinstance(e, IteratorRef | Load) for s in target.subscripts for e in walk(s))


def _names(scop: Scop, array: str, statement: str) -> _Names | None:
    taken = {a.name for a in scop.arrays} | {p.name for p in scop.parameters} | {
        name for s in scop.statements for name in (s.name, *s.iterators)}
    stem = "".join(c if c.isalnum() else "_" for c in array)
    names = _Names(array=f"{stem}_index", before=f"{statement}_before", behind=f"{statement}_behind")
    return None if {names.array, names.before, names.behind} & taken else names


def _point(statement: Statement, name: str) -> isl.Set:
    """`{ name[] }`: one instance, whatever the parameters."""
    space = statement.domain.get_space().params().set_from_params()
    return isl.Set.universe(space).set_tuple_name(name)


def _scalar(domain: isl.Set, reference: str, array: str, kind: AccessKind) -> Access:
    space = domain.get_space().params().set_from_params()
    element = isl.Set.universe(space).set_tuple_name(array)
    return Access(reference=reference, array=array, kind=kind,
                  relation=isl.Map.from_domain_and_range(domain, element))


def _begin(statement: Statement, reduction: Reduction, names: _Names, start: int) -> Statement:
    """`index = start`, less than what any iteration has."""
    domain = _point(statement, names.before)
    write = _scalar(domain, f"{names.before}_w0", names.array, AccessKind.MUST_WRITE)
    return Statement(name=names.before, line=statement.line, domain=domain, accesses=(write,), body=(
        Assign(write.reference, _number(start), reduction.dtype),))


def _number(value: int) -> Expr:
    literal = Literal(str(abs(value)), abs(value), INT32)
    return Unary("-", literal, INT32) if value < 0 else literal


def _end(statement: Statement, reduction: Reduction, target: Access, names: _Names, start: int) -> Statement:
    """`if (index > start) last = index`."""
    domain = _point(statement, names.behind)
    read = _scalar(domain, f"{names.behind}_r0", names.array, AccessKind.READ)
    elements = target.relation.range()
    write = replace(target, reference=f"{names.behind}_w0", kind=AccessKind.MAY_WRITE,
                    relation=isl.Map.from_domain_and_range(domain, elements))
    value = Load(read.reference, reduction.dtype)
    return Statement(name=names.behind, line=statement.line, domain=domain, accesses=(read, write), body=(
        If(Binary(">", value, _number(start), INT32), (Assign(write.reference, value, reduction.dtype),), ()),))


def _largest(statement: Statement, reduction: Reduction, index: str) -> Statement:
    """The statement with the larger of the index and its own number in the place of each assignment."""
    own = reduction.own
    read = _scalar(statement.domain, f"{reduction.write}_index", index, AccessKind.READ)
    accesses = tuple(
        _scalar(statement.domain, a.reference, index, a.kind) if a.reference in own else a for a in statement.accesses)
    old = Load(read.reference, reduction.dtype)

    def changed(body: Sequence[BodyStatement]) -> tuple[BodyStatement, ...]:
        made: list[BodyStatement] = []
        for item in body:
            if isinstance(item, If):
                made.append(replace(item, then=changed(item.then), otherwise=changed(item.otherwise)))
            elif isinstance(item, Assign):
                made.append(replace(item, value=_greater(item.value, old, reduction)))
            else:
                made.append(item)
        return tuple(made)

    body = changed(statement.body)
    return replace(statement, body=body, accesses=(*accesses, read))


def _greater(value: Expr, old: Load, reduction: Reduction) -> Expr:
    """The larger of a number and the old one, below a choice that keeps the old one."""
    number = _value(reduction)
    if value == number:
        return Select(Binary(">", number, old, INT32), number, old, old.dtype)
    assert isinstance(value, Select), "only a choice keeps the old value"
    sides = [Select(Binary(">", number, old, INT32), number, old, old.dtype) if side == number else side
             for side in (value.then, value.otherwise)]
    return replace(value, then=sides[0], otherwise=sides[1])


__all__ = ["in_any_order"]
