"""Sizes that only the running program knows: numbers with a sample value and C that computes them.

Emission computes with numbers: extents, strides, blocks.  Where these are a `Size`, what is printed is C over the
program's parameters, and the same code serves all sizes.  What would hold for the sample only is not assumed:

- code that can be general asks `may_exceed`, `divides` and `same`, which answer for all sizes;
- any other comparison is taken from the sample, and becomes a condition under which the emitted code may run.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from polysched.records import dataclass
from polysched.scop.body import OPPOSITE

LEAST = 2
"""Iterations of a loop of unknown length, at least: with one, it would be no loop."""
MOST = 1 << 40
"""Of a size, so that sums and roundings of sizes stay below 2^63."""

MOST_BYTES = "0x1p46"
"""Of a buffer: below all address spaces, and no sum of two of them overflows a long."""


@dataclass(frozen=True, eq=False)
class Conditions:
    """C conditions on the sizes that the code made so far takes for granted, in the order of their discovery."""

    texts: dict[str, None] = field(default_factory=dict)

    def require(self, text: str) -> None:
        """One more."""
        self.texts[text] = None


class Size(int):
    """A number that depends on sizes known at run time.

    Attributes
    ----------
    text : C that computes it, in type long.
    least : the least value that it can have; None where that is not known.
    conditions : where comparisons with it are written down.
    """

    text: str
    least: int | None
    conditions: Conditions
    _negated: Size | None          # what this is the negative of
    _shifted: tuple[Size, int] | None   # what this is the sum of

    def __new__(cls, value: int, text: str, *, least: int | None, conditions: Conditions,
                negated: Size | None = None, shifted: tuple[Size, int] | None = None) -> Size:
        made = super().__new__(cls, value)
        made.text, made.least, made.conditions = text, least, conditions
        made._negated, made._shifted = negated, shifted
        return made

    def _made(self, value: int, text: str, least: int | None) -> Size:
        return Size(value, text, least=least, conditions=self.conditions)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Size({int(self)}, {self.text!r})"

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __add__(self, other: int) -> int:
        if _is_number(other):
            return self._plus(int(other))
        least = None if self.least is None or (low := _least(other)) is None else self.least + low
        return self._made(int(self) + int(other), f"({self.text} + {other})", least)

    __radd__ = __add__

    def _plus(self, number: int) -> Size:
        base, before = self._shifted or (self, 0)
        total = before + number
        if not total:
            return base
        return Size(int(base) + total, f"({base.text} {'+' if total > 0 else '-'} {abs(total)})",
                    least=None if base.least is None else base.least + total, conditions=self.conditions,
                    shifted=(base, total))

    def __mul__(self, other: int) -> int:
        if _is_number(other) and other in (0, 1):
            return self if other else 0
        low = _least(other)
        known = self.least is not None and self.least >= 0 and low is not None and low >= 0
        least = self.least * low if known and self.least is not None and low is not None else None
        return self._made(int(self) * int(other), f"({self.text} * {other})", least)

    __rmul__ = __mul__

    def __neg__(self) -> int:
        if self._negated is not None:
            return self._negated
        return Size(-int(self), f"(-{self.text})", least=None, conditions=self.conditions, negated=self)

    def __sub__(self, other: int) -> int:
        if _is_number(other):
            return self._plus(-int(other))
        return self._made(int(self) - int(other), f"({self.text} - {other})", None)

    def __rsub__(self, other: int) -> int:
        return -self if not other else self._made(int(other) - int(self), f"({other} - {self.text})", None)

    def __abs__(self) -> int:
        return self if self >= 0 else -self

    def __floordiv__(self, divisor: int) -> int:
        """Of what is not negative as C divides; the rounding up of `-(-x // d)`, too."""
        if not _is_number(divisor) or divisor <= 0:
            raise TypeError(f"{self!r} is divided by {divisor!r}")
        if divisor == 1:
            return self
        if self._negated is not None:
            up = self._negated
            least = None if up.least is None else -(-up.least // divisor)
            return -self._made(-(-int(up) // divisor), f"(({up.text} + {divisor - 1}) / {divisor})", least)
        if self < 0:
            raise TypeError(f"{self!r} is divided and may be negative")
        return self._made(int(self) // divisor, f"({self.text} / {divisor})",
                          None if self.least is None else self.least // divisor)

    def __mod__(self, divisor: int) -> int:
        if not _is_number(divisor) or divisor <= 0 or self < 0:
            raise TypeError(f"{self!r} modulo {divisor!r}")
        return self._made(int(self) % divisor, f"({self.text} % {divisor})", 0)

    def __bool__(self) -> bool:
        return self != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and self._compared("==", operator.eq, other)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, int) or self._compared("!=", operator.ne, other)

    def __lt__(self, other: int) -> bool:
        return self._compared("<", operator.lt, other)

    def __le__(self, other: int) -> bool:
        return self._compared("<=", operator.le, other)

    def __gt__(self, other: int) -> bool:
        return self._compared(">", operator.gt, other)

    def __ge__(self, other: int) -> bool:
        return self._compared(">=", operator.ge, other)

    def _compared(self, sign: str, compare: Callable[[int, int], bool], other: int) -> bool:
        """True or false for all sizes where that is known, else for the sample, which becomes a condition."""
        holds = compare(int(self), int(other))
        if isinstance(other, Size) and other.text == self.text:
            return holds
        if _is_number(other) and self.least is not None:
            if self.least > other:
                return sign in (">", ">=", "!=")
            if self.least == other and sign in (">=", "<"):
                return sign == ">="
        self.conditions.require(f"{self.text} {sign if holds else OPPOSITE[sign]} {other}")
        return holds


def _is_number(value: int) -> bool:
    return not isinstance(value, Size)


def _least(value: int) -> int | None:
    return value.least if isinstance(value, Size) else value


def is_general(*values: int) -> bool:
    """Whether one of the numbers depends on sizes known at run time."""
    return any(isinstance(v, Size) for v in values)


def may_exceed(value: int, bound: int) -> bool:
    """Whether a number is greater than another at some sizes."""
    if not is_general(value, bound):
        return value > bound
    return not same(value, bound)


def divides(divisor: int, value: int) -> bool:
    """Whether a number is a multiple of another at all sizes."""
    return divisor == 1 or (not is_general(divisor, value) and value % divisor == 0)


def same(left: int, right: int) -> bool:
    """Whether two numbers are the same at all sizes."""
    if is_general(left, right):
        return is_general(left) and is_general(right) and str(left) == str(right)
    return left == right


def least_of(left: int, right: int) -> int:
    """The smaller one of two numbers."""
    return _one_of(left, "<", right, min(int(left), int(right)))


def greatest_of(left: int, right: int) -> int:
    """The greater one of two numbers."""
    return _one_of(left, ">", right, max(int(left), int(right)))


def _one_of(left: int, sign: str, right: int, sample: int) -> int:
    for value in (left, right):
        if isinstance(value, Size) and not same(left, right):
            return Size(sample, f"({left} {sign} {right} ? {left} : {right})", least=None, conditions=value.conditions)
    return sample if not is_general(left, right) else left


def bytes_fit(extents: Iterable[int], element_bytes: int) -> str:
    """A C condition that memory of these extents can exist; computed with floats, which do not overflow."""
    return " * ".join([*(f"(double){e}" for e in extents), f"{element_bytes}.0"]) + f" < {MOST_BYTES}"


def argument_of(parameter: str) -> str:
    """The argument that tells a function the value of a parameter of the program."""
    return f"ps_size_{parameter}"


def run_time_sizes(sample: Mapping[str, int], unknown: Iterable[str]) -> tuple[dict[str, int], Conditions]:
    """The parameters of a program, those that are not known as a `Size`; and where conditions on them are collected."""
    conditions = Conditions()
    values: dict[str, int] = dict(sample)
    for name in unknown:
        values[name] = Size(sample[name], argument_of(name), least=LEAST, conditions=conditions)
        conditions.require(f"{argument_of(name)} >= {LEAST}")
        conditions.require(f"{argument_of(name)} < {MOST}")
    return values, conditions
