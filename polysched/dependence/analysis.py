"""Exact dependence analysis by isl's array data-flow analysis.

Every access is tagged with its reference, so that isl returns one relation per pair of references.
Inside one statement instance the accesses run in the order of the body: the reads of an assignment
before its write.  That order is appended to the schedule as written, and pairs that lie in one instance
are dropped at the end, since no schedule separates them.

Source: Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991; Verdoolaege,
"Presburger Formulas and Polyhedral Compilation", sections 6.3 and 6.4 (tagged access relations).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from itertools import chain

import islpy as isl

from polysched.dependence.access_order import access_schedule
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.flow_check import is_risky, mended
from polysched.dependence.limits import LIMITS
from polysched.dependence.reductions import Reduction, find_reductions, mark_reductions
from polysched.dependence.unchanged_arrays import unchanged_arrays, uses_of_arrays
from polysched.errors import BudgetExceededError, UsageError
from polysched.records import dataclass
from polysched.scop.budget import ISL_OPERATIONS, in_words, seconds_left, with_budget
from polysched.scop.construction.rows_in_order import in_one_row
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_map

REDUCTIONS = ("keep", "exact", "reassociate")

FLOW_SECONDS = LIMITS.flow_seconds
LEAST_SECONDS = LIMITS.flow_least_seconds
FLOW_SHARE = LIMITS.flow_share
LEAST_SHARE = LIMITS.flow_least_share


def analyse(scop: Scop, *, value_based: bool = True, inputs: bool = False, reductions: str = "keep",
            isl_operations: int = ISL_OPERATIONS, known: Dependences | None = None) -> Dependences:
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
    known : dependences of a program that this one was made from: what concerns arrays of which nothing was changed is
        taken from there.

    Raises
    ------
    UsageError : no such treatment of reductions.
    BudgetExceededError : even memory-based dependences do not fit the budget.

    Source: Feautrier 1991; the anti dependences are those of Bondhugula et al., "lastwriter" in Pluto.
    """
    relaxed = _relaxed(scop, reductions)
    before = _known(known, scop, inputs=inputs) if value_based and not relaxed else _Known()
    arrays = {array: _instances(uses) for array, uses in uses_of_arrays(scop).items() if array not in before.arrays}
    schedule = access_schedule(scop)
    wanted = _questions(scop, relaxed, value_based=value_based, inputs=inputs)
    reads = wanted[(DependenceKind.FLOW,)].sink
    pairs: list[Dependence] = []
    by_memory, fallbacks = dict.fromkeys(before.by_memory, ""), list(before.fallbacks)
    for kinds, question in wanted.items():
        what = " and ".join(kind.value for kind in kinds)
        relation, given_up = _answer(schedule, arrays, question, isl_operations, frozenset(by_memory))
        for array, problem in given_up.items():
            by_memory[array] = by_memory.get(array) or problem
            fallbacks.append(f"{what} dependences of `{array}` by memory: {by_memory[array]}")
        if relation is None:
            raise BudgetExceededError(f"the {what} dependences need more than {in_words(ISL_OPERATIONS)}",
                                      where=scop.name, witness=_counts(scop),
                                      hint="make the region smaller, or its subscripts simpler")
        pairs += chain.from_iterable(_in_order(scop, chain(
            _pairs(scop, kind, _from_reads_or_writes(relation, kind, reads)), before.of_kind(kind))) for kind in kinds)
    return mark_reductions(Dependences(scop=scop, pairs=tuple(pairs), value_based=value_based and not by_memory,
                                       inputs=inputs, relaxed=tuple(r.statement for r in relaxed),
                                       fallbacks=tuple(fallbacks), by_memory=tuple(by_memory)))


def _counts(scop: Scop) -> str:
    """How many statements a region has, and how many arrays and scalars these access."""
    used = set(uses_of_arrays(scop))
    scalars = sum(array.is_scalar for array in scop.arrays if array.name in used)
    counts = ((len(scop.statements), "statement"), (len(used) - scalars, "array"), (scalars, "scalar"))
    statements, arrays, elements = (f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts)
    return f"{statements} with {arrays} and {elements}"


def _relaxed(scop: Scop, treatment: str) -> tuple[Reduction, ...]:
    """The reductions whose updates may come in any order."""
    if treatment not in REDUCTIONS:
        raise UsageError(f"no treatment of reductions {treatment!r}", hint=f"one of {', '.join(REDUCTIONS)}")
    if treatment == "keep":
        return ()
    return tuple(r for r in find_reductions(scop) if r.any_order and (r.exact or treatment == "reassociate"))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Known:
    """What an earlier analysis says of arrays of which nothing was changed.

    Parameters
    ----------
    arrays, pairs : these arrays, and their dependences.
    by_memory, fallbacks : those of them that were analysed by memory, and the lines that say why.
    """

    arrays: frozenset[str] = frozenset()
    pairs: tuple[Dependence, ...] = ()
    by_memory: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()

    def of_kind(self, kind: DependenceKind) -> Iterator[Dependence]:
        return (p for p in self.pairs if p.kind is kind)


def _known(known: Dependences | None, scop: Scop, *, inputs: bool) -> _Known:
    """What can be taken from dependences that were asked for in the same way; nothing from others."""
    if known is None or not (known.value_based or known.by_memory) or known.inputs != inputs or known.relaxed:
        return _Known()
    same = unchanged_arrays(known.scop, scop)
    by_memory = tuple(array for array in known.by_memory if array in same)
    return _Known(arrays=same, by_memory=by_memory,
                  pairs=tuple(replace(p, reduction=False) if p.reduction else p for p in known.pairs
                              if p.array in same),
                  fallbacks=tuple(line for line in known.fallbacks if any(f"`{a}`" in line for a in by_memory)))


def _questions(scop: Scop, relaxed: Iterable[Reduction], *, value_based: bool, inputs: bool
               ) -> dict[tuple[DependenceKind, ...], _Question]:
    """What isl is asked for each kind of dependence, one question for anti and output dependences together."""
    updates = frozenset(write for r in relaxed for part in r.accumulators for write in (part.write, *part.also))
    reads = _tagged(scop, AccessKind.READ)
    all_must = _tagged(scop, AccessKind.MUST_WRITE)
    must = _tagged(scop, AccessKind.MUST_WRITE, without=updates)
    may = _tagged(scop, AccessKind.MAY_WRITE).union(all_must.subtract(must))
    writes = must.union(may)
    last, other = (must, may) if value_based else (union_map(()), writes)
    wanted = {
        (DependenceKind.FLOW,): _Question(sink=reads, must=last, may=other),
        (DependenceKind.ANTI, DependenceKind.OUTPUT): _Question(sink=writes, must=last, may=other.union(reads))}
    return wanted | ({(DependenceKind.INPUT,): _Question(sink=reads, must=reads)} if inputs else {})


def _answer(schedule: isl.Schedule, arrays: Mapping[str, isl.UnionSet], question: _Question, operations: int,
            by_memory: frozenset[str]) -> tuple[isl.UnionMap | None, dict[str, str]]:
    """The dependences of all arrays, and of which of them they are by memory, with the reason.

    What cannot be analysed exactly for flow dependences is not tried again for the others.  The analysis leaves most of
    a budget around to what is by memory, and to the stages behind it.

    Parameters
    ----------
    by_memory : arrays for which that is known.
    """
    given_up: dict[str, str] = {}
    found: isl.UnionMap | None = union_map(())
    left = min(FLOW_SECONDS, FLOW_SHARE * seconds_left())
    for array, instances in arrays.items():
        if array in by_memory:
            continue
        started = time.thread_time()
        least = min(LEAST_SECONDS, LEAST_SHARE * seconds_left())
        relation, problem = _value_based(schedule, instances, question, operations, max(left, least))
        left -= time.thread_time() - started
        if relation is None:
            given_up[array] = problem
        elif found is not None:
            found = found.union(relation)
    given_up |= dict.fromkeys(by_memory & arrays.keys(), "")
    for array in given_up:
        rest = with_budget(ISL_OPERATIONS, partial(_of_array, _every_earlier, schedule, arrays[array], question))
        found = None if rest is None or found is None else found.union(rest)
    return found, given_up


@dataclass(frozen=True, eq=False, kw_only=True)
class _Question:
    """What a dependence analysis is asked: which sources reach the sinks, and which hide others."""

    sink: isl.UnionMap
    must: isl.UnionMap = field(default_factory=lambda: union_map(()))
    may: isl.UnionMap = field(default_factory=lambda: union_map(()))

    def of(self, instances: isl.UnionSet) -> _Question:
        """The question for some tagged instances alone."""
        return _Question(sink=self.sink.intersect_domain(instances), must=self.must.intersect_domain(instances),
                         may=self.may.intersect_domain(instances))


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


Relate = Callable[[isl.Schedule, "_Question"], isl.UnionMap]


def _instances(uses: Iterable[tuple[Statement, Access]]) -> isl.UnionSet:
    """The tagged instances of some accesses, without any constraint on them."""
    instances = isl.UnionSet.empty_ctx(isl.DEFAULT_CONTEXT)
    for _, access in uses:
        space = access.tagged_relation.domain().get_space()
        instances = instances.union(isl.UnionSet.from_set(isl.Set.universe(space)))
    return instances


def _value_based(schedule: isl.Schedule, instances: isl.UnionSet, question: _Question, operations: int,
                 seconds: float) -> tuple[isl.UnionMap | None, str]:
    """The answer of isl's data-flow analysis, or why there is none.

    Its parametric programming ends with an error of its own ("affine expression involves some of the domain
    dimensions") for some strides: anti dependences of `for (i = m - 1; i >= 2; i -= 3) for (j = 2; j < n - i; j += 2)`.
    """
    try:
        relation = with_budget(operations, partial(_of_array, _flow, schedule, instances, question), seconds=seconds)
        if relation is None:
            return None, f"isl ran out of {in_words(operations, seconds)}"
        checked = with_budget(operations, partial(_checked, schedule, instances, question, relation), seconds=seconds)
    except isl.Error as error:
        return None, f"isl failed: {str(error).splitlines()[0]}"
    if checked is None:
        return None, f"isl's answer could not be checked within {in_words(operations, seconds)}"
    return checked, ""


def _checked(schedule: isl.Schedule, instances: isl.UnionSet, question: _Question,
             answer: isl.UnionMap) -> isl.UnionMap:
    """The answer, mended where isl lost a pair; accesses are looked at for which it may."""
    own = question.of(instances)
    if not is_risky(own.sink, own.must, own.may):
        return answer
    return mended(schedule.intersect_domain(instances), sink=own.sink, must=own.must, may=own.may, answer=answer)


def _of_array(relate: Relate, schedule: isl.Schedule, instances: isl.UnionSet, question: _Question) -> isl.UnionMap:
    """The answer for one array: accesses to others only make the order longer in which isl looks."""
    return relate(schedule.intersect_domain(instances), question.of(instances))


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


def _pairs(scop: Scop, kind: DependenceKind, relation: isl.UnionMap) -> Iterator[Dependence]:
    """Split a tagged relation into one Dependence per pair of references."""
    place = {a.reference: (a.array, s.name) for s in scop.statements for a in s.accesses}
    maps, rows = relation.get_map_list(), in_one_row(scop)
    for index in range(maps.n_map()):
        tagged = maps.get_at(index)
        source_reference, sink_reference = _reference(tagged.domain()), _reference(tagged.range())
        untagged = tagged.domain_factor_domain().range_factor_domain()
        array, source = place[source_reference]
        sink = place[sink_reference][1]
        if source_reference in rows and sink_reference in rows:
            untagged = untagged.intersect(rows[source_reference].apply_range(rows[sink_reference].reverse()))
        if source == sink and not untagged.intersect(same := isl.Map.identity(untagged.get_space())).is_empty():
            untagged = untagged.subtract(same)
        if not untagged.is_empty():
            yield Dependence(kind=kind, array=array, source=source, sink=sink, source_reference=source_reference,
                             sink_reference=sink_reference, relation=untagged)


def _in_order(scop: Scop, pairs: Iterable[Dependence]) -> list[Dependence]:
    """Dependences in the textual order of their references."""
    place = {a.reference: at for at, a in enumerate(a for s in scop.statements for a in s.accesses)}
    return sorted(pairs, key=lambda p: (place[p.source_reference], place[p.sink_reference]))


def _reference(tagged: isl.Set) -> str:
    return str(tagged.unwrap().get_tuple_name(isl.dim_type.out))


__all__ = ["analyse"]
