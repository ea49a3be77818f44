"""Whether a changed program computes the same values: every read has the same source as before.

If each instance of the new program stands for one of the old (its trailing iterators), runs the same body,
and each of its reads is served by an instance that stands for the old source (or by the live-in value where
it was before), then by induction over the order all values are equal.  Arrays that live on after the
region must still have every element written by the last writer it had.  A new statement may only copy
one element: what it writes counts as written by the instance whose value it reads.
"""

from __future__ import annotations

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.unchanged_arrays import unchanged_arrays
from polysched.errors import IllegalScheduleError
from polysched.scop.body import Assign, Load
from polysched.scop.scop import Access, AccessKind, Scop, union_map


def check_same_values(before: Dependences, after: Dependences) -> None:
    """Compare the value-based flow dependences of two programs, reference by reference.

    Nothing is asked about arrays of which no access and no order was changed.

    Raises
    ------
    IllegalScheduleError : a read gets its value from another instance; the witness is the read.  Or the dependences of
        the program before are memory-based: they do not tell which of several writes a read got its value from.
    """
    known = {s.name for s in before.scop.statements}
    same = unchanged_arrays(before.scop, after.scop)
    for statement in after.scop.statements:
        for access in statement.reads if statement.name in known else ():
            if access.array not in same:
                _check_read(before, after, access)
    for array in after.scop.arrays:
        if not array.is_temporary and array.name not in same:
            _check_last_writers(before, after, array.name)


def _refuse_memory_based(before: Dependences, access: Access, sources: isl.UnionMap) -> None:
    if not before.value_based and not sources.is_empty():
        raise IllegalScheduleError(f"memory-based dependences do not tell which value of {access.array!r} "
                                   f"{access.reference} reads", where=before.scop.name,
                                   hint="steps that change the program need value-based dependences")


def _check_read(before: Dependences, after: Dependences, access: Access) -> None:
    old, new = _sources(before, access.reference), _sources(after, access.reference)
    _refuse_memory_based(before, access, old)
    projection = _projection(before.scop, after.scop)
    projected = new.apply_domain(projection).apply_range(projection)
    if not projected.is_subset(old):
        pair = projected.subtract(old).sample()
        raise IllegalScheduleError(f"{access.reference} would read another value of {access.array!r}",
                                   witness=f"its value would come from {pair.to_str()}")
    expected = projection.intersect_range(old.range()).domain()
    instances = isl.UnionSet.from_set(access.relation.domain()).intersect_params(after.scop.context)
    unserved = expected.intersect(instances).subtract(new.range())
    if not unserved.is_empty():
        raise IllegalScheduleError(
            f"{access.array!r} carries a value to {access.reference} that the step would lose",
            witness=f"{access.reference} reads it at {unserved.sample_point().to_str()}",
            hint="the value must be computed inside the same iteration of the chosen loop")


def _sources(dependences: Dependences, reference: str) -> isl.UnionMap:
    return union_map(d.relation for d in dependences.pairs
                     if d.kind is DependenceKind.FLOW and d.sink_reference == reference)


def _projection(before: Scop, after: Scop) -> isl.UnionMap:
    """New instances to the old ones they stand for: the trailing iterators."""
    maps, known = [], {s.name for s in before.statements}
    for statement in (s for s in after.statements if s.name in known):
        depth = before.statement(statement.name).depth
        extra = statement.depth - depth
        relation = isl.Map.identity(statement.domain.get_space().map_from_set()).intersect_domain(statement.domain)
        relation = relation.project_out(isl.dim_type.out, 0, extra) if extra else relation
        maps.append(relation.set_tuple_name(isl.dim_type.out, statement.name))
    return union_map(maps)


def _check_last_writers(before: Dependences, after: Dependences, array: str) -> None:
    old = last_writers(before.scop, array)
    projection = _projection(before.scop, after.scop)
    new = last_writers(after.scop, array).apply_range(_copied_from(before.scop, after).union(projection))
    if not (new.is_subset(old) and old.is_subset(new)):
        different = old.subtract(new).union(new.subtract(old))
        raise IllegalScheduleError(f"{array!r} would have another value after the region",
                                   witness=f"element and last writer {different.sample().to_str()}",
                                   hint="every element that may be read later must be written in the end as before")


def _copied_from(before: Scop, after: Dependences) -> isl.UnionMap:
    """Instances of new statements to the old ones that computed what they copy.

    Raises
    ------
    IllegalScheduleError : a new statement does more than copy.
    """
    known = {s.name for s in before.statements}
    copies = [s for s in after.scop.statements if s.name not in known]
    for statement in copies:
        item = statement.body[0]
        if len(statement.body) > 1 or not isinstance(item, Assign) or not isinstance(item.value, Load) or item.op:
            raise IllegalScheduleError(f"the new statement {statement.name} is no copy", where=before.name)
    sources = union_map(p.relation for s in copies for a in s.reads for p in after.pairs
                        if p.kind is DependenceKind.FLOW and p.sink_reference == a.reference)
    return sources.reverse().apply_range(_projection(before, after.scop))


def last_writers(scop: Scop, array: str) -> isl.UnionMap:
    """Elements of an array to the instance that writes them last, for must-writes; may-writes keep all."""
    order = scop.schedule.get_map()
    writes = [a for s in scop.statements for a in s.writes if a.array == array]
    must = union_map(a.relation.intersect_params(scop.context) for a in writes if a.kind is AccessKind.MUST_WRITE)
    may = union_map(a.relation.intersect_params(scop.context) for a in writes if a.kind is AccessKind.MAY_WRITE)
    last = must.reverse().apply_range(order).lexmax().apply_range(order.reverse())
    return last.intersect(must.reverse()).union(may.reverse())
