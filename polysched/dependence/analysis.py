"""Exact dependence analysis by isl's array data-flow analysis.

Every access is tagged with its reference, so that isl returns one relation per pair of references.
Inside one statement instance the accesses run in the order of the body: the reads of an assignment
before its write.  That order is appended to the schedule as written, and pairs that lie in one instance
are dropped at the end, since no schedule separates them.

Source: Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991; Verdoolaege,
"Presburger Formulas and Polyhedral Compilation", sections 6.3 and 6.4 (tagged access relations).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.reductions import find_reductions, mark_reductions
from polysched.errors import BudgetExceededError, UsageError
from polysched.scop.body import Load, references, walk
from polysched.scop.budget import ISL_OPERATIONS, in_words, with_budget
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_map

REDUCTIONS = ("keep", "exact", "reassociate")

FLOW_SECONDS = 4.0
"""Of processor time, per kind of dependence, whatever the operations."""


def analyse(scop: Scop, *, value_based: bool = True, inputs: bool = False, reductions: str = "keep",
            isl_operations: int = ISL_OPERATIONS) -> Dependences:
    """Compute the dependences of a Scop, one relation per pair of references.

    Parameters
    ----------
    value_based : flow from the last write before a read only, anti to the next writes after a read only,
        output between successive writes only; together they imply every memory-based ordering by
        transitivity.  Otherwise every earlier conflicting access counts.
    inputs : also pair reads of one element (from the last read before); no order follows from those, they
        only describe reuse.
    reductions : `keep` the order of their updates; relax those that are `exact` in any order (integers,
        minimum, maximum); or all of them, which lets floating-point sums `reassociate`.  The place of an extremum
        (argmax) keeps its order, on which the choice among equal values hangs.  Every update of a
        relaxed reduction counts as a source and none hides another, so that readers wait for all of them.
    isl_operations : budget for flow dependences, and for anti and output dependences together; what runs out of it is
        memory-based, and `Dependences.fallbacks` says so.

    Raises
    ------
    UsageError : no such treatment of reductions.
    BudgetExceededError : even memory-based dependences do not fit the budget.

    Source: Feautrier 1991; the anti dependences are those of Bondhugula et al., "lastwriter" in Pluto.
    """
    if reductions not in REDUCTIONS:
        raise UsageError(f"no treatment of reductions {reductions!r}", hint=f"one of {', '.join(REDUCTIONS)}")
    relaxed = tuple(r for r in find_reductions(scop) if r.any_order and (
        reductions == "reassociate" or (reductions == "exact" and r.exact)))
    updates = frozenset(r.write for r in relaxed)
    schedule = _access_schedule(scop)
    reads = _tagged(scop, AccessKind.READ)
    all_must = _tagged(scop, AccessKind.MUST_WRITE)
    must = _tagged(scop, AccessKind.MUST_WRITE, without=updates)
    may = _tagged(scop, AccessKind.MAY_WRITE).union(all_must.subtract(must))
    writes = must.union(may)
    nothing = union_map(())
    last = must if value_based else nothing
    other = may if value_based else writes
    wanted: dict[tuple[DependenceKind, ...], _Question] = {
        (DependenceKind.FLOW,): _Question(sink=reads, must=last, may=other),
        (DependenceKind.ANTI, DependenceKind.OUTPUT): _Question(sink=writes, must=last, may=other.union(reads))}
    if inputs:
        wanted[(DependenceKind.INPUT,)] = _Question(sink=reads, must=reads)
    pairs: list[Dependence] = []
    fallbacks = []
    for kinds, question in wanted.items():
        what = " and ".join(kind.value for kind in kinds)
        relation, problem = _value_based(schedule, question, isl_operations)
        if relation is None:
            fallbacks.append(f"{what} dependences by memory: {problem}")
            relation = with_budget(ISL_OPERATIONS, partial(_every_earlier, schedule, question))
        if relation is None:
            raise BudgetExceededError(f"the {what} dependences need more than {in_words(ISL_OPERATIONS)}",
                                      where=scop.name, hint="make the region smaller, or its subscripts simpler")
        for kind in kinds:
            pairs += _pairs(scop, kind, _from_reads_or_writes(relation, kind, reads))
    return mark_reductions(Dependences(scop=scop, pairs=tuple(pairs), value_based=value_based and not fallbacks,
                                       inputs=inputs, relaxed=tuple(r.statement for r in relaxed),
                                       fallbacks=tuple(fallbacks)))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Question:
    """What a dependence analysis is asked: which sources reach the sinks, and which hide others."""

    sink: isl.UnionMap
    must: isl.UnionMap = field(default_factory=lambda: union_map(()))
    may: isl.UnionMap = field(default_factory=lambda: union_map(()))


def _tagged(scop: Scop, kind: AccessKind, *, without: frozenset[str] = frozenset()) -> isl.UnionMap:
    """The tagged access relations of one kind within the context, except those of some references.

    Overlapping disjuncts (`i == 0 || i == n - 1` overlaps for n = 1) multiply inside isl's parametric
    programming: smooth_border needs gigabytes with them and milliseconds without.
    """
    relations = (a.tagged_relation.intersect_params(scop.context) for s in scop.statements for a in s.accesses
                 if _effect(a) is kind and a.reference not in without)
    return union_map(r if r.n_basic_map() == 1 else r.make_disjoint().coalesce() for r in relations)


def _from_reads_or_writes(relation: isl.UnionMap, kind: DependenceKind, reads: isl.UnionMap) -> isl.UnionMap:
    """Of what reaches the writes, the part that comes from reads (anti) or from other writes (output).

    One question asks for both: a write hides all accesses before it from the next write, reads and writes alike.
    """
    if kind is DependenceKind.ANTI:
        return relation.intersect_domain(reads.domain().universe())
    if kind is DependenceKind.OUTPUT:
        return relation.subtract_domain(reads.domain().universe())
    return relation


def _effect(access: Access) -> AccessKind:
    """A write whose relation is larger than what it reaches hides nothing, whatever its kind says."""
    if access.kind is AccessKind.MUST_WRITE and not access.exact:
        return AccessKind.MAY_WRITE
    return access.kind


def _value_based(schedule: isl.Schedule, question: _Question, operations: int) -> tuple[isl.UnionMap | None, str]:
    """The answer of isl's data-flow analysis, or why there is none.

    Its parametric programming ends with an error of its own ("affine expression involves some of the domain
    dimensions") for some strides: anti dependences of `for (i = m - 1; i >= 2; i -= 3) for (j = 2; j < n - i; j += 2)`.
    """
    try:
        relation = with_budget(operations, partial(_flow, schedule, question), seconds=FLOW_SECONDS)
    except isl.Error as error:
        return None, f"isl failed: {str(error).splitlines()[0]}"
    return relation, "" if relation is not None else f"isl ran out of {in_words(operations, FLOW_SECONDS)}"


def _flow(schedule: isl.Schedule, question: _Question) -> isl.UnionMap:
    """Pairs of a source and the sinks that it reaches; `must` sources hide what came before them."""
    access = isl.UnionAccessInfo.from_sink(question.sink).set_must_source(question.must).set_may_source(question.may)
    return access.set_schedule(schedule).compute_flow().get_may_dependence()


def _every_earlier(schedule: isl.Schedule, question: _Question) -> isl.UnionMap:
    """Every pair of a source and a later sink of one element: compositions only, no parametric programming."""
    order = schedule.get_map()
    source = question.must.union(question.may)
    touching = source.apply_range(question.sink.reverse())
    return touching.intersect(order.lex_lt_union_map(order))


def _access_schedule(scop: Scop) -> isl.Schedule:
    """The schedule as written over tagged instances, with the order inside an instance below every leaf."""
    # Over whole spaces: constraints here would multiply with those of the domains in every band.
    tagged = [isl.Map.universe(a.tagged_relation.domain().unwrap().get_space())
              for s in scop.statements for a in s.accesses]
    untag = isl.UnionPwMultiAff.from_union_map(union_map(t.domain_map() for t in tagged))
    schedule = scop.schedule.pullback_union_pw_multi_aff(untag)
    stages = isl.UnionPwAff.empty_ctx(isl.DEFAULT_CONTEXT)
    for statement in scop.statements:
        stage_of = access_stages(statement)
        for access in statement.accesses:
            domain = isl.UnionSet.from_set(isl.Set.universe(access.tagged_relation.domain().get_space()))
            value = isl.Val.int_from_si(isl.DEFAULT_CONTEXT, stage_of[access.reference])
            stages = stages.union_add(isl.UnionPwAff.val_on_domain(domain, value))
    if stages.n_pw_aff() == 0:
        return schedule
    return _insert_at_leaves(schedule.get_root(), isl.MultiUnionPwAff.from_union_pw_aff(stages)).get_schedule()


def _insert_at_leaves(node: isl.ScheduleNode, band: isl.MultiUnionPwAff) -> isl.ScheduleNode:
    if kind_of(node) == NodeKind.leaf:
        return node.insert_partial_schedule(band)
    for position in range(node.n_children()):
        node = _insert_at_leaves(node.child(position), band).parent()
    return node


def access_stages(statement: Statement) -> dict[str, int]:
    """When each access of one instance happens, relative to the others of the same instance.

    The k-th item of the body reads at stage 2k and writes at stage 2k+1.  What the body does not name, the
    subscripts' own loads, happens at the stage at which its access is evaluated.  An early stage for a read
    is always sound: it can only add a dependence on another instance.
    """
    stage = {a.reference: 1 if a.is_write else 0 for a in statement.accesses}
    for position, item in enumerate(statement.body):
        for reference in references((item,)):
            access = statement.access(reference)
            stage[reference] = 2 * position + (1 if access.is_write else 0)
            for inner in _subscript_loads(access):
                stage[inner] = 2 * position
    return stage


def _subscript_loads(access: Access) -> Iterator[str]:
    for subscript in access.subscripts:
        yield from (e.reference for e in walk(subscript) if isinstance(e, Load))


def _pairs(scop: Scop, kind: DependenceKind, relation: isl.UnionMap) -> Iterator[Dependence]:
    """Split a tagged relation into one Dependence per pair of references, in a fixed order."""
    place = {a.reference: (index, a.array, s.name)
             for index, (s, a) in enumerate((s, a) for s in scop.statements for a in s.accesses)}
    found = []
    maps = relation.get_map_list()
    for index in range(maps.n_map()):
        tagged = maps.get_at(index)
        source_reference, sink_reference = _reference(tagged.domain()), _reference(tagged.range())
        untagged = tagged.domain_factor_domain().range_factor_domain()
        _, array, source = place[source_reference]
        sink = place[sink_reference][2]
        if source == sink and not untagged.intersect(same := isl.Map.identity(untagged.get_space())).is_empty():
            untagged = untagged.subtract(same)
        if not untagged.is_empty():
            found.append(Dependence(kind=kind, array=array, source=source, sink=sink,
                                    source_reference=source_reference, sink_reference=sink_reference,
                                    relation=untagged))
    yield from sorted(found, key=lambda d: (place[d.source_reference][0], place[d.sink_reference][0]))


def _reference(tagged: isl.Set) -> str:
    return str(tagged.unwrap().get_tuple_name(isl.dim_type.out))


__all__ = ["access_stages", "analyse"]
