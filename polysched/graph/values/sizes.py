"""`Size`: an extent of a tensor, quasi-affine in named symbols, in a normal form that compares by value.

    N = Size.symbol("N")
    (2 * N + 4) // 2 == N + 2
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from polysched.errors import UnsupportedGraphError
from polysched.records import dataclass

Atom: TypeAlias = "str | Quotient"
SizeLike: TypeAlias = "Size | int"


@dataclass(frozen=True)
class Quotient:
    """`floor(numerator / divisor)`, with a divisor of at least 2."""

    numerator: Size
    divisor: int

    def __str__(self) -> str:
        return f"(({self.numerator})//{self.divisor})"


@dataclass(frozen=True, eq=False)
class Size:
    """A sum of symbols and quotients times whole numbers, and a constant.

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
        return Size(0, ((name, 1),))

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
            found |= {atom} if isinstance(atom, str) else atom.numerator.symbols
        return frozenset(found)

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
        left, right = (self, Size.of(other)) if not Size.of(other).terms else (Size.of(other), self)
        if right.terms:
            raise UnsupportedGraphError(f"the product of the sizes {self} and {other} is not affine",
                                        hint="fix one of them by sizes=")
        if right.constant == 0:
            return Size()
        return Size(left.constant * right.constant, tuple((a, f * right.constant) for a, f in left.terms))

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
        if not other.is_constant or other.constant == 0:
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
            low = 1 if isinstance(atom, str) else atom.numerator.least()
            if factor < 0 or low is None:
                return None
            total += factor * (low if isinstance(atom, str) else low // atom.divisor)
        return total

    def magnitude(self, most: int) -> int:
        """A number that its absolute value does not exceed, where no symbol does another one."""
        total = abs(self.constant)
        for atom, factor in self.terms:
            own = most if isinstance(atom, str) else atom.numerator.magnitude(most) // atom.divisor + 1
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
            else:
                own = atom.numerator.bound(values) // atom.divisor
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


def product(sizes: tuple[Size, ...]) -> Size:
    """The product of sizes, at most one of them with symbols.

    Raises
    ------
    UnsupportedGraphError : it is not affine.
    """
    result = Size(1)
    for size in sorted(sizes, key=lambda s: len(s.terms)):
        result = result * size
    return result
