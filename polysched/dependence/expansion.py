"""Expansion of temporaries: a scalar or array that every iteration writes anew gets one copy per iteration.

    for i, j: { s = 0; for k: s += A[i][k] * B[k][j]; C[i][j] = s; }
    ->          s[i][j] = 0; ...    s[i][j] += ...;     C[i][j] = s[i][j];

The copies remove the anti and output dependences between iterations, which order the iterations for nothing but
the place of the value.  Which loops can have copies is decided by the value-based flow: every value that
is read has to come from the same iteration.  That the program still computes the same is checked by
`same_values`, which knows nothing of how the copies were chosen.  Emission takes the copies back where the new
order allows it (`emit_c.nests.array_contraction`).

Source: P. Feautrier, "Array expansion", ICS 1988; D. Maydan, S. Amarasinghe, M. Lam, "Array data-flow analysis
and its use in array privatization", POPL 1993.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

import islpy as isl

from polysched.dependence.analysis import analyse
from polysched.dependence.coalescing import in_place_of_result
from polysched.dependence.collapsing import CollapsedLoops
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.last_values import LastValue, with_last_values
from polysched.dependence.limits import LIMITS
from polysched.dependence.parameter_sizes import largest_parameters
from polysched.dependence.same_values import check_same_values
from polysched.dependence.source_loops import (
    SourceLoop,
    equal_counters,
    every_read_has_a_writer,
    shared_loops,
    stays_inside,
    subscripted_by,
)
from polysched.dependence.unrolling import is_short, write_out
from polysched.errors import BudgetExceededError, IllegalScheduleError
from polysched.records import dataclass
from polysched.scop.assumptions import ASSUMED
from polysched.scop.body import Binary, Expr, IteratorRef, Literal
from polysched.scop.dtypes import INT32, INT64
from polysched.scop.interpreter import extents_of
from polysched.scop.points import isl_value
from polysched.scop.scop import Access, Array, Scop, Statement, Storage

logger = logging.getLogger(__name__)


LARGEST_CONSTANT = LIMITS.extent_constant
SMALLEST_LIMIT_BYTES = LIMITS.expanded_bytes


@dataclass(frozen=True, kw_only=True)
class ExpandedArray:
    """One array that got more dimensions.

    Parameters
    ----------
    name : the array.
    loops : the iterators that became its outermost dimensions, as the first statement that uses it calls them.
    before : the array that it was, or was a part of.
    """

    name: str
    loops: tuple[str, ...]
    before: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Expansion:
    """A program with expanded temporaries.

    Parameters
    ----------
    dependences : of the program after; holds it.  The same object as before when nothing was expanded.
    arrays : what was expanded.
    moved : scalars that live in an element of another array now, and that array.
    collapsed : loops that became one before (`collapsing`).
    last_values : arrays of the caller whose iterations work in copies; the last values are copied out.
    given : the dependences of the program as it was given; None where they were not looked for.
    """

    dependences: Dependences
    arrays: tuple[ExpandedArray, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    collapsed: tuple[CollapsedLoops, ...] = ()
    last_values: tuple[LastValue, ...] = ()
    given: Dependences | None = None


def expand_temporaries(dependences: Dependences, *, but: frozenset[str] = frozenset(),
                       write_out: bool = True) -> Expansion:
    """Expand every temporary that holds iterations in an order they do not need.

    Temporaries are the arrays and scalars that nothing reads after the region (`Array.is_temporary`).  One that
    is used for several purposes, between which no value flows, is taken apart first.  An array that lives on becomes
    one where that makes a loop parallel; its last values are copied out (`last_values`).  Not touched are those that
    no anti or output dependence concerns, those with accesses that are not exact, and those whose values come
    from outside.  Memory-based dependences say too little: nothing is expanded then.

    Parameters
    ----------
    but : arrays to leave as they are.
    write_out : short loops around private accumulators are written out first (`unrolling`).

    Raises
    ------
    BudgetExceededError : as `analyse`.
    IllegalScheduleError : the check of `same_values` fails, which would be a fault here.
    """
    if not dependences.value_based:
        return Expansion(dependences=dependences)
    given = dependences
    dependences, moved = _coalesced(_written_out(dependences, but) if write_out else dependences, but)
    dependences, last_values = with_last_values(dependences, but=but)
    scop = dependences.scop
    done: list[ExpandedArray] = []
    for array in (a for a in dependences.scop.arrays if a.name not in but):
        for web in _webs(dependences, array):
            loops = _loops_to_expand(dependences, web)
            if loops:
                users = web.statements
                name = _fresh_name(scop, web)
                scop = _expanded(scop, web, name, loops)
                done.append(ExpandedArray(name=name, before=array.name, loops=tuple(
                    users[0].iterators[loop.counters[users[0].name][0]] for loop in loops)))
    if not done:
        return Expansion(dependences=dependences if moved or last_values else given, moved=moved,
                         last_values=last_values)
    changed = analyse(_without_unused_locals(scop), value_based=True, inputs=dependences.inputs, known=dependences)
    if not changed.value_based:
        return Expansion(dependences=given)
    check_same_values(dependences, changed)
    return Expansion(dependences=changed, arrays=tuple(done), moved=moved, last_values=last_values)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Web:
    """References of one array between which values flow; no other reference sees these values.

    Source: the webs of register allocation; here over value-based flow dependences.
    """

    array: Array
    accesses: tuple[tuple[Statement, Access], ...]
    flow: tuple[Dependence, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(dict.fromkeys(statement for statement, _ in self.accesses))

    @property
    def references(self) -> frozenset[str]:
        return frozenset(access.reference for _, access in self.accesses)


def _webs(dependences: Dependences, array: Array) -> Iterator[_Web]:
    """The webs of a temporary in textual order of their first reference."""
    if not array.is_temporary:
        return
    scop = dependences.scop
    accesses = [(s, a) for s in scop.statements for a in s.accesses if a.array == array.name]
    flow = [p for p in dependences.pairs if p.array == array.name and p.kind is DependenceKind.FLOW]
    groups = {a.reference: {a.reference} for _, a in accesses}
    joined = [(p.source_reference, p.sink_reference) for p in flow] + list(_bound_together(accesses))
    for first, second in joined:
        merged = groups[first] | groups[second]
        groups.update(dict.fromkeys(merged, merged))
    for group in {id(g): g for g in groups.values()}.values():
        yield _Web(array=array, accesses=tuple((s, a) for s, a in accesses if a.reference in group),
                   flow=tuple(p for p in flow if p.source_reference in group))


def _bound_together(accesses: Sequence[tuple[Statement, Access]]) -> Iterator[tuple[str, str]]:
    """References that one statement uses for one purpose: values also flow inside an instance, and `x += y` is two."""
    for (statement, access), (other, following) in pairwise(accesses):
        if statement is other:
            yield access.reference, following.reference


def _fresh_name(scop: Scop, web: _Web) -> str:
    """The array's own name when no other reference uses it, else a new one."""
    name = web.array.name
    others = [a for s in scop.statements for a in s.accesses
              if a.array == name and a.reference not in web.references]
    if not others:
        return name
    known = {a.name for a in scop.arrays} | {p.name for p in scop.parameters}
    return next(f"{name}_{n}" for n in range(2, len(known) + 3) if f"{name}_{n}" not in known)


def _without_unused_locals(scop: Scop) -> Scop:
    used = {a.array for s in scop.statements for a in s.accesses}
    return replace(scop, arrays=tuple(a for a in scop.arrays if a.name in used or not a.is_temporary))


def _loops_to_expand(dependences: Dependences, web: _Web) -> tuple[SourceLoop, ...]:
    """The loops, outermost first, whose iterations get copies of an array; empty to leave it alone."""
    scop = dependences.scop
    if not all(a.exact for _, a in web.accesses) or not any(a.is_write for _, a in web.accesses):
        return ()
    if not any(p.kind in (DependenceKind.ANTI, DependenceKind.OUTPUT) and p.array == web.array.name
               and {p.source_reference, p.sink_reference} & web.references for p in dependences.pairs):
        return ()
    if not every_read_has_a_writer(scop, web.accesses, web.flow):
        return ()
    return tuple(loop for loop in _private_loops(scop, web)
                 if not all(subscripted_by(a, loop.counters[s.name]) for s, a in web.accesses)
                 and _shift(scop, web.statements, loop) is not None)


def _private_loops(scop: Scop, web: _Web) -> Iterator[SourceLoop]:
    """The loops around all references, outermost first, that no value of the web crosses."""
    for loop in shared_loops(scop, [s.name for s in web.statements]):
        if not all(stays_inside(p, loop) for p in web.flow):
            return
        yield loop


def _coalesced(dependences: Dependences, but: frozenset[str]) -> tuple[Dependences, tuple[tuple[str, str], ...]]:
    """The dependences with accumulators of longer loops in the elements that their results go to."""
    refused: set[frozenset[str]] = set()
    moved: list[tuple[str, str]] = []
    while True:
        for web in (w for a in dependences.scop.arrays if a.is_scalar and a.name not in but
                    for w in _webs(dependences, a)):
            loops = _loops_to_expand(dependences, web)
            if web.references in refused or not loops or max(s.depth for s in web.statements) <= len(loops):
                continue
            try:
                found = in_place_of_result(dependences, web.array.name, web.references,
                                           [loop.counters for loop in loops])
            except BudgetExceededError as spent:
                logger.info("%s is not summed in the element that its result goes to: %s", web.array.name,
                            spent.problem)
                return dependences, tuple(moved)
            if found is not None:
                dependences = found.dependences
                moved.append((web.array.name, found.array))
                break
            refused.add(web.references)
        else:
            return dependences, tuple(moved)


def _written_out(dependences: Dependences, but: frozenset[str]) -> Dependences:
    """The dependences with the short loops around private accumulators written out.

    Only where all loops inside the accumulator's own are short: one long loop left keeps it from being a register.
    """
    scop, loops = dependences.scop, dict[str, tuple[int, ...]]()
    for web in (w for a in scop.arrays if a.name not in but for w in _webs(dependences, a)):
        if not _loops_to_expand(dependences, web):
            continue
        loops.update(_short_loops(scop, web))
    written = write_out(scop, loops) if loops else None
    if written is None:
        return dependences
    try:
        changed = analyse(written.scop, value_based=True, inputs=dependences.inputs, known=dependences)
    except BudgetExceededError as spent:
        logger.info("the short loops around %s are not written out: %s", ", ".join(loops), spent.problem)
        return dependences
    if not changed.value_based:
        return dependences
    back = isl.UnionMap.from_union_pw_multi_aff(written.back)
    flow = changed.flow.apply_domain(back).apply_range(back)
    if not flow.is_equal(dependences.flow):
        raise IllegalScheduleError("writing out a loop changed what flows", where=scop.name,
                                   witness=str(flow.subtract(dependences.flow)),
                                   hint="this is a fault of polysched: please report it with the source file")
    return changed


def _short_loops(scop: Scop, web: _Web) -> dict[str, tuple[int, ...]]:
    """The loops inside the accumulator's own, by statement; none where one of them is long, or there is nothing."""
    private = tuple(_private_loops(scop, web))
    inner = {s.name: tuple(k for k in range(s.depth) if k not in {loop.counters[s.name][0] for loop in private})
             for s in web.statements}
    found = {name: positions for name, positions in inner.items() if positions}
    if private and len(found) < len(inner) and all(is_short(scop, scop.statement(n), p) for n, p in found.items()):
        return found
    return {}


def _shift(scop: Scop, users: Sequence[Statement], loop: SourceLoop) -> int | None:
    """What has to be added to a loop's counter so that it is never negative; None when nothing is enough."""
    least: list[int] = []
    for statement in users:
        position, constant = loop.counters[statement.name]
        domain = statement.domain.intersect_params(scop.context)
        if domain.is_empty():
            continue
        value = domain.dim_min_val(position)
        if not value.is_int():
            return None
        least.append(int(value.to_python()) + constant)
    return max(0, -min(least, default=0))


def _expanded(scop: Scop, web: _Web, name: str, loops: Sequence[SourceLoop]) -> Scop:
    """The program in which a web has an array of this name, with one copy per iteration of the loops."""
    array, users = web.array, web.statements
    shifts = [_shift(scop, users, loop) or 0 for loop in loops]
    extents = tuple(_extent(scop, users, loop, shift) for loop, shift in zip(loops, shifts, strict=True))
    rank = len(loops) + len(array.extents)
    larger = replace(array, name=name, extents=(*extents, *array.extents), storage=Storage.LOCAL, dead_after=False,
                     c_extents=(*(None for _ in loops), *array.c_extents), c_element=name + "[{}]" * rank,
                     restrict=True, constant=False)

    def changed(statement: Statement) -> Statement:
        if not any(a.reference in web.references for a in statement.accesses):
            return statement
        own = [(loop.counters[statement.name], shift) for loop, shift in zip(loops, shifts, strict=True)]
        return replace(statement, accesses=tuple(
            _expanded_access(statement, a, name, own) if a.reference in web.references else a
            for a in statement.accesses))

    arrays = tuple(a for a in scop.arrays if a.name != name)
    position = next(k for k, a in enumerate(scop.arrays) if a.name in (name, array.name))
    return replace(scop, arrays=(*arrays[:position], larger, *arrays[position:]),
                   statements=tuple(changed(s) for s in scop.statements))


def _extent(scop: Scop, users: Sequence[Statement], loop: SourceLoop, shift: int) -> isl.PwAff:
    """One more than the largest index, over all statements."""
    largest: isl.PwAff | None = None
    for statement in users:
        position, constant = loop.counters[statement.name]
        top = statement.domain.intersect_params(scop.context).dim_max(position)
        top = top.add_constant_val(isl_value(constant + shift + 1)).project_domain_on_params()
        largest = top if largest is None else largest.union_max(top)
    assert largest is not None, "an array that is expanded has users"
    return largest.coalesce()


def _expanded_access(statement: Statement, access: Access, name: str,
                     counters: Sequence[tuple[tuple[int, int], int]]) -> Access:
    """The access to the array `name` with the loops' counters as its first subscripts."""
    relation = access.relation.insert_dims(isl.dim_type.out, 0, len(counters))
    subscripts = []
    for dimension, ((position, constant), shift) in enumerate(counters):
        relation = equal_counters(relation, (position, constant + shift), (dimension, 0))
        subscripts.append(_plus(IteratorRef(statement.iterators[position], INT64), constant + shift))
    return replace(access, array=name, relation=relation.set_tuple_name(isl.dim_type.out, name),
                   subscripts=(*subscripts, *access.subscripts))


def _plus(value: Expr, constant: int) -> Expr:
    if constant == 0:
        return value
    return Binary("+" if constant > 0 else "-", value, Literal(str(abs(constant)), abs(constant), INT32), INT64)


def is_affordable(scop: Scop, name: str) -> bool:
    """Whether an array needs no more memory than all arrays of the caller together, at one large size.

    One with copies from a type's smallest value on, for loops that begin at a parameter without a bound, is not.
    """
    if any(extent is not None and _largest_constant(extent) > LARGEST_CONSTANT for extent in scop.array(name).extents):
        return False
    values = {**{p.name: ASSUMED.typical_size for p in scop.parameters}, **largest_parameters(scop)}
    owned = sum(_bytes(a, values) for a in scop.arrays if not a.is_temporary)
    return _bytes(scop.array(name), values) <= max(owned, SMALLEST_LIMIT_BYTES)


def _largest_constant(extent: isl.PwAff) -> int:
    """Of the forms that an extent has in its parts."""
    return max((int(form.get_constant_val().to_python()) for _, form in extent.get_pieces()), default=0)


def _bytes(array: Array, values: Mapping[str, int]) -> int:
    return array.dtype.bytes * prod(ASSUMED.typical_size if n is None else n for n in extents_of(array, values))


__all__ = ["ExpandedArray", "Expansion", "expand_temporaries", "is_affordable"]
