"""What one rank sends to another: exactly the elements whose values it computes and the other reads.

Every value goes once to every rank that reads it, at the end of the step that computes it, or of its time tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.distribute.owners import Partition
from polysched.distribute.shares import Shares
from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.scop import Access, AccessKind, Scop, Statement


@dataclass(frozen=True, eq=False, kw_only=True)
class Message:
    """The elements of one array that a rank sends to another at the end of a step.

    Parameters
    ----------
    array : its name.
    elements : `[n, polysched_step0, polysched_first, polysched_end, polysched_to_first, polysched_to_end] -> { A[e] }`,
        for the rank that owns `polysched_first <= a < polysched_end` and another; or of the ranks `polysched_rank` and
        `polysched_to_rank`.
    dependences : the flow dependences that ask for them.
    """

    array: str
    elements: isl.Set
    dependences: tuple[Dependence, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Gathered:
    """The elements of one array that a rank wrote last: what the others lack when the region ends.

    Parameters
    ----------
    elements : `[n, polysched_first, polysched_end] -> { A[e] }`, or of `polysched_rank`.
    """

    array: str
    elements: isl.Set


def messages_of(dependences: Dependences, shares: Shares) -> tuple[Message, ...]:
    """One message per array whose values pass between ranks."""
    scop, partition = dependences.scop, shares.partition
    found: dict[str, list[tuple[isl.Set, Dependence]]] = {}
    for pair in dependences.pairs:
        if pair.kind is not DependenceKind.FLOW:
            continue
        source = scop.statement(pair.source)
        elements = source.access(pair.source_reference).relation.intersect_domain(passed(scop, pair, shares)).range()
        elements = elements.intersect_params(apart(partition)).intersect_params(scop.context)
        if not elements.is_empty() and (shares.tile.steps > 1 or _crosses(pair, shares.owners)):
            found.setdefault(pair.array, []).append((elements, pair))
    return tuple(Message(array=array, elements=_union(e for e, _ in parts), dependences=tuple(d for _, d in parts))
                 for array, parts in found.items())


def passed(scop: Scop, pair: Dependence, shares: Shares) -> isl.Set:
    """The instances of a rank in a step whose values another rank reads, and does not compute itself."""
    partition = shares.partition
    source, sink = scop.statement(pair.source), scop.statement(pair.sink)
    readers = shares.executed(sink, partition.other_names)
    sources = pair.relation.intersect_range(readers).domain()
    if shares.tile.steps > 1:
        sources = sources.subtract(shares.executed(source, partition.other_names))
    sources = sources.intersect(shares.owned(source, partition.own_names))
    return sources.intersect(shares.in_step(source)) if shares.steps else sources


def _crosses(pair: Dependence, owners: Mapping[str, isl.Map]) -> bool:
    same = owners[pair.source].apply_range(owners[pair.sink].reverse())
    return not pair.relation.is_subset(same)


def apart(partition: Partition) -> isl.Set:
    """Parameters that describe two different ranks."""
    names = (*partition.own_names, *partition.other_names)
    if partition.kind == "block":
        first, end, to_first, to_end = names
        text = f"{to_first} >= {end} or {to_end} <= {first}"
    else:
        text = f"{names[0]} != {names[1]}"
    return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{', '.join(names)}] -> {{ : {text} }}")


def gathered(dependences: Dependences, shares: Shares) -> tuple[Gathered, ...]:
    """Per array that lives on, what each rank wrote last."""
    scop = dependences.scop
    found: dict[str, list[isl.Set]] = {}
    for statement in scop.statements:
        for access in statement.writes:
            if scop.array(access.array).is_temporary:
                continue
            last = shares.owned(statement, shares.partition.own_names)
            for pair in dependences.pairs:
                if pair.kind is DependenceKind.OUTPUT and pair.source_reference == access.reference:
                    last = last.subtract(pair.relation.domain())
            elements = access.relation.intersect_domain(last).range().intersect_params(scop.context)
            if not elements.is_empty():
                found.setdefault(access.array, []).append(elements)
    return tuple(Gathered(array=array, elements=_union(parts)) for array, parts in found.items())


def _union(sets: Iterable[isl.Set]) -> isl.Set:
    first, *others = sets
    for other in others:
        first = first.union(other)
    return first.coalesce()


OTHERWISE = "_otherwise"
"""Behind the reference of a write on a condition: that of the read of what is written otherwise, which was there."""


def with_own_writes(scop: Scop) -> Scop:
    """The program whose writes `with_whole_writes` made whole, with those on conditions again as they are.

    What a condition leaves alone is not to be written by the code of a rank, either.
    """
    return replace(scop, statements=tuple(map(_with_own_writes, scop.statements)))


def _with_own_writes(statement: Statement) -> Statement:
    read = {access.reference for access in statement.accesses}
    own = (replace(access, kind=AccessKind.MAY_WRITE) if access.reference + OTHERWISE in read else access
           for access in statement.accesses if not access.reference.endswith(OTHERWISE))
    return replace(statement, accesses=tuple(own))


def left_alone(scop: Scop) -> frozenset[str]:
    """The arrays of which conditions on data may leave elements alone that are sent in any case."""
    return frozenset(access.array for statement in scop.statements for access in statement.accesses
                     if access.reference.endswith(OTHERWISE))


def with_whole_writes(scop: Scop) -> Scop:
    """The program with every write that happens on a condition as one that always happens, of the old value or the new.

    So a rank that may write an element has it first, and what it sends is right either way.

    Raises
    ------
    UnsupportedScopError : a subscript of a write is read from an array.
    """
    statements = []
    for statement in scop.statements:
        accesses: list[Access] = []
        for access in statement.accesses:
            if not access.is_write or (access.exact and access.kind is AccessKind.MUST_WRITE):
                accesses.append(access)
                continue
            if not access.exact or not access.relation.is_single_valued():
                raise UnsupportedScopError(
                    f"{statement.name} writes {access.array} at a subscript that only the running program knows",
                    where=scop.name, hint="loops with subscripts from arrays cannot be distributed")
            accesses += [replace(access, kind=AccessKind.READ, reference=f"{access.reference}{OTHERWISE}"),
                         replace(access, kind=AccessKind.MUST_WRITE)]
        statements.append(replace(statement, accesses=tuple(accesses)))
    return replace(scop, statements=tuple(statements))
