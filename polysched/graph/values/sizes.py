"""`Size`: an extent of a tensor, quasi-affine in named symbols and in products of such sizes, in a normal form.

    N, M = Size.symbol("N"), Size.symbol("M")
    (2 * N + 4) // 2 == N + 2
    4 * N * M == (2 * M) * (2 * N)

It compares by value but for products of sums, which are not multiplied out: `(N + 1) * M` is not `N * M + M`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from polysched.errors import UnsupportedGraphError
from polysched.graph.limits import LIMITS
from polysched.records import dataclass

Atom: TypeAlias = "str | Quotient | Product"
SizeLike: TypeAlias = "Size | int"


@dataclass(frozen=True)
class Quotient:
    """`floor(numerator / divisor)`, with a divisor of at least 2."""

    numerator: Size
    divisor: int

    def __str__(self) -> str:
        return f"(({self.numerator})//{self.divisor})"


@dataclass(frozen=True)
class Product:
    """A product of two or more open sizes in the order of their text: none is a product, or has a common factor."""

    factors: tuple[Size, ...]

    def __str__(self) -> str:
        return "*".join(str(f) if len(f.terms) == 1 and f.constant == 0 else f"({f})" for f in self.factors)


@dataclass(frozen=True, eq=False)
class Size:
    """A sum of symbols, quotients and products times whole numbers, and a constant.

    Parameters
    ----------
    constant : what is added.
    terms : atoms and their coefficients, none of which is 0, in the order of the atoms' text.
    """

    constant: int = 0
    terms: tuple[tuple[Atom, int], ...] = ()

    @staticmethod
    def symbol(name: str) -> Size:
        """A size that is not known yet."""
        return Size.single(name)

    @staticmethod
    def single(atom: Atom) -> Size:
        """A symbol, a quotient or a product alone."""
        return Size(0, ((atom, 1),))

    @staticmethod
    def of(value: SizeLike) -> Size:
        """A size as it is, a whole number as a constant."""
        return value if isinstance(value, Size) else Size(int(value))

    @property
    def is_constant(self) -> bool:
        """Whether no symbol occurs."""
        return not self.terms

    @property
    def symbols(self) -> frozenset[str]:
        """The names of all symbols."""
        found: set[str] = set()
        for atom, _ in self.terms:
            found |= {atom} if isinstance(atom, str) else {s for inner in _inner(atom) for s in inner.symbols}
        return frozenset(found)

    @property
    def parameters(self) -> frozenset[Size]:
        """The symbols and products that it is quasi-affine in."""
        found: set[Size] = set()
        for atom, _ in self.terms:
            found |= atom.numerator.parameters if isinstance(atom, Quotient) else {Size.single(atom)}
        return frozenset(found)

    @property
    def products(self) -> tuple[Product, ...]:
        """All products in it, each behind those in its factors."""
        found: dict[Product, None] = {}
        for atom, _ in self.terms:
            for inner in _inner(atom):
                found |= dict.fromkeys(inner.products)
            if isinstance(atom, Product):
                found[atom] = None
        return tuple(found)

    def __int__(self) -> int:
        if self.terms:
            raise UnsupportedGraphError(f"the size {self} is not known", hint="fix its symbols by sizes=")
        return self.constant

    def __index__(self) -> int:
        return int(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Size):
            return self.constant == other.constant and self.terms == other.terms
        return isinstance(other, int) and not self.terms and self.constant == other

    def __hash__(self) -> int:
        return hash((self.constant, self.terms)) if self.terms else hash(self.constant)

    def __add__(self, other: SizeLike) -> Size:
        right = Size.of(other)
        sums = dict(self.terms)
        for atom, factor in right.terms:
            sums[atom] = sums.get(atom, 0) + factor
        kept = sorted(((a, f) for a, f in sums.items() if f), key=lambda term: str(term[0]))
        return Size(self.constant + right.constant, tuple(kept))

    __radd__ = __add__

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: SizeLike) -> Size:
        return self + Size.of(other) * -1

    def __rsub__(self, other: SizeLike) -> Size:
        return Size.of(other) - self

    def __mul__(self, other: SizeLike) -> Size:
        result = self.times(other)
        if result is None:
            raise UnsupportedGraphError(f"the product of the sizes {self} and {other} has too many open factors",
                                        hint=f"at most {LIMITS.most_factors}: fix some by sizes=")
        return result

    def times(self, other: SizeLike) -> Size | None:
        """The product; None where it has too many open factors."""
        left, right = (self, Size.of(other)) if not Size.of(other).terms else (Size.of(other), self)
        if not right.terms:
            return Size() if right.constant == 0 else Size(left.constant * right.constant, tuple(
                (a, f * right.constant) for a, f in left.terms))
        (number, mine), (more, its) = left.factors(), right.factors()
        return _of_factors(number * more, (*mine, *its)) if len(mine) + len(its) <= LIMITS.most_factors else None

    def factors(self) -> tuple[int, tuple[Size, ...]]:
        """A whole number and open sizes without common factors whose product it is."""
        if not self.terms:
            return self.constant, ()
        common = math.gcd(self.constant, *(f for _, f in self.terms)) * (1 if self.terms[0][1] > 0 else -1)
        rest = Size(self.constant // common, tuple((a, f // common) for a, f in self.terms))
        only = rest.terms[0][0] if len(rest.terms) == 1 and rest.constant == 0 else None
        return common, only.factors if isinstance(only, Product) else (rest,)

    def over(self, other: SizeLike) -> Size | None:
        """The size that times another one is this one, where their factors say it; None where they do not.

        The other one is not 0.
        """
        (number, left), (below, wanted) = self.factors(), Size.of(other).factors()
        rest = list(left)
        for factor in wanted:
            if factor not in rest:
                break
            rest.remove(factor)
        else:
            return _of_factors(number // below, tuple(rest)) if below and number % below == 0 else None
        if self.constant or len(self.terms) < 2:
            return None
        parts = [Size(0, (term,)).over(other) for term in self.terms]
        return None if any(p is None for p in parts) else sum((p for p in parts if p is not None), Size())

    __rmul__ = __mul__

    def __floordiv__(self, other: SizeLike) -> Size:
        divisor = int(Size.of(other))
        if divisor == 0:
            raise UnsupportedGraphError(f"the size {self} is divided by 0", hint="divide by a number that is not 0")
        if divisor < 0:
            return (-self) // -divisor
        if divisor == 1:
            return self
        whole = Size(0, tuple((a, f) for a, f in self.terms if f % divisor == 0))
        rest = Size(self.constant % divisor, tuple((a, f) for a, f in self.terms if f % divisor))
        result = Size(self.constant // divisor, tuple((a, f // divisor) for a, f in whole.terms))
        if not rest.terms:
            return result
        common = math.gcd(divisor, *(f for _, f in rest.terms))
        if common > 1:
            rest = Size(rest.constant // common, tuple((a, f // common) for a, f in rest.terms))
            divisor //= common
        return result + (rest if divisor == 1 else Size(0, ((Quotient(rest, divisor), 1),)))

    def __mod__(self, other: SizeLike) -> Size:
        return self - (self // other) * other

    def truncated(self, divisor: SizeLike) -> Size | None:
        """The quotient rounded towards 0, as C and ONNX divide; None where no size is that at all values.

        Floors are the same only where nothing negative is divided: `(N - 5) / 2` at 4 is 0, its floor -1.
        """
        other = Size.of(divisor)
        if not other.is_constant:
            return self.over(other) if (other.least() or 0) > 0 else None
        if other.constant == 0:
            return None
        below = abs(other.constant)
        least, most = self.least(), (-self).least()
        if (least is not None and least >= 0) or self % below == 0:
            quotient = self // below
        elif most is not None and most >= 0:
            quotient = -(-self // below)
        else:
            return None
        return quotient if other.constant > 0 else -quotient

    def least(self) -> int | None:
        """A number that it is never below, where all symbols are at least 1; None where none is found."""
        total = self.constant
        for atom, factor in self.terms:
            low = _least(atom)
            if factor < 0 or low is None:
                return None
            total += factor * low
        return total

    def magnitude(self, most: int) -> int:
        """A number that its absolute value does not exceed, where no symbol and no product does another one."""
        total = abs(self.constant)
        for atom, factor in self.terms:
            own = atom.numerator.magnitude(most) // atom.divisor + 1 if isinstance(atom, Quotient) else most
            total += abs(factor) * own
        return total

    def divided_up(self, divisor: int) -> Size:
        """`ceil(self / divisor)`."""
        return (self + (divisor - 1)) // divisor

    def bound(self, values: Mapping[str, SizeLike]) -> Size:
        """The size with values in place of symbols."""
        result = Size(self.constant)
        for atom, factor in self.terms:
            if isinstance(atom, str):
                own = Size.of(values[atom]) if atom in values else Size.symbol(atom)
            elif isinstance(atom, Product):
                own = product(tuple(f.bound(values) for f in atom.factors))
            else:
                own = atom.numerator.bound(values) // atom.divisor
            result = result + own * factor
        return result

    def in_parameters(self, values: Mapping[Size, Size]) -> Size:
        """The size with values in place of all its parameters."""
        result = Size(self.constant)
        for atom, factor in self.terms:
            own = (atom.numerator.in_parameters(values) // atom.divisor if isinstance(atom, Quotient) else
                   values[Size.single(atom)])
            result = result + own * factor
        return result

    def __str__(self) -> str:
        parts: list[str] = []
        for atom, factor in self.terms:
            text = str(atom) if abs(factor) == 1 else f"{abs(factor)}*{atom}"
            parts.append((" - " if factor < 0 else " + ") + text)
        if self.constant or not parts:
            parts.append((" - " if self.constant < 0 else " + ") + str(abs(self.constant)))
        first = parts[0][3:] if parts[0].startswith(" + ") else "-" + parts[0][3:]
        return first + "".join(parts[1:])

    __repr__ = __str__


def _inner(atom: Atom) -> tuple[Size, ...]:
    """The sizes that an atom is made of; a symbol of none."""
    if isinstance(atom, str):
        return ()
    return atom.factors if isinstance(atom, Product) else (atom.numerator,)


def _least(atom: Atom) -> int | None:
    """A number that an atom is never below; None where none is found."""
    if isinstance(atom, str):
        return 1
    low = [inner.least() for inner in _inner(atom)]
    if isinstance(atom, Quotient):
        return None if low[0] is None else low[0] // atom.divisor
    return None if any(v is None or v < 0 for v in low) else math.prod(v for v in low if v is not None)


def _of_factors(number: int, factors: tuple[Size, ...]) -> Size:
    """A whole number times open sizes without common factors."""
    if number == 0 or not factors:
        return Size(number)
    if len(factors) == 1:
        return factors[0] * number
    return Size(0, ((Product(tuple(sorted(factors, key=str))), number),))


def product(sizes: tuple[Size, ...]) -> Size:
    """The product of sizes.

    Raises
    ------
    UnsupportedGraphError : it has too many open factors.
    """
    result = Size(1)
    for size in sorted(sizes, key=lambda s: len(s.terms)):
        result = result * size
    return result
