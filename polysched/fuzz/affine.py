"""Affine functions of iterators and parameters by name, and intervals of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from polysched.records import dataclass


@dataclass(frozen=True)
class Affine:
    """`sum of coefficient * name + constant` over iterators and parameters."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def text(self) -> str:
        """The C spelling."""
        pieces: list[str] = []
        for name, coefficient in self.terms:
            if coefficient:
                factor = name if abs(coefficient) == 1 else f"{abs(coefficient)} * {name}"
                pieces += ["-" if coefficient < 0 else "+", factor]
        if self.constant or not pieces:
            pieces += ["-" if self.constant < 0 else "+", str(abs(self.constant))]
        head = "" if pieces[0] == "+" else "-"
        return head + " ".join(pieces[1:])

    def names(self) -> frozenset[str]:
        return frozenset(name for name, coefficient in self.terms if coefficient)

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """`self + factor * other`."""
        total = dict(self.terms)
        for name, coefficient in other.terms:
            total[name] = total.get(name, 0) + factor * coefficient
        terms = tuple((name, value) for name, value in sorted(total.items()) if value)
        return Affine(terms, self.constant + factor * other.constant)

    def with_value(self, name: str, value: Affine) -> Affine:
        """Replace an iterator."""
        factor = dict(self.terms).get(name, 0)
        rest = Affine(tuple(term for term in self.terms if term[0] != name), self.constant)
        return rest.plus(value, factor)


Range: TypeAlias = tuple[Affine, Affine]


def span(affine: Affine, ranges: Mapping[str, Range]) -> Range:
    """Lower and upper bound of an affine function over ranges of its names."""
    low = high = Affine((), affine.constant)
    for name, coefficient in affine.terms:
        first, last = ranges[name] if coefficient > 0 else ranges[name][::-1]
        low, high = low.plus(first, coefficient), high.plus(last, coefficient)
    return low, high


def extreme(left: Affine, right: Affine, pick: Callable[[int, int], int]) -> Affine:
    """The smaller or the larger of every coefficient and of the constants: a bound where names are not negative."""
    a, b = dict(left.terms), dict(right.terms)
    terms = tuple((name, pick(a.get(name, 0), b.get(name, 0))) for name in sorted(a.keys() | b.keys()))
    return Affine(terms, pick(left.constant, right.constant))
