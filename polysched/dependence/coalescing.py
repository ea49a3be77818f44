"""A private accumulator moves into the element that its result goes to: scalar replacement taken back.

    for i, j: { s = 0; for k: s += A[i][k] * B[k][j]; C[i][j] = s; }
    ->          C[i][j] = 0; for k: C[i][j] += A[i][k] * B[k][j];

Then the loops can be tiled and interchanged as if the program had been written so, without a copy of the accumulator
per iteration.  Whether nobody misses the old element or sees the new values too early is decided by
`same_values` on the program after, exactly; there is no other condition here than that the element can be named in
every statement that uses the accumulator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.same_values import check_same_values
from polysched.dependence.statements import with_statements
from polysched.errors import IllegalScheduleError
from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, Expr, IteratorRef, Literal, Load, rebuild, walk
from polysched.scop.dtypes import INT32, INT64
from polysched.scop.points import isl_value
from polysched.scop.scop import Access, AccessKind, Scop, Statement

Counters = Sequence[Mapping[str, tuple[int, int]]]
"""Per loop, for each statement the position of its iterator and what is added to it for the loop's counter."""


@dataclass(frozen=True, eq=False)
class Coalesced:
    """A program in which a scalar lives in an element of an array.

    Parameters
    ----------
    dependences : of the program; holds it.
    array : where the scalar lives.
    """

    dependences: Dependences
    array: str


def in_place_of_result(before: Dependences, array: str, references: frozenset[str], counters: Counters
                       ) -> Coalesced | None:
    """The program in which these references of a scalar reach the element that the scalar's value ends in.

    Assignments of an element to itself that remain are dropped.

    Parameters
    ----------
    references : all references between which values of the scalar flow.
    counters : the loops that have a scalar of their own in each iteration.

    Returns
    -------
    The program; None where there is no such element, or a value would be lost.
    """
    scop = before.scop
    for final in reversed(scop.statements):
        target = _result(scop, final, array, references)
        if target is None:
            continue
        moved = _moved(scop, references, final, target, counters)
        if moved is None:
            continue
        after = analyse(moved, value_based=True, inputs=before.inputs, known=before)
        if not after.value_based:
            return None
        try:
            check_same_values(before, after)
        except IllegalScheduleError:
            continue
        made = analyse(_without_copies(moved), value_based=True, inputs=before.inputs, known=after)
        return Coalesced(made, target.array) if made.value_based else None
    return None


def _result(scop: Scop, statement: Statement, array: str, references: frozenset[str]) -> Access | None:
    """The element that a statement computes from the scalar, when it is of the same type."""
    if len(statement.body) != 1 or not isinstance(item := statement.body[0], Assign) or item.op is not None:
        return None
    target = statement.access(item.target)
    reads = {e.reference for e in walk(item.value) if isinstance(e, Load)} & references
    same_type = scop.array(target.array).dtype == scop.array(array).dtype
    plain = target.exact and target.kind is AccessKind.MUST_WRITE and not any(
        isinstance(e, Load) for s in target.subscripts for e in walk(s))
    return target if reads and target.array != array and same_type and plain else None


def _moved(scop: Scop, references: frozenset[str], final: Statement, target: Access, counters: Counters) -> Scop | None:
    """The program with the scalar's references on the target's element; None when a statement cannot name it."""
    loop_of = {final.iterators[loop[final.name][0]]: loop for loop in counters}
    named = {e.name for s in target.subscripts for e in walk(s) if isinstance(e, IteratorRef)}
    if not named <= set(loop_of):
        return None

    def element_in(statement: Statement, access: Access) -> Access:
        def change(e: Expr) -> Expr:
            if not isinstance(e, IteratorRef):
                return e
            loop = loop_of[e.name]
            position, constant = loop[statement.name]
            return _plus(IteratorRef(statement.iterators[position], e.dtype), constant - loop[final.name][1])

        relation = isl.Map.universe(statement.domain.get_space().map_from_domain_and_range(final.domain.get_space()))
        for name, loop in loop_of.items():
            if name in named:
                relation = _together(relation, loop[statement.name], loop[final.name])
        positions = [k for k, iterator in enumerate(final.iterators) if iterator not in named]
        reached = relation.apply_range(_free(target.relation, positions)).intersect_domain(access.relation.domain())
        return replace(access, array=target.array, relation=reached,
                       subscripts=tuple(rebuild(s, change) for s in target.subscripts))

    statements = tuple(
        replace(s, accesses=tuple(element_in(s, a) if a.reference in references else a for a in s.accesses))
        for s in scop.statements)
    moved = [(s, a) for s in statements for a in s.accesses if a.reference in references]
    if not all(a.relation.is_single_valued() and s.domain.intersect_params(scop.context).is_subset(a.relation.domain())
               for s, a in moved):
        return None
    return replace(scop, statements=statements)


def _free(relation: isl.Map, positions: Sequence[int]) -> isl.Map:
    """The relation with iterators that it does not depend on given any value."""
    for position in positions:
        relation = relation.drop_constraints_involving_dims(isl.dim_type.in_, position, 1)
    return relation


def _together(relation: isl.Map, source: tuple[int, int], sink: tuple[int, int]) -> isl.Map:
    constraint = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(relation.get_space()))
    constraint = constraint.set_coefficient_val(isl.dim_type.in_, source[0], isl.Val(1))
    constraint = constraint.set_coefficient_val(isl.dim_type.out, sink[0], isl.Val(-1))
    return relation.add_constraint(constraint.set_constant_val(isl_value(source[1] - sink[1])))


def _plus(value: Expr, constant: int) -> Expr:
    if constant == 0:
        return value
    return Binary("+" if constant > 0 else "-", value, Literal(str(abs(constant)), abs(constant), INT32), INT64)


def _without_copies(scop: Scop) -> Scop:
    """The program without assignments of an element to itself, and without temporaries that are of no use then."""
    kept = tuple(s for s in scop.statements if not _copies_to_itself(s))
    if not kept:
        return scop
    return with_statements(scop, kept)


def _copies_to_itself(statement: Statement) -> bool:
    if len(statement.body) != 1 or not isinstance(item := statement.body[0], Assign) or item.op is not None:
        return False
    if not isinstance(item.value, Load) or item.value.dtype != item.dtype:
        return False
    read, write = statement.access(item.value.reference), statement.access(item.target)
    return read.array == write.array and read.exact and write.exact and bool(read.relation.is_equal(write.relation))
