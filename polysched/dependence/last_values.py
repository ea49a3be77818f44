"""Arrays of the caller that iterations use as a temporary: iterations work in a copy, the last values are copied out.

    for r, q: { for p: { sum[p] = 0; for s: sum[p] += A[r][q][s] * C[s][p]; } for p: A[r][q][p] = sum[p]; }
    ->          the same with a temporary in the place of `sum`, and at the end of the body of r, q:
                if (r == R - 1 && q == Q - 1) for p: sum[p] = the temporary's [p];

Only the storage orders the iterations, and `expansion` gives the temporary a copy per iteration.  Which iteration
leaves which element behind is the exact last writer of the element, so that elements may have different ones, and
an element that nothing writes keeps its value.  Done only where it makes a loop parallel: the copy is not free.

Source: P. Feautrier, "Array expansion", ICS 1988; P. Tu, D. Padua, "Automatic array privatization", LCPC 1993
(copying out); OpenMP's `lastprivate` for scalars.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.same_values import check_same_values
from polysched.dependence.source_loops import (
    SourceLoop,
    equal_counters,
    every_read_has_a_writer,
    shared_loops,
    statement_names,
    stays_inside,
    subscripted_by,
)
from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Assign, IteratorRef, Load
from polysched.scop.dtypes import INT64
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement, Storage

logger = logging.getLogger(__name__)

_STORAGE = (DependenceKind.ANTI, DependenceKind.OUTPUT)


@dataclass(frozen=True, kw_only=True)
class LastValue:
    """One array of the caller in whose place iterations work in a temporary.

    Parameters
    ----------
    array : the array.
    copy : the temporary.
    statement : copies the last values out.
    loops : what is parallel then, as the first statement that uses the array calls the iterators.
    """

    array: str
    copy: str
    statement: str
    loops: tuple[str, ...]

    def __str__(self) -> str:
        return (f"array {self.array}: iterations of {', '.join(self.loops)} work in {self.copy}, since only the "
                f"storage of {self.array} orders them; {self.statement} copies the last values out")


def with_last_values(dependences: Dependences, *, but: frozenset[str] = frozenset()
                     ) -> tuple[Dependences, tuple[LastValue, ...]]:
    """The program in which loops that only the storage of a live array orders use a temporary in its place.

    Not touched are arrays of which an element may be read before the iteration has written it, whose accesses or
    whose last writers are not exact, and those without which no loop becomes parallel.

    Raises
    ------
    IllegalScheduleError : the check of `same_values` fails, which would be a fault here.
    """
    done: list[LastValue] = []
    private = _private(dependences, but)
    for array in dependences.scop.arrays:
        loops = private.get(array.name, ())
        freed = _freed(dependences, array, private)
        if not freed:
            continue
        scop, made = _with_copy(dependences.scop, array, loops, freed)
        try:
            changed = analyse(scop, value_based=True, inputs=dependences.inputs, known=dependences)
        except BudgetExceededError as spent:
            logger.info("iterations get no copies of %s: %s", array.name, spent.problem)
            continue
        if changed.value_based:
            check_same_values(dependences, changed)
            dependences = changed
            private = _private(dependences, but)
            done.append(made)
    return dependences, tuple(done)


def _extents(scop: Scop, array: Array) -> tuple[isl.PwAff, ...] | None:
    """The extents that a copy needs, also where the declaration has none; None where no extent is enough."""
    found = []
    for dimension, extent in enumerate(array.extents):
        if extent is None:
            reached = [a.relation.intersect_params(scop.context).range() for _, a in _users(scop, array)]
            least = [elements.dim_min_val(dimension) for elements in reached if not elements.is_empty()]
            if not least or not all(value.is_int() and value.is_nonneg() for value in least):
                return None
            tops = [elements.dim_max(dimension).add_constant_val(isl.Val(1)) for elements in reached]
            extent = reduce(lambda first, second: first.union_max(second), tops).coalesce()
        found.append(extent)
    return tuple(found)


def _users(scop: Scop, array: Array) -> tuple[tuple[Statement, Access], ...]:
    return tuple((s, a) for s in scop.statements for a in s.accesses if a.array == array.name)


def _private(dependences: Dependences, but: frozenset[str]) -> dict[str, tuple[SourceLoop, ...]]:
    """The arrays that can have a copy, and the loops that no value of each crosses."""
    return {a.name: loops for a in dependences.scop.arrays if (loops := _private_loops(dependences, a, but))}


def _private_loops(dependences: Dependences, array: Array, but: frozenset[str]) -> tuple[SourceLoop, ...]:
    """The loops around all references, outermost first, that no value of the array crosses; empty to leave it alone."""
    scop, users, flow = dependences.scop, _users(dependences.scop, array), _flow(dependences, array)
    if array.name in but or array.is_temporary or not flow or not _is_stored(dependences, array) or (
            _obstacle(dependences, array)):
        return ()
    loops: list[SourceLoop] = []
    for loop in shared_loops(scop, [s.name for s, _ in users], bystanders=True):
        if loop.sign < 0 or not all(stays_inside(p, loop) for p in flow):
            break
        loops.append(loop)
    return tuple(loops)


def _flow(dependences: Dependences, array: Array) -> list[Dependence]:
    return [p for p in dependences.pairs if p.array == array.name and p.kind is DependenceKind.FLOW]


def _is_stored(dependences: Dependences, array: Array) -> bool:
    """Whether the storage of an array orders anything."""
    return any(p.array == array.name and p.kind in _STORAGE for p in dependences.pairs)


def _obstacle(dependences: Dependences, array: Array) -> str:
    """Why an array cannot have copies, whatever the loop; empty where nothing is in the way."""
    scop, users = dependences.scop, _users(dependences.scop, array)
    if array.c_element.count("{}") != len(array.extents):
        return "it has fewer subscripts than dimensions"
    if not all(a.exact for _, a in users):
        return "which elements are accessed is not known exactly"
    if any(a.kind is AccessKind.MAY_WRITE or not a.relation.is_single_valued() for _, a in users):
        return "elements are written under a condition on values"
    if not every_read_has_a_writer(scop, users, _flow(dependences, array)):
        return "an element may be read before the iteration has written it"
    return "" if _extents(scop, array) is not None else "it has no known extent"


def kept_storage(dependences: Dependences) -> tuple[str, ...]:
    """Arrays of the caller that alone keep the outermost loop around them in order, and why they have no copies."""
    found = []
    private = _private(dependences, frozenset())
    for array in dependences.scop.arrays:
        if array.is_temporary or array.name in private or not _is_stored(dependences, array):
            continue
        users = _users(dependences.scop, array)
        loops = tuple(shared_loops(dependences.scop, [s.name for s, _ in users], bystanders=True))[:1]
        flow = _flow(dependences, array)
        others = replace(dependences, pairs=tuple(p for p in dependences.pairs if p not in flow))
        if loops and _freed(others, array, {**private, array.name: loops}):
            first = users[0][0]
            found.append(f"array {array.name}: it alone keeps iterations of "
                         f"{first.iterators[loops[0].counters[first.name][0]]} from running in parallel; they get no "
                         f"copies of it, since {_reason(dependences, array, loops[0])}")
    return tuple(found)


def _reason(dependences: Dependences, array: Array, loop: SourceLoop) -> str:
    """Why the iterations of a loop have no copies of an array."""
    if not all(stays_inside(p, loop) for p in _flow(dependences, array)):
        return "iterations use what earlier ones left in it"
    return _obstacle(dependences, array) or (
        "the loop counts down" if loop.sign < 0 else "nothing reads what the iterations write")


def _freed(dependences: Dependences, array: Array, private: Mapping[str, Sequence[SourceLoop]]
           ) -> tuple[SourceLoop, ...]:
    """The loops that are parallel but for the storage of the array, of its like, and of temporaries.

    Parameters
    ----------
    private : the arrays that can have a copy, and the loops that no value of each crosses.
    """
    scop, freed = dependences.scop, []
    temporary = {a.name for a in scop.arrays if a.is_temporary}
    loops = private.get(array.name, ())
    for position, loop in enumerate(loops):
        stored = temporary | {
            name for name, its in private.items() if any(loop.counters == other.counters for other in its)}
        crossing = _crossing(dependences, loop, loops[:position])
        ordered = [p for p in crossing if p.kind is DependenceKind.FLOW or p.array not in stored]
        if any(p.array == array.name for p in crossing) and not ordered and not all(
                subscripted_by(a, loop.counters[s.name]) for s, a in _users(scop, array)):
            freed.append(loop)
    return tuple(freed)


def _crossing(dependences: Dependences, loop: SourceLoop, around: Sequence[SourceLoop]) -> list[Dependence]:
    """The dependences from one iteration of a loop to another, inside one iteration of those around it."""
    inside = [p for p in dependences.pairs if p.kind is not DependenceKind.INPUT
              and p.source in loop.counters and p.sink in loop.counters]
    together = [made for p in inside if (made := _in_one_iteration(p, around)) is not None]
    return [p for p in together if not stays_inside(p, loop)]


def _in_one_iteration(pair: Dependence, loops: Sequence[SourceLoop]) -> Dependence | None:
    """The part of a dependence whose source and sink lie in the same iteration of all of these loops."""
    relation = pair.relation
    for loop in loops:
        relation = equal_counters(relation, loop.counters[pair.source], loop.counters[pair.sink])
    return None if relation.is_empty() else replace(pair, relation=relation)


def _with_copy(scop: Scop, array: Array, loops: Sequence[SourceLoop], freed: Sequence[SourceLoop]
               ) -> tuple[Scop, LastValue]:
    """The program in which a temporary stands in the place of an array, and its last values are copied out."""
    users = _users(scop, array)
    references = {a.reference for _, a in users}
    copy = _fresh(f"{array.name}_copy", {a.name for a in scop.arrays} | {p.name for p in scop.parameters})
    name = _fresh(f"{users[-1][0].name}_last", {s.name for s in scop.statements})
    extents = _extents(scop, array)
    assert extents is not None, "only asked for arrays of which a copy can be declared"
    temporary = replace(array, name=copy, storage=Storage.LOCAL, dead_after=False, restrict=True, extents=extents,
                        c_element=copy + "[{}]" * len(array.extents))

    def renamed(access: Access) -> Access:
        if access.reference not in references:
            return access
        return replace(access, array=copy, relation=access.relation.set_tuple_name(isl.dim_type.out, copy))

    statement = _copy_out(scop, array, copy, name, loops)
    last = max(k for k, s in enumerate(scop.statements) if s.name in loops[-1].counters)
    statements = [replace(s, accesses=tuple(map(renamed, s.accesses))) for s in scop.statements]
    statements.insert(last + 1, statement)
    schedule = _placed(scop.schedule.get_root(), statement, frozenset(s.name for s, _ in users), 0, len(loops))
    first = users[0][0]
    return replace(scop, arrays=(*scop.arrays, temporary), statements=tuple(statements), schedule=schedule), LastValue(
        array=array.name, copy=copy, statement=name,
        loops=tuple(first.iterators[loop.counters[first.name][0]] for loop in freed))


def _fresh(name: str, known: set[str]) -> str:
    return name if name not in known else next(f"{name}_{n}" for n in range(2, len(known) + 3)
                                               if f"{name}_{n}" not in known)


def _copy_out(scop: Scop, array: Array, copy: str, name: str, loops: Sequence[SourceLoop]) -> Statement:
    """`{ name[c, e] : iteration c of the loops is the last that writes element e }: array[e] = copy[e]`."""
    written: isl.Map | None = None
    for statement, access in _users(scop, array):
        if access.is_write:
            elements = _by_iteration(statement, access, loops).intersect_params(scop.context)
            written = elements if written is None else written.union(elements)
    assert written is not None, "a read of the array has a writer"
    last = written.reverse().lexmax().reverse().coalesce()
    depth, rank = len(loops), len(array.extents)
    domain = last.wrap().flatten().set_tuple_name(name)
    inner = scop.statement(next(s.name for s, _ in _users(scop, array)))
    taken = {p.name for p in scop.parameters} | {a.name for a in scop.arrays}
    for k in range(depth + rank):
        wanted = inner.iterators[loops[k].counters[inner.name][0]] if k < depth else f"e{k - depth}"
        wanted = _fresh(wanted, taken)
        taken.add(wanted)
        domain = domain.set_dim_name(isl.dim_type.set, k, wanted)
    elements = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    elements = elements.project_out(isl.dim_type.out, 0, depth)
    subscripts = tuple(IteratorRef(str(domain.get_dim_name(isl.dim_type.set, depth + k)), INT64) for k in range(rank))
    read = Access(reference=f"{name}_r0", array=copy, kind=AccessKind.READ, subscripts=subscripts,
                  relation=elements.set_tuple_name(isl.dim_type.out, copy))
    write = Access(reference=f"{name}_w0", array=array.name, kind=AccessKind.MUST_WRITE, subscripts=subscripts,
                   relation=elements.set_tuple_name(isl.dim_type.out, array.name))
    return Statement(name=name, line=inner.line, domain=domain, accesses=(read, write),
                     body=(Assign(write.reference, Load(read.reference, array.dtype), array.dtype),))


def _by_iteration(statement: Statement, access: Access, loops: Sequence[SourceLoop]) -> isl.Map:
    """`{ [c] -> array[e] }`: what a statement writes in each iteration of the loops, counters outermost first."""
    space = isl.Space.alloc(access.relation.get_ctx(), 0, len(loops), statement.depth)
    space = space.align_params(access.relation.get_space())
    space = space.set_tuple_name(isl.dim_type.out, statement.name)
    counters = isl.Map.universe(space)
    for k, loop in enumerate(loops):
        counters = equal_counters(counters, (k, 0), loop.counters[statement.name])
    return counters.intersect_range(statement.domain).apply_range(access.relation)


def _placed(node: isl.ScheduleNode, statement: Statement, users: frozenset[str], done: int, loops: int) -> isl.Schedule:
    """The order below a node with the new statement at the end of the body of the loops around the users.

    Parameters
    ----------
    done, loops : of how many of these loops the node is inside, and of how many the new statement shall be.
    """
    if done == loops:
        return _order_of(node).sequence(_elements(statement, loops))
    kind = kind_of(node)
    if kind == NodeKind.band:
        if node.band_n_member() > loops - done:
            node = node.band_split(loops - done)
        members = int(node.band_n_member())
        below = _placed(node.child(0), statement, users, done + members, loops)
        return below.insert_partial_schedule(_with_counters(node, statement, done, members))
    if kind not in (NodeKind.sequence, NodeKind.set):
        return _placed(node.child(0), statement, users, done, loops)
    parts = []
    for k in range(node.n_children()):
        child = node.child(k).child(0)
        inside = bool(users & statement_names(child.get_domain()))
        parts.append(_placed(child, statement, users, done, loops) if inside else _order_of(child))
    return reduce(lambda first, second: first.sequence(second), parts)


def _order_of(node: isl.ScheduleNode) -> isl.Schedule:
    """The order below a node as a schedule of its own."""
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        return isl.Schedule.from_domain(node.get_domain())
    if kind == NodeKind.band:
        return _order_of(node.child(0)).insert_partial_schedule(node.band_get_partial_schedule())
    parts = [_order_of(node.child(k)) for k in range(node.n_children())]
    return reduce(lambda first, second: first.sequence(second), parts)


def _with_counters(band: isl.ScheduleNode, statement: Statement, done: int, members: int) -> isl.MultiUnionPwAff:
    """A band's partial schedule with the new statement's iterators from number `done` on."""
    domain = band.get_domain().union(isl.UnionSet.from_set(statement.domain))
    partial = band.band_get_partial_schedule()
    local = isl.LocalSpace.from_space(statement.domain.get_space())
    pieces = isl.UnionPwAffList.alloc(domain.get_ctx(), members)
    for k in range(members):
        own = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, done + k))
        pieces = pieces.add(partial.get_union_pw_aff(k).union_add(isl.UnionPwAff.from_pw_aff(own)))
    return isl.MultiUnionPwAff.from_union_pw_aff_list(partial.get_space(), pieces)


def _elements(statement: Statement, loops: int) -> isl.Schedule:
    """The elements that the new statement copies in one iteration of the loops, in their order in memory."""
    schedule = isl.Schedule.from_domain(isl.UnionSet.from_set(statement.domain))
    local = isl.LocalSpace.from_space(statement.domain.get_space())
    for k in reversed(range(loops, statement.depth)):
        own = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k)))
        schedule = schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(own))
    return schedule


__all__ = ["LastValue", "kept_storage", "with_last_values"]
