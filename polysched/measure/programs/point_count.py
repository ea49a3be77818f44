"""The number of integer points of a bounded set, by summing polynomials instead of visiting points.

One dimension after the other is summed away: where its lower and upper bound have coefficient 1, the sum of a
polynomial from one to the other is a polynomial in the dimensions that are left (Faulhaber's formula), and the set
falls into one piece per pair of binding bounds.  A triangle of 10^12 points costs as much as one of ten.

Source: M. Haghighat and C. Polychronopoulos, "Symbolic analysis for parallelizing compilers", TOPLAS 18(4), 1996; the
pieces by binding bounds as in A. Tawbi, "Estimation of nested loops execution time by integer arithmetic in convex
polyhedra", IPPS 1994.  isl decides which pieces are empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb

import islpy as isl

from polysched.scop.points import isl_value

Monomial = tuple[int, ...]
Polynomial = Mapping[Monomial, Fraction]
Affine = tuple[int, tuple[int, ...]]
"""A constant, and one coefficient per dimension."""
SET = isl.dim_type.set


def count_points(domain: isl.Set) -> int:
    """The number of points of a bounded set without parameters, exactly.

    Raises
    ------
    isl.Error : isl's budget of operations ran out.
    ValueError : the set has no bound in some dimension.
    """
    total = Fraction(0)
    for piece in domain.coalesce().make_disjoint().compute_divs().get_basic_sets():
        lifted = piece.lift().flatten()
        total += _sum_over(lifted, {(0,) * lifted.dim(SET): Fraction(1)})
    assert total.denominator == 1
    return int(total)


def _sum_over(piece: isl.BasicSet, polynomial: Polynomial) -> Fraction:
    """The sum of a polynomial in the set's dimensions over its points; existentials are dimensions already."""
    piece = piece.detect_equalities().remove_redundancies()
    if piece.is_empty() or not polynomial:
        return Fraction(0)
    if piece.dim(SET) == 0:
        return polynomial.get((), Fraction(0))
    equalities, inequalities = _constraints(piece)
    for affine in equalities:
        for dim, coefficient in enumerate(affine[1]):
            if abs(coefficient) == 1:
                value = _without(_scaled(affine, -coefficient), dim)
                return _sum_over(piece.project_out(SET, dim, 1), _substituted(polynomial, dim, value))
    easiest = _easiest(equalities, inequalities, piece.dim(SET))
    if easiest is None:
        return _sum_by_values(piece, polynomial)
    return _sum_by_bounds(piece, polynomial, easiest, inequalities)


def _sum_by_bounds(piece: isl.BasicSet, polynomial: Polynomial, dim: int, inequalities: Sequence[Affine]) -> Fraction:
    """Sum one dimension away, a piece per pair of a lower and an upper bound that bind there."""
    lowers = [_without(_scaled(a, -1), dim) for a in inequalities if a[1][dim] == 1]
    uppers = [_without(a, dim) for a in inequalities if a[1][dim] == -1]
    if not lowers or not uppers:
        raise ValueError(f"the set has infinitely many points: {piece}")
    upwards = _antidifference(polynomial, dim)
    rest = piece.drop_constraints_involving_dims(SET, dim, 1).project_out(SET, dim, 1)
    total = Fraction(0)
    for i, low in enumerate(lowers):
        largest = [_minus(low, other, less=int(k < i)) for k, other in enumerate(lowers) if k != i]
        for j, high in enumerate(uppers):
            least = [_minus(other, high, less=int(k < j)) for k, other in enumerate(uppers) if k != j]
            here = _with(rest, [*largest, *least, _minus(high, low)])
            below = (low[0] - 1, low[1])
            summed = _added(_substituted(upwards, dim, high), _substituted(upwards, dim, below), factor=-1)
            total += _sum_over(here, summed)
    return total


def _sum_by_values(piece: isl.BasicSet, polynomial: Polynomial) -> Fraction:
    """Where every dimension has a bound with another coefficient: one piece per value of the shortest dimension."""
    whole = isl.Set.from_basic_set(piece)
    ranges = [(whole.dim_min_val(d).to_python(), whole.dim_max_val(d).to_python()) for d in range(piece.dim(SET))]
    dim = min(range(len(ranges)), key=lambda d: ranges[d][1] - ranges[d][0])
    total = Fraction(0)
    for value in range(ranges[dim][0], ranges[dim][1] + 1):
        fixed = piece.fix_val(SET, dim, isl_value(value)).project_out(SET, dim, 1)
        total += _sum_over(fixed, _substituted(polynomial, dim, (value, (0,) * (len(ranges) - 1))))
    return total


def _easiest(equalities: Sequence[Affine], inequalities: Sequence[Affine], dims: int) -> int | None:
    """The dimension with the fewest pairs of bounds among those whose coefficients are all 1, -1 or 0."""
    costs = {}
    for dim in range(dims):
        coefficients = [a[1][dim] for a in inequalities]
        if all(abs(c) <= 1 for c in coefficients) and not any(a[1][dim] for a in equalities):
            costs[dim] = coefficients.count(1) * coefficients.count(-1)
    return min(costs, key=costs.__getitem__, default=None)


def _constraints(piece: isl.BasicSet) -> tuple[list[Affine], list[Affine]]:
    """Equalities (= 0) and inequalities (>= 0)."""
    equalities: list[Affine] = []
    inequalities: list[Affine] = []
    for constraint in piece.get_constraints():
        affine = (constraint.get_constant_val().to_python(),
                  tuple(constraint.get_coefficient_val(SET, d).to_python() for d in range(piece.dim(SET))))
        (equalities if constraint.is_equality() else inequalities).append(affine)
    return equalities, inequalities


def _with(piece: isl.BasicSet, affines: Sequence[Affine]) -> isl.BasicSet:
    """The points where all of these are at least 0."""
    for constant, coefficients in affines:
        constraint = isl.Constraint.alloc_inequality(piece.get_local_space()).set_constant_val(isl_value(constant))
        for dim, coefficient in enumerate(coefficients):
            constraint = constraint.set_coefficient_val(SET, dim, isl_value(coefficient))
        piece = piece.add_constraint(constraint)
    return piece


def _scaled(affine: Affine, factor: int) -> Affine:
    return factor * affine[0], tuple(factor * c for c in affine[1])


def _minus(a: Affine, b: Affine, *, less: int = 0) -> Affine:
    return a[0] - b[0] - less, tuple(x - y for x, y in zip(a[1], b[1], strict=True))


def _without(affine: Affine, dim: int) -> Affine:
    return affine[0], (*affine[1][:dim], *affine[1][dim + 1:])


def _added(a: Polynomial, b: Polynomial, *, factor: int = 1) -> Polynomial:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + factor * coefficient
    return {m: c for m, c in total.items() if c}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    total: dict[Monomial, Fraction] = {}
    for m, c in a.items():
        for n, d in b.items():
            key = tuple(x + y for x, y in zip(m, n, strict=True))
            total[key] = total.get(key, Fraction(0)) + c * d
    return {m: c for m, c in total.items() if c}


def _substituted(polynomial: Polynomial, dim: int, value: Affine) -> Polynomial:
    """The polynomial in the other dimensions that comes of putting an affine expression for one."""
    dims = len(value[1])
    one = {(0,) * dims: Fraction(1)}
    linear = {(0,) * dims: Fraction(value[0])} if value[0] else {}
    linear |= {tuple(int(d == k) for d in range(dims)): Fraction(c) for k, c in enumerate(value[1]) if c}
    powers: list[Polynomial] = [one]
    total: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        while len(powers) <= monomial[dim]:
            powers.append(_product(powers[-1], linear))
        others = {(*monomial[:dim], *monomial[dim + 1:]): coefficient}
        total = _added(total, _product(others, powers[monomial[dim]]))
    return total


def _antidifference(polynomial: Polynomial, dim: int) -> Polynomial:
    """F with F(x) - F(x - 1) = the polynomial, in one dimension."""
    total: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        total = _added(total, {(*monomial[:dim], power, *monomial[dim + 1:]): coefficient * factor
                               for power, factor in enumerate(_faulhaber(monomial[dim])) if factor})
    return total


@cache
def _faulhaber(power: int) -> tuple[Fraction, ...]:
    """The coefficients of 1^p + ... + x^p as a polynomial in x, the constant first (Knuth, TAOCP 1, 1.2.11.2)."""
    total = [Fraction(comb(power + 1, k)) for k in range(power + 2)]   # (x + 1)^(p + 1) - 1 telescopes
    total[0] -= 1
    for lower in range(power):
        for k, factor in enumerate(_faulhaber(lower)):
            total[k] -= comb(power + 1, lower) * factor
    return tuple(c / (power + 1) for c in total)
