"""What any order of a program must move into S elements of fast memory, as a formula in its sizes and S.

The instances of a statement project along each of its reuses: along the kernel of an access whose elements hold one
value each, and along the distance of a dependence that runs in a chain.  A segment of the execution that moves
K - S elements reaches at most K values, and each projection has at most as many points as values of its group; groups
of values that share none divide K.  The discrete Brascamp-Lieb inequality then bounds the instances of a segment.

These are leading terms, for sizes that are large beside S.  No value is computed twice.  Values that another
statement makes count as inputs, which changes the bound by their number alone, a lower term.

Source: A. Olivry, J. Langou, L.-N. Pouchet, P. Sadayappan, F. Rastello, "Automated Derivation of Parametric Data
Movement Lower Bounds for Affine Programs", PLDI 2020, sections 4 and 5; V. Elango, F. Rastello, L.-N. Pouchet,
J. Ramanujam, P. Sadayappan, "On Characterizing the Data Movement Complexity of Computational DAGs for Parallel
Execution", SPAA 2014, theorem 2 (sums over parts that share no values).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.solving.linear_algebra import null_space, rank
from polysched.scop.body import unconditional_references
from polysched.scop.scop import Access, AccessKind, Scop, Statement
from polysched.tiling.footprints.leading_terms import at_sizes, degree_of, is_lower, leading_term
from polysched.tiling.footprints.lower_bound import Rows, weights_of
from polysched.tiling.limits import LIMITS

if TYPE_CHECKING:
    import sympy


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
        return _union(self.values)


@dataclass(frozen=True, eq=False, kw_only=True)
class StatementBound:
    """What one statement forces.

    Parameters
    ----------
    statement : its name.
    formula : elements, a leading term.
    exponent : a segment that moves S elements holds at most about S^exponent instances.
    reuses : what the bound was derived from.
    """

    statement: str
    formula: sympy.Expr
    exponent: Fraction
    reuses: tuple[Reuse, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundFormula:
    """The bound of a program, in elements.

    Parameters
    ----------
    compulsory : the elements that are read before anything writes them.
    reuse : what the limited capacity forces; 0 where it forces nothing.
    statements : the statements whose bounds were added up.
    """

    compulsory: sympy.Expr
    reuse: sympy.Expr
    statements: tuple[StatementBound, ...]

    @property
    def leading(self) -> sympy.Expr:
        """The larger of both, for sizes that are large beside S."""
        return max((self.reuse, self.compulsory), key=_size_of)

    def __repr__(self) -> str:
        return f"<BoundFormula {self.leading}>"


def bound_formula(dependences: Dependences) -> BoundFormula:
    """The bound of a whole program; see the head of this file.

    Raises
    ------
    UsageError : the dependences are not value-based, a write is not certain, or a set's size is no polynomial in the
        sizes.
    """
    import sympy  # half a second, for formulas alone

    if not dependences.value_based or dependences.fallbacks:
        raise UsageError("the bound needs exact, value-based dependences", witness="; ".join(dependences.fallbacks),
                         hint="analyse(scop), with value_based=True")
    require_certain_writes(dependences.scop)
    found = [b for s in dependences.scop.statements if (b := _of_statement(dependences, s)) is not None]
    taken: list[StatementBound] = []
    for bound in sorted(found, key=lambda b: _size_of(b.formula), reverse=True):
        values = _union(r.all_values for r in bound.reuses)
        if all(_apart(values, _union(r.all_values for r in other.reuses)) for other in taken):
            taken.append(bound)
    return BoundFormula(compulsory=_compulsory(dependences), statements=tuple(taken),
                        reuse=_dominant(sympy.Add(*(b.formula for b in taken))))


def require_certain_writes(scop: Scop) -> None:
    """Refuse a program of which some write may not happen, or may go elsewhere: no read's source is known then."""
    for statement in scop.statements:
        for access in statement.writes:
            if access.kind is not AccessKind.MUST_WRITE or not access.exact:
                raise UsageError("the bound needs writes that are certain",
                                 witness=f"{access.reference} of {access.array} depends on data",
                                 hint="conditions on sizes and iterators only")


def _certain_reads(statement: Statement) -> Iterator[Access]:
    """Reads of known elements that every instance does."""
    always = set(unconditional_references(statement.body))
    return (a for a in statement.reads if a.exact and a.reference in always)


def _flows(dependences: Dependences) -> list[Dependence]:
    """The flow dependences into certain reads."""
    certain = {a.reference for s in dependences.scop.statements for a in _certain_reads(s)}
    return [d for d in dependences.pairs if d.kind is DependenceKind.FLOW and d.sink_reference in certain]


def _of_statement(dependences: Dependences, statement: Statement) -> StatementBound | None:
    """The bound by one statement alone; None where capacity forces nothing."""
    import sympy

    found = _merged([*_shared_values(dependences, statement), *_chains(dependences, statement)])
    reuses, weights = _weighted(found, statement.depth)
    total = sum(weights, Fraction(0))
    if total <= 1:
        return None
    held = sympy.Integer(1)
    for group in _groups([(r, w) for r, w in zip(reuses, weights, strict=True) if w], degree_of(statement.domain)):
        share = sympy.Rational(sum(w for _, w in group))
        held *= (share / (sympy.Rational(total) - 1)) ** share
        for reuse, weight in group:
            held /= sympy.Integer(_separate(reuse.values)) ** sympy.Rational(weight)
    constant = 1 / (sympy.Rational(total) - 1) / held
    size = sympy.Symbol("S", positive=True)
    formula = constant * leading_term(statement.domain) * size ** (1 - sympy.Rational(total))
    return StatementBound(statement=statement.name, formula=sympy.simplify(formula), exponent=total,
                          reuses=tuple(r for r, w in zip(reuses, weights, strict=True) if w))


def _weighted(reuses: Sequence[Reuse], depth: int) -> tuple[tuple[Reuse, ...], tuple[Fraction, ...]]:
    """Reuses and the weights of their projections; none where no weights are known."""
    few = _few(reuses, depth)
    for some in (few, few[:depth]):
        weights = weights_of([r.kernel for r in some], depth)
        if some and len(weights) == len(some):
            return some, tuple(Fraction(w).limit_denominator(LIMITS.largest_weight_denominator) for w in weights)
    return (), ()


def _shared_values(dependences: Dependences, statement: Statement) -> Iterator[Reuse]:
    """Reads of values that many instances read by one access; the kernel spans what is between these."""
    for access in _certain_reads(statement):
        fresh, read, shared = statement.domain, isl.UnionMap("{ }"), None
        parts = [d.relation.reverse() for d in _flows(dependences) if d.sink_reference == access.reference]
        for part in parts:
            fresh = fresh.subtract(part.domain())
        for part in (*parts, access.relation.intersect_domain(fresh)):
            read = read.union(isl.UnionMap.from_map(part))
            small = at_sizes(part)
            between = small.apply_range(small.reverse()).deltas()
            shared = between if shared is None else shared.union(between)
        kernel = _span(shared, statement.depth) if shared is not None and not shared.is_empty() else ()
        if kernel and _is_lower(read.range(), degree_of(statement.domain)):
            yield Reuse(name=access.reference, kernel=kernel, values=(read.range(),), readers=(read,))


def _chains(dependences: Dependences, statement: Statement) -> Iterator[Reuse]:
    """Paths of dependences that lead to nearly every instance from another, which lies in the kernel's directions."""
    degree = degree_of(statement.domain)
    yield from _own_chains(dependences, statement, degree)
    flows: dict[str, list[Dependence]] = defaultdict(list)
    for pair in _flows(dependences):
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
                            values=(_union(isl.UnionSet.from_set(p.relation.domain()) for p in path),))


def _own_chains(dependences: Dependences, statement: Statement, degree: int) -> Iterator[Reuse]:
    """What one access of a statement reads from the statement itself, as a sum over several loops does."""
    for access in _certain_reads(statement):
        pairs = [d.relation for d in _flows(dependences)
                 if d.source == statement.name and d.sink_reference == access.reference]
        if not pairs:
            continue
        relation = pairs[0]
        for other in pairs[1:]:
            relation = relation.union(other)
        small = at_sizes(relation)
        if small.is_bijective() and is_lower(statement.domain.subtract(relation.range()), degree):
            kernel = _span(small.deltas().union(_origin(small)), statement.depth)
            if kernel and len(kernel) < statement.depth:
                yield Reuse(name=f"{access.reference} from {statement.name}", kernel=kernel,
                            values=(isl.UnionSet.from_set(relation.domain()),))


def _origin(relation: isl.Map) -> isl.Set:
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


def _span(deltas: isl.Set, depth: int) -> Rows:
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


def _separate(values: Sequence[isl.UnionSet]) -> int:
    """How many of these sets share no value: so many are read at each point of a projection."""
    apart: list[isl.UnionSet] = []
    for own in values:
        if all(_apart(own, other) for other in apart):
            apart.append(own)
    return len(apart)


def _few(reuses: Iterable[Reuse], depth: int) -> tuple[Reuse, ...]:
    """Short ones that span most, where there are many: fewer projections give no larger bound than all."""
    left = sorted(reuses, key=lambda r: (-len(r.kernel), sum(abs(v) for row in r.kernel for v in row)))
    spanning: list[Reuse] = []
    for reuse in left:
        if rank([row for r in (*spanning, reuse) for row in r.kernel], depth) > rank(
                [row for r in spanning for row in r.kernel], depth):
            spanning.append(reuse)
    return tuple([*spanning, *(r for r in left if r not in spanning)][:LIMITS.most_projections])


def _groups(weighted: Sequence[tuple[Reuse, Fraction]], degree: int) -> list[list[tuple[Reuse, Fraction]]]:
    """Reuses that share values, together."""
    groups: list[list[tuple[Reuse, Fraction]]] = []
    for own in weighted:
        touching = [g for g in groups if any(_share(own[0], r, degree) for r, _ in g)]
        groups = [g for g in groups if g not in touching] + [[own, *itertools.chain(*touching)]]
    return groups


def _share(left: Reuse, right: Reuse, degree: int) -> bool:
    """Whether nearly all instances cannot be kept apart by the values that they read.

    The values of a chain and those that several instances read differ for all instances but a lower number.
    """
    if bool(left.readers) != bool(right.readers):
        return False
    common = left.all_values.intersect(right.all_values)
    if common.is_empty() or not left.readers:
        return not common.is_empty()
    both = [_union(m.intersect_range(common).domain() for m in r.readers) for r in (left, right)]
    return not any(_is_lower(readers, degree) for readers in both)


def _is_lower(readers: isl.UnionSet, degree: int) -> bool:
    sets = readers.get_set_list()
    return all(is_lower(sets.get_at(at), degree) for at in range(sets.n_set()))


def _apart(left: isl.UnionSet, right: isl.UnionSet) -> bool:
    return left.intersect(right).is_empty()


def _union(sets: Iterable[isl.UnionSet]) -> isl.UnionSet:
    result = isl.UnionSet("{ }")
    for part in sets:
        result = result.union(part)
    return result


def _compulsory(dependences: Dependences) -> sympy.Expr:
    """The elements of all arrays that are read before they are written: the leading term."""
    import sympy

    found: dict[str, isl.Set] = {}
    for statement in dependences.scop.statements:
        for access in _certain_reads(statement):
            fresh = statement.domain
            for pair in _flows(dependences):
                if pair.sink_reference == access.reference:
                    fresh = fresh.subtract(pair.relation.range())
            reached = access.relation.intersect_domain(fresh).range()
            found[access.array] = found[access.array].union(reached) if access.array in found else reached
    return _dominant(sympy.Add(*(leading_term(e.coalesce()) for e in found.values() if not e.is_empty())))


def _dominant(formula: sympy.Expr) -> sympy.Expr:
    """The terms of a sum that the others are small beside, for sizes that are large beside S."""
    import sympy

    terms = sympy.Add.make_args(sympy.expand(formula))
    most = max(map(_size_of, terms))
    return sympy.Add(*(t for t in terms if _size_of(t) * LIMITS.lower_term >= most))


def _size_of(formula: sympy.Expr) -> float:
    """The value at sizes that are large beside S."""
    return float(formula.subs({s: LIMITS.fast_memory if s.name == "S" else LIMITS.large_size
                               for s in formula.free_symbols}))
