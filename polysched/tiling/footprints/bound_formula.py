"""What any order of a program must move into S elements of fast memory, as a formula in its sizes and S.

The instances of a statement project along each of its reuses: along the kernel of an access whose elements hold one
value each, and along the distance of a dependence that runs in a chain.  A segment of the execution that moves
K - S elements reaches at most K values, and each projection has at most as many points as values of its group; groups
of values that share none divide K.  The discrete Brascamp-Lieb inequality then bounds the instances of a segment.
Two statements that share values are taken for one where their instances have places beside each other.

These are leading terms, for sizes that are large beside S.  No value is computed twice.  Values that another
statement makes count as inputs, which changes the bound by their number alone, a lower term.

Source: A. Olivry, J. Langou, L.-N. Pouchet, P. Sadayappan, F. Rastello, "Automated Derivation of Parametric Data
Movement Lower Bounds for Affine Programs", PLDI 2020, sections 4 and 5; V. Elango, F. Rastello, L.-N. Pouchet,
J. Ramanujam, P. Sadayappan, "On Characterizing the Data Movement Complexity of Computational DAGs for Parallel
Execution", SPAA 2014, theorem 2 (sums over parts that share no values).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.solving.linear_algebra import rank
from polysched.scop.scop import AccessKind, Scop, Statement
from polysched.tiling.footprints.leading_terms import at_sizes, degree_of, leading_term
from polysched.tiling.footprints.lower_bound import Rows, weights_of
from polysched.tiling.footprints.reuses import (
    Reuse,
    certain_reads,
    flows_of,
    origin,
    reuses_of,
    separate,
    share_nothing,
    share_values,
    span_of,
    union_of,
)
from polysched.tiling.limits import LIMITS

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True, eq=False, kw_only=True)
class StatementBound:
    """What one statement forces, or two that share values.

    Parameters
    ----------
    statement : its name, or both with a comma between.
    formula : elements, a leading term.
    exponent : a segment that moves S elements holds at most about S^exponent instances.
    reuses : what the bound was derived from.
    """

    statement: str
    formula: sympy.Expr
    exponent: Fraction
    reuses: tuple[Reuse, ...]

    @property
    def values(self) -> isl.UnionSet:
        return union_of(r.all_values for r in self.reuses)


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
        touching = [other for other in taken if not share_nothing(bound.values, other.values)]
        if not touching:
            taken.append(bound)
        elif (both := _of_two(dependences, touching, bound)) is not None:
            taken[taken.index(touching[0])] = both
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


@dataclass(frozen=True, eq=False, kw_only=True)
class _Projection:
    """A projection of instances along a reuse, and what each of its points says of values.

    Parameters
    ----------
    weight : in the Brascamp-Lieb inequality.
    values : so many are read at each point.
    points : at so many points one value may be read.
    """

    reuse: Reuse
    weight: Fraction
    values: int
    points: int = 1


def _of_statement(dependences: Dependences, statement: Statement) -> StatementBound | None:
    """The bound by one statement alone; None where capacity forces nothing."""
    reuses, weights = _weighted(reuses_of(dependences, statement), statement.depth)
    return _bound(statement.name, [_Projection(reuse=r, weight=w, values=separate(r.values))
                                   for r, w in zip(reuses, weights, strict=True) if w],
                  leading_term(statement.domain), degree_of(statement.domain))


def _of_two(dependences: Dependences, taken: Sequence[StatementBound], other: StatementBound) -> StatementBound | None:
    """A larger bound than the taken one, by its statement and another that shares values with it alone; None otherwise.

    The other's loops are put in every order in which its instances stand beside those of the first.
    """
    named = {s.name: s for s in dependences.scop.statements}
    if len(taken) > 1 or taken[0].statement not in named:
        return None
    first, second = named[taken[0].statement], named[other.statement]
    degree = degree_of(first.domain)
    if first.depth != second.depth or degree_of(second.domain) != degree:
        return None
    reuses, weights = _weighted(reuses_of(dependences, first), first.depth)
    weighted = [(r, w) for r, w in zip(reuses, weights, strict=True) if w]
    offered = reuses_of(dependences, second)
    size = leading_term(first.domain) + leading_term(second.domain)
    best: StatementBound | None = taken[0]
    for order in itertools.permutations(range(first.depth)):
        both = _side_by_side(first, second, order, weighted, offered)
        found = None if both is None else _bound(f"{first.name}, {second.name}", both, size, degree)
        if found is not None and best is not None and _size_of(found.formula) > _size_of(best.formula):
            best = found
    return None if best is taken[0] else best


def _side_by_side(first: Statement, second: Statement, order: Sequence[int],
                  weighted: Sequence[tuple[Reuse, Fraction]], offered: Sequence[Reuse]) -> list[_Projection] | None:
    """The projections of two statements as one set of points; None where they are not those of one.

    A value that only points read that one projection takes together stands for one point of it; any other one stands
    for two at most, one of each statement.

    Parameters
    ----------
    order : the loops of the second, along those of the first.
    weighted : the reuses of the first, and their weights.
    offered : those of the second.
    """
    found = _in_pairs(order, weighted, offered, first.depth)
    turned = _turned(second, order, first.name)
    if not found or not first.domain.intersect(second.domain.apply(turned)).is_empty():
        return None
    made = []
    for own, other, weight in found:
        apart = share_nothing(own.all_values, other.all_values)
        if not apart and not own.readers:
            return None
        made.append(_Projection(
            reuse=Reuse(name=f"{own.name}, {other.name}", kernel=own.kernel, values=(*own.values, *other.values),
                        readers=(*own.readers, *other.readers)),
            weight=weight, values=min(separate(own.values), separate(other.values)),
            points=1 if apart or _meet_along(own, other, turned, first.depth) else 2))
    return made


def _in_pairs(order: Sequence[int], weighted: Sequence[tuple[Reuse, Fraction]], offered: Sequence[Reuse],
              depth: int) -> list[tuple[Reuse, Reuse, Fraction]]:
    """Each reuse of the first statement and one of the second along the same kernel, with the weight; none where one
    has no such partner, or where what one statement reads is passed along a chain of the other."""
    found = []
    for own, weight in weighted:
        along = [r for r in offered if bool(r.readers) is bool(own.readers) and _is_span(
            [[row[k] for k in order] for row in r.kernel], own.kernel, depth)]
        if not along:
            return []
        found.append((own, along[0], weight))
    mixed = ((one, two) for one, _, _ in found for _, two, _ in found if bool(one.readers) is not bool(two.readers))
    return found if all(share_nothing(one.all_values, two.all_values) for one, two in mixed) else []


def _turned(statement: Statement, order: Sequence[int], name: str) -> isl.Map:
    """The instances of a statement with their loops in another order, as those of the statement of this name."""
    domain = statement.domain.get_space()
    space = domain.map_from_set().set_tuple_name(isl.dim_type.out, name)
    turned = isl.Map.universe(space)
    for at, loop in enumerate(order):
        turned = turned.equate(isl.dim_type.in_, loop, isl.dim_type.out, at)
    return turned


def _is_span(rows: Sequence[Sequence[int]], kernel: Rows, depth: int) -> bool:
    """Whether some vectors span a kernel."""
    return rank([tuple(row) for row in rows], depth) == len(kernel) == rank([*map(tuple, rows), *kernel], depth)


def _meet_along(own: Reuse, other: Reuse, turned: isl.Map, depth: int) -> bool:
    """Whether instances of two statements that read one value differ along the kernel alone."""
    for left, right in itertools.product(own.readers, other.readers):
        between = left.apply_range(right.reverse()).apply_range(isl.UnionMap.from_map(turned))
        if between.is_empty():
            continue
        small = at_sizes(isl.Map.from_union_map(between))
        if rank([*span_of(small.deltas().union(origin(small)), depth), *own.kernel], depth) > len(own.kernel):
            return False
    return True


def _bound(name: str, projections: Sequence[_Projection], instances: sympy.Expr, degree: int) -> StatementBound | None:
    """The bound by the projections of so many instances; None where capacity forces nothing."""
    import sympy

    total = sum((p.weight for p in projections), Fraction(0))
    if total <= 1:
        return None
    held = sympy.Integer(1)
    for group in _groups([(p.reuse, p.weight) for p in projections], degree):
        share = sympy.Rational(sum(w for _, w in group))
        held *= (share / (sympy.Rational(total) - 1)) ** share
    for own in projections:
        held *= (sympy.Integer(own.points) / own.values) ** sympy.Rational(own.weight)
    constant = 1 / (sympy.Rational(total) - 1) / held
    size = sympy.Symbol("S", positive=True)
    formula = constant * instances * size ** (1 - sympy.Rational(total))
    return StatementBound(statement=name, formula=sympy.simplify(formula), exponent=total,
                          reuses=tuple(p.reuse for p in projections))


def _weighted(reuses: Sequence[Reuse], depth: int) -> tuple[tuple[Reuse, ...], tuple[Fraction, ...]]:
    """Reuses and the weights of their projections; none where no weights are known."""
    few = _few(reuses, depth)
    for some in (few, few[:depth]):
        weights = weights_of([r.kernel for r in some], depth)
        if some and len(weights) == len(some):
            return some, tuple(Fraction(w).limit_denominator(LIMITS.largest_weight_denominator) for w in weights)
    return (), ()


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
        touching = [g for g in groups if any(share_values(own[0], r, degree) for r, _ in g)]
        groups = [g for g in groups if g not in touching] + [[own, *itertools.chain(*touching)]]
    return groups


def _compulsory(dependences: Dependences) -> sympy.Expr:
    """The elements of all arrays that are read before they are written: the leading term."""
    import sympy

    found: dict[str, isl.Set] = {}
    for statement in dependences.scop.statements:
        for access in certain_reads(statement):
            fresh = statement.domain
            for pair in flows_of(dependences):
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
