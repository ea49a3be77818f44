"""Leading terms of the number of points of a set, as polynomials in its parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial, prod
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.points import fix_parameters, parameters_of
from polysched.tiling.limits import LIMITS

if TYPE_CHECKING:
    import sympy

SetOrMap = TypeVar("SetOrMap", isl.Set, isl.Map)


def at_sizes(values: SetOrMap, size: int | None = None) -> SetOrMap:
    """A set or map with every parameter at one size, by default the one that structure is looked at."""
    names = [values.get_dim_name(isl.dim_type.param, at) for at in range(values.dim(isl.dim_type.param))]
    return fix_parameters(values, {name: size or LIMITS.structure_size for name in names if name})


def leading_term(values: isl.Set) -> sympy.Expr:
    """The terms of highest degree of the number of points; the parameters are symbols of their names.

    Raises
    ------
    UsageError : the number is no polynomial, as far as can be seen.
    """
    import sympy

    counted = _Counts(values)
    symbols = [sympy.Symbol(name, positive=True) for name in counted.names]
    return sympy.Add(*(sympy.Rational(c.numerator, c.denominator)
                       * prod(s ** p for s, p in zip(symbols, powers, strict=True))
                       for powers, c in counted.leading().items()))


def degree_of(values: isl.Set) -> int:
    """The degree of the number of points in the sizes; -1 for an empty set.  Loops of fixed length add nothing."""
    return max((sum(powers) for powers in _Counts(values).leading()), default=-1)


def is_lower(values: isl.Set, degree: int) -> bool:
    """Whether each part of a set has fewer points than a polynomial of this degree; False where one is none."""
    parts = (_Counts(isl.Set.from_basic_set(part)) for part in values.coalesce().get_basic_sets())
    try:
        return not any(part.most() >= degree and any(part.of_degree(degree).values()) for part in parts)
    except UsageError:
        return False


class _Counts:
    """The number of points of a set at sizes, each counted once."""

    def __init__(self, values: isl.Set) -> None:
        self.values, self.names = values, tuple(parameters_of(values))
        names = [values.get_dim_name(isl.dim_type.param, at) for at in range(values.dim(isl.dim_type.param))]
        self.others = {name: LIMITS.structure_size for name in names if name and name not in self.names}
        self.known: dict[tuple[int, ...], int] = {}

    def most(self) -> int:
        """How many dimensions get longer with the sizes: no degree is higher."""
        if self.values.is_empty():
            return 0
        small, large = (at_sizes(self.values, size) for size in (LIMITS.structure_size, 2 * LIMITS.structure_size))
        return sum(a != b for a, b in zip(_lengths(small), _lengths(large), strict=True))

    def leading(self) -> dict[tuple[int, ...], Fraction]:
        """The monomials of the highest degree with their coefficients; none of an empty set."""
        for degree in range(self.most(), -1, -1):
            if any((terms := self.of_degree(degree)).values()):
                return {powers: c for powers, c in terms.items() if c}
        return {}

    def at(self, sizes: tuple[int, ...]) -> int:
        if sizes not in self.known:
            values = fix_parameters(self.values, {**self.others, **dict(zip(self.names, sizes, strict=True))})
            self.known[sizes] = _count(values)
        return self.known[sizes]

    def of_degree(self, degree: int) -> dict[tuple[int, ...], Fraction]:
        """The coefficients of the monomials of a degree, where no higher one occurs."""
        start = LIMITS.structure_size
        first, *others = ({powers: self.coefficient(powers, at) for powers in _monomials(len(self.names), degree)}
                          for at in (start, start + LIMITS.size_step, 2 * start))
        if any(first != other for other in others):
            raise UsageError("the number of points is no polynomial in the sizes", witness=str(self.values))
        return first

    def coefficient(self, powers: tuple[int, ...], start: int) -> Fraction:
        """Of one monomial of the highest degree, by finite differences."""
        step = LIMITS.size_step
        total = 0
        for taken in itertools.product(*(range(p + 1) for p in powers)):
            sign = (-1) ** (sum(powers) - sum(taken))
            ways = prod(comb(p, k) for p, k in zip(powers, taken, strict=True))
            total += sign * ways * self.at(tuple(start + step * k for k in taken))
        return Fraction(total, step ** sum(powers) * prod(map(factorial, powers)))


def _monomials(count: int, degree: int) -> Iterator[tuple[int, ...]]:
    return (powers for powers in itertools.product(range(degree + 1), repeat=count) if sum(powers) == degree)


def _count(values: isl.Set) -> int:
    """The number of points, of boxes without going through them."""
    if not values.is_empty() and values.is_box():
        return prod(_lengths(values))
    return int(values.count_val().to_python())


def _lengths(values: isl.Set) -> list[int]:
    """Of the box around a set, per dimension."""
    if values.is_empty():
        return [0] * values.dim(isl.dim_type.set)
    return [int(values.dim_max_val(d).to_python()) - int(values.dim_min_val(d).to_python()) + 1
            for d in range(values.dim(isl.dim_type.set))]
