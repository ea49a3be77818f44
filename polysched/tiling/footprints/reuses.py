"""The reuses of a statement: directions in which its instances share values, for lower bounds as formulas.

Instances share a value along the kernel of an access whose elements hold one each, and along the distance of a
dependence that runs in a chain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.records import dataclass
from polysched.scheduling.solving.linear_algebra import null_space
from polysched.scop.body import unconditional_references
from polysched.scop.scop import Access, Statement
from polysched.tiling.footprints.leading_terms import at_sizes, degree_of, is_lower
from polysched.tiling.footprints.lower_bound import Rows
from polysched.tiling.limits import LIMITS


@dataclass(frozen=True, eq=False, kw_only=True)
class Reuse:
    """A direction in which instances share values.

    Parameters
    ----------
    name : the accesses, or the statements of a chain.
    kernel : a basis of the directions.
    values : per access the statement instances and array elements whose values it reads, or that a chain passes.
    readers : per access, its instances and the values that they read; none for a chain.
    """

    name: str
    kernel: Rows
    values: tuple[isl.UnionSet, ...]
    readers: tuple[isl.UnionMap, ...] = ()

    @property
    def all_values(self) -> isl.UnionSet:
        return union_of(self.values)


def reuses_of(dependences: Dependences, statement: Statement) -> list[Reuse]:
    return _merged([*_shared_values(dependences, statement), *_chains(dependences, statement)])


def certain_reads(statement: Statement) -> Iterator[Access]:
    """Reads of known elements that every instance does."""
    always = set(unconditional_references(statement.body))
    return (a for a in statement.reads if a.exact and a.reference in always)


def flows_of(dependences: Dependences) -> list[Dependence]:
    """The flow dependences into certain reads."""
    certain = {a.reference for s in dependences.scop.statements for a in certain_reads(s)}
    return [d for d in dependences.pairs if d.kind is DependenceKind.FLOW and d.sink_reference in certain]


def _shared_values(dependences: Dependences, statement: Statement) -> Iterator[Reuse]:
    """Reads of values that many instances read by one access; the kernel spans what is between these."""
    for access in certain_reads(statement):
        fresh, read, shared = statement.domain, isl.UnionMap("{ }"), None
        parts = [d.relation.reverse() for d in flows_of(dependences) if d.sink_reference == access.reference]
        for part in parts:
            fresh = fresh.subtract(part.domain())
        for part in (*parts, access.relation.intersect_domain(fresh)):
            read = read.union(isl.UnionMap.from_map(part))
            small = at_sizes(part)
            between = small.apply_range(small.reverse()).deltas()
            shared = between if shared is None else shared.union(between)
        kernel = span_of(shared, statement.depth) if shared is not None and not shared.is_empty() else ()
        if kernel and _is_lower(read.range(), degree_of(statement.domain)):
            yield Reuse(name=access.reference, kernel=kernel, values=(read.range(),), readers=(read,))


def _chains(dependences: Dependences, statement: Statement) -> Iterator[Reuse]:
    """Paths of dependences that lead to nearly every instance from another, which lies in the kernel's directions."""
    degree = degree_of(statement.domain)
    yield from _own_chains(dependences, statement, degree)
    flows: dict[str, list[Dependence]] = defaultdict(list)
    for pair in flows_of(dependences):
        if at_sizes(pair.relation).is_bijective():
            flows[pair.source].append(pair)
    for path in _cycles(flows, statement.name):
        relation = path[0].relation
        for pair in path[1:]:
            relation = relation.apply_range(pair.relation)
        for distance in _distances(at_sizes(relation)):
            at_distance = relation.intersect(_translation(relation.get_space(), distance))
            if any(distance) and is_lower(statement.domain.subtract(at_distance.range()), degree):
                yield Reuse(name=f"{' -> '.join(p.source for p in path)} by {distance}", kernel=(distance,),
                            values=(union_of(isl.UnionSet.from_set(p.relation.domain()) for p in path),))


def _own_chains(dependences: Dependences, statement: Statement, degree: int) -> Iterator[Reuse]:
    """What one access of a statement reads from the statement itself, as a sum over several loops does."""
    for access in certain_reads(statement):
        pairs = [d.relation for d in flows_of(dependences)
                 if d.source == statement.name and d.sink_reference == access.reference]
        if not pairs:
            continue
        relation = pairs[0]
        for other in pairs[1:]:
            relation = relation.union(other)
        small = at_sizes(relation)
        if small.is_bijective() and is_lower(statement.domain.subtract(relation.range()), degree):
            kernel = span_of(small.deltas().union(origin(small)), statement.depth)
            if kernel and len(kernel) < statement.depth:
                yield Reuse(name=f"{access.reference} from {statement.name}", kernel=kernel,
                            values=(isl.UnionSet.from_set(relation.domain()),))


def origin(relation: isl.Map) -> isl.Set:
    """No distance, so that the hull of distances is a space."""
    return isl.Set.from_basic_set(isl.BasicSet.from_point(isl.Point.zero(relation.deltas().get_space())))


def _cycles(flows: Mapping[str, Sequence[Dependence]], start: str) -> Iterator[tuple[Dependence, ...]]:
    """Paths from a statement to itself over different others."""
    paths: list[tuple[Dependence, ...]] = [(pair,) for pair in flows.get(start, ())]
    for _ in range(LIMITS.longest_chain):
        yield from (p for p in paths if p[-1].sink == start)
        paths = [(*p, pair) for p in paths if p[-1].sink != start
                 for pair in flows.get(p[-1].sink, ()) if pair.sink not in {q.sink for q in p}]


def _distances(relation: isl.Map) -> list[tuple[int, ...]]:
    """The distances of the parts of a relation that have one each."""
    found = []
    for basic in relation.get_basic_maps():
        deltas = isl.Map.from_basic_map(basic).deltas()
        if deltas.is_singleton():
            point = deltas.sample_point()
            found.append(tuple(int(point.get_coordinate_val(isl.dim_type.set, d).to_python())
                               for d in range(deltas.dim(isl.dim_type.set))))
    return list(dict.fromkeys(found))


def _translation(space: isl.Space, distance: Sequence[int]) -> isl.Map:
    """Every instance to the one at a distance."""
    result = isl.BasicMap.universe(space)
    for at, by in enumerate(distance):
        constraint = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(space))
        constraint = constraint.set_coefficient_val(isl.dim_type.in_, at, 1)
        constraint = constraint.set_coefficient_val(isl.dim_type.out, at, -1)
        result = result.add_constraint(constraint.set_constant_val(by))
    return isl.Map.from_basic_map(result)


def span_of(deltas: isl.Set, depth: int) -> Rows:
    """A basis of the directions that a set of differences spans."""
    order = (isl.dim_type.set, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst)
    matrix = deltas.affine_hull().remove_divs().equalities_matrix(*order)
    rows = tuple(tuple(int(matrix.get_element_val(r, c).to_python()) for c in range(depth))
                 for r in range(matrix.rows()))
    return null_space(rows, depth)


def _merged(reuses: Iterable[Reuse]) -> list[Reuse]:
    """One of each kernel, chains after accesses: instances that agree along it read values of all of them."""
    seen: dict[Rows, Reuse] = {}
    for reuse in reuses:
        direction = tuple(tuple(v if next(filter(None, row)) > 0 else -v for v in row) for row in reuse.kernel)
        first = seen.get(direction)
        if first is None or bool(first.readers) is bool(reuse.readers):
            seen[direction] = reuse if first is None else Reuse(
                name=f"{first.name}, {reuse.name}", kernel=first.kernel, values=(*first.values, *reuse.values),
                readers=(*first.readers, *reuse.readers))
    return list(seen.values())


def separate(values: Sequence[isl.UnionSet]) -> int:
    """How many of these sets share no value: so many are read at each point of a projection."""
    apart: list[isl.UnionSet] = []
    for own in values:
        if all(share_nothing(own, other) for other in apart):
            apart.append(own)
    return len(apart)


def share_values(left: Reuse, right: Reuse, degree: int) -> bool:
    """Whether nearly all instances cannot be kept apart by the values that they read.

    The values of a chain and those that several instances read differ for all instances but a lower number.
    """
    if bool(left.readers) != bool(right.readers):
        return False
    common = left.all_values.intersect(right.all_values)
    if common.is_empty() or not left.readers:
        return not common.is_empty()
    both = [union_of(m.intersect_range(common).domain() for m in r.readers) for r in (left, right)]
    return not any(_is_lower(readers, degree) for readers in both)


def _is_lower(readers: isl.UnionSet, degree: int) -> bool:
    sets = readers.get_set_list()
    return all(is_lower(sets.get_at(at), degree) for at in range(sets.n_set()))


def share_nothing(left: isl.UnionSet, right: isl.UnionSet) -> bool:
    return left.intersect(right).is_empty()


def union_of(sets: Iterable[isl.UnionSet]) -> isl.UnionSet:
    result = isl.UnionSet("{ }")
    for part in sets:
        result = result.union(part)
    return result
