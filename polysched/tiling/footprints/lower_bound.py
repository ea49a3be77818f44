"""What any order of the same instances must move: a lower bound on traffic, beside the model's prediction.

Every set of E instances of a nest projects onto the elements that each reference touches; by the discrete
Brascamp-Lieb inequality |E| <= prod |phi_j(E)|^s_j for all s that satisfy dim(H) <= sum s_j dim(phi_j(H)) on
the subspaces H that the kernels generate.  With S elements of fast memory a segment of the execution that
moves T elements touches at most S + T, which bounds its instances and so the number of segments.

Source: M. Christ, J. Demmel, N. Knight, T. Scanlon, K. Yelick, "Communication Lower Bounds and Optimal
Algorithms for Programs That Reference Arrays - Part 1", UCB/EECS-2013-61, theorems 3.2 and 4.1;
A. Olivry, J. Langou, L.-N. Pouchet, P. Sadayappan, F. Rastello, "Automated Derivation of Parametric Data Movement
Lower Bounds for Affine Programs", PLDI 2020, section 4 (sum of projections).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from math import prod

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.solving.linear_algebra import null_space
from polysched.scop.body import (
    Binary,
    Call,
    Expr,
    IteratorRef,
    Load,
    Unary,
    assignments,
    statement_expressions,
    walk,
)
from polysched.scop.points import fix_parameters
from polysched.scop.scop import AccessKind, Scop, Statement
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.point_count import point_count
from polysched.tiling.footprints.references import Reference
from polysched.tiling.limits import LIMITS

MOST_SUBSPACES = LIMITS.most_subspaces
Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """Bytes that must cross into a cache of some capacity.

    Parameters
    ----------
    compulsory_bytes : every element once.
    reuse_bytes : what the limited capacity forces; 0 where it forces nothing.
    exponent : sum of the weights s_j: a tile that moves S elements holds at most about S^exponent instances.
    """

    compulsory_bytes: float
    reuse_bytes: float
    exponent: float

    @property
    def bytes(self) -> float:
        return max(self.compulsory_bytes, self.reuse_bytes)


def lower_bound(nest: Nest, capacity_bytes: int, touched: Mapping[str, float] | None = None) -> LowerBound:
    """The bound for one execution of a nest; loads only, each array counted once.

    Reuse that runs along dependences only, as in stencils over time, is not claimed: there the bound is the
    compulsory part.

    Parameters
    ----------
    touched : how many elements of an array the nest touches, where that is known (`touched_elements`).
    """
    known = [r for r in nest.references if not r.whole]
    compulsory = sum(max((touched or {}).get(array) or _elements(r, nest) for r in same) * same[0].element_bytes
                     for array, same in _by_array(known).items())
    bounds = [_reuse(nest, [r for r in known if name in r.statements], capacity_bytes) for name in nest.deepest]
    reuse, exponent = max(bounds, default=(0.0, 1.0))
    return LowerBound(compulsory_bytes=float(compulsory), reuse_bytes=reuse, exponent=exponent)


def touched_elements(scop: Scop, nest: Nest) -> dict[str, float]:
    """The elements of each array that a nest touches, nearly, at the assumed parameter values.

    Counted where no loop is around the nest, so that one execution of it is all of its statements.
    """
    if any(scop.statement(name).depth > nest.depth for name in nest.deepest):
        return {}
    found: dict[str, isl.Set] = {}
    for reference in nest.references:
        for statement in (scop.statement(name) for name in reference.statements):
            for access in statement.accesses:
                if access.array == reference.array and access.exact:
                    reached = access.relation.intersect_domain(statement.domain)
                    elements = fix_parameters(reached, nest.parameters).range()
                    found[access.array] = found[access.array].union(elements) if access.array in found else elements
    return {array: point_count(elements.coalesce()) for array, elements in found.items() if elements.is_bounded()}


def _reuse(nest: Nest, references: list[Reference], capacity_bytes: int) -> tuple[float, float]:
    """Bytes that one statement forces into the cache, and the exponent of its largest tile."""
    weights = _weights(references, nest.depth)
    exponent = sum(weights)
    if exponent <= 1 + 1e-9:
        return 0.0, 1.0
    size = min(r.element_bytes for r in references)
    fast = capacity_bytes / size
    shares: dict[str, float] = defaultdict(float)
    for reference, weight in zip(references, weights, strict=True):
        shares[reference.array] += weight
    touched = exponent / (exponent - 1) * fast
    most = prod((share / exponent * touched) ** share for share in shares.values() if share > 0)
    instances = nest.instances * nest.density / len(nest.deepest)
    return max(0.0, instances / most * (touched - fast) * size), exponent


def _elements(reference: Reference, nest: Nest) -> int:
    """A lower estimate of the distinct elements: the box of subscripts, thinned where instances are."""
    lengths = [min(most, 1 + sum(abs(c) * (extent - 1) for c, extent in zip(row, nest.extents, strict=True)))
               for row, most in zip(reference.coefficients, reference.reach, strict=True)]
    return int(prod(lengths) * min(1.0, nest.density))


def _by_array(references: list[Reference]) -> dict[str, list[Reference]]:
    found: dict[str, list[Reference]] = defaultdict(list)
    for reference in references:
        found[reference.array].append(reference)
    return found


def _weights(references: list[Reference], depth: int) -> tuple[float, ...]:
    """The least s; a single one when the subspaces are too many: nothing is claimed beyond the compulsory part then."""
    return weights_of([null_space(r.linear, depth) for r in references], depth)


def weights_of(kernels: list[Rows], depth: int) -> tuple[float, ...]:
    """The least s of projections along these kernels; a single 1 when the subspaces are too many."""
    subspaces = _generated(kernels, depth)
    if subspaces is None or not kernels:
        return (1.0,) * min(1, len(kernels))
    return _solve(kernels, subspaces, depth)


def _generated(kernels: list[Rows], depth: int) -> list[Rows] | None:
    """The lattice of subspaces that the kernels generate under sum and intersection."""
    whole = tuple(tuple(int(i == j) for j in range(depth)) for i in range(depth))
    found = {_canonical(space, depth) for space in (*kernels, whole)} - {()}
    frontier = list(found)
    while frontier:
        new = set()
        for left in frontier:
            for right in found:
                for space in (_canonical((*left, *right), depth), _meet(left, right, depth)):
                    if space and space not in found:
                        new.add(space)
        if len(found) + len(new) > MOST_SUBSPACES:
            return None
        found |= new
        frontier = list(new)
    return sorted(found)


def _meet(left: Rows, right: Rows, depth: int) -> Rows:
    return _canonical(null_space((*null_space(left, depth), *null_space(right, depth)), depth), depth)


def _canonical(rows: Rows, depth: int) -> Rows:
    """The same row space by a basis that depends on the space alone: the null space of its null space."""
    return null_space(null_space(rows, depth), depth) if rows else ()


def _solve(kernels: list[Rows], subspaces: list[Rows], depth: int) -> tuple[float, ...]:
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    weights = [solver.NumVar(0, 1, f"s{i}") for i in range(len(kernels))]
    for space in subspaces:
        dimension = len(space)
        image = [dimension - (len(_meet(space, kernel, depth)) if kernel else 0) for kernel in kernels]
        solver.Add(sum(w * d for w, d in zip(weights, image, strict=True)) >= dimension)
    solver.Minimize(sum(weights))
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return (1.0,)
    return tuple(float(w.solution_value()) for w in weights)


def needed_operations(scop: Scop, name: str) -> int:
    """Operations of one instance of a statement but for those that other instances can share.

    The operands of these are never written, and some loop leaves them alone.

    Example
    -------
    `C[i][j] += alpha * A[i][k] * B[k][j]` needs two: `alpha * A[i][k]` is the same for all `j`.
    """
    statement = scop.statement(name)
    written = {a.array for s in scop.statements for a in s.accesses if a.kind is not AccessKind.READ}
    counted = sum(isinstance(e, Binary | Unary | Call) and not _is_shared(e, statement, written)
                  for top in statement_expressions(statement.body) for e in walk(top))
    return counted + sum(a.op is not None for a in assignments(statement.body))


def _is_shared(value: Expr, statement: Statement, written: Set[str]) -> bool:
    """Whether several instances compute the same."""
    moving: set[str] = set()
    for node in walk(value):
        if isinstance(node, IteratorRef):
            moving.add(node.name)
        elif isinstance(node, Load):
            access = statement.access(node.reference)
            if access.array in written or not access.exact:
                return False
            moving.update(e.name for subscript in access.subscripts for e in walk(subscript)
                          if isinstance(e, IteratorRef))
    return not moving >= set(statement.iterators)
