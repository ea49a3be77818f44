"""The values that an instruction's scalar text is read into: loops, locals and assignments over typed elements.

`reading.parse` makes them; every expression has the type that C gives it, every conversion is a `Cast`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias, TypeGuard

from polysched.records import dataclass
from polysched.scop.body import Call, Expr, distinct, walk
from polysched.scop.dtypes import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    LONGDOUBLE,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)

_EXACT: dict[str, DType] = {
    "int8_t": INT8, "int16_t": INT16, "int32_t": INT32, "int64_t": INT64, "bf16": BFLOAT16,
    "uint8_t": UINT8, "uint16_t": UINT16, "uint32_t": UINT32, "uint64_t": UINT64, "f16": FLOAT16,
    "float": FLOAT32, "double": FLOAT64,
}
_OF_C: dict[str, DType] = {   # as gcc has them on the machines of this project: int of 32 bits, long of 64
    "int": INT32, "unsigned": UINT32, "unsigned int": UINT32, "signed char": INT8, "unsigned char": UINT8,
    "short": INT16, "unsigned short": UINT16, "long": INT64, "long int": INT64, "unsigned long": UINT64,
    "long long": INT64, "unsigned long long": UINT64,
}
TYPES: dict[str, DType] = _EXACT | _OF_C
C_NAMES: dict[str, str] = {dtype.name: name for name, dtype in _EXACT.items()} | {
    BOOL.name: "_Bool", LONGDOUBLE.name: "long double"}   # of programs only: no instruction has such operands


@dataclass(frozen=True)
class Affine:
    """`sum(coefficient * iterator) + constant`, terms sorted by name, no zero coefficient."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @cached_property
    def names(self) -> frozenset[str]:
        """The iterators with a coefficient."""
        return frozenset(name for name, _ in self.terms)

    def evaluate(self, values: Mapping[str, int]) -> int:
        return self.constant + sum(c * values[n] for n, c in self.terms)

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """`self + factor * other`."""
        total = dict(self.terms)
        for name, coefficient in other.terms:
            total[name] = total.get(name, 0) + factor * coefficient
        return Affine(tuple(sorted((n, c) for n, c in total.items() if c)), self.constant + factor * other.constant)

    def times(self, factor: int) -> Affine:
        """`factor * self`."""
        return ZERO.plus(self, factor)

    def __str__(self) -> str:
        parts = [n if c == 1 else f"{c}*{n}" for n, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)


ZERO = Affine()


@dataclass(frozen=True)
class Element:
    """One array reference `array[s0][s1]...`; `str` is the reference that `Load` uses."""

    array: str
    subscripts: tuple[Affine, ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """The iterators that choose the element."""
        return frozenset().union(*(s.names for s in self.subscripts)) if self.subscripts else frozenset()

    def __str__(self) -> str:
        return self.array + "".join(f"[{s}]" for s in self.subscripts)


@dataclass(frozen=True)
class Variable:
    """An operand or a local of the text.  An extent is a number or the name of an `int` parameter."""

    name: str
    dtype: DType
    shape: tuple[int | str, ...] = ()
    written: bool = False

    @property
    def elements(self) -> int:
        """Number of elements; only for constant extents."""
        return self.elements_of({})

    def elements_of(self, sizes: Mapping[str, int]) -> int:
        """Number of elements with these values of the extents that are parameters."""
        total = 1
        for extent in self.shape:
            if isinstance(extent, str) and extent not in sizes:
                raise ValueError(f"{self.name}: extent {extent} is symbolic")
            total *= sizes[extent] if isinstance(extent, str) else extent
        return total


@dataclass(frozen=True)
class Local:
    """A declaration inside the text; `value`, of the local's type, is what it starts from: of an array only 0."""

    variable: Variable
    value: Expr | None
    elements: tuple[Element, ...] = ()


@dataclass(frozen=True)
class Update:
    """`target = value`; compound assignments are spelled out, and the value has the type of the target.

    Parameters
    ----------
    elements : what the loads of the value read, each once, in order of appearance.
    """

    target: Element
    dtype: DType
    value: Expr
    elements: tuple[Element, ...]

    def element(self, reference: str) -> Element:
        """The element that a `Load` of the value reads."""
        return next(e for e in self.elements if str(e) == reference)


@dataclass(frozen=True)
class Loop:
    """`for (name = lower; name < upper; name++)`, or the same from the top down.

    Parameters
    ----------
    extent : a number or parameter that `name` stays below in every iteration of the loops around.
    lower, upper : in terms of the loops around; `upper` is None for the extent itself.
    """

    name: str
    extent: int | str
    descending: bool
    body: tuple[Item, ...]
    lower: Affine = ZERO
    upper: Affine | None = None

    def values(self, around: Mapping[str, int], sizes: Mapping[str, int]) -> range:
        """The iterations, in order."""
        extent = sizes[self.extent] if isinstance(self.extent, str) else self.extent
        end = extent if self.upper is None else min(extent, self.upper.evaluate(around))
        ascending = range(self.lower.evaluate(around), end)
        return ascending[::-1] if self.descending else ascending


Item: TypeAlias = Local | Update | Loop


@dataclass(frozen=True)
class Semantics:
    """The parsed text of one instruction or library function.

    Parameters
    ----------
    name : of the C function.
    sizes : `int` parameters, in order; only library functions have some.
    operands : the other parameters, in order.
    body : what one execution does.
    text : the user's bytes.
    """

    name: str
    sizes: tuple[str, ...]
    operands: tuple[Variable, ...]
    body: tuple[Item, ...]
    text: str = ""

    def operand(self, name: str) -> Variable:
        """The operand of this name; KeyError when there is none."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(name)


_TABLE = "[]"


def table_function(operand: str) -> str:
    """The name of the `Call` that reads an operand at computed subscripts, `T[A[i] & 15]`."""
    return operand + _TABLE


def is_table_read(e: Expr) -> TypeGuard[Call]:
    """Whether an expression is an element of a table."""
    return isinstance(e, Call) and e.function.endswith(_TABLE)


def table_of(read: Call) -> str:
    """The operand, or in a program the access, that an element of a table belongs to."""
    return read.function.removesuffix(_TABLE)


def reads_table(e: Expr) -> bool:
    """Whether an expression reads at a computed subscript somewhere."""
    return any(map(is_table_read, distinct(e)))


def table_reads(e: Expr) -> Iterator[Call]:
    """The elements of tables in an expression."""
    return filter(is_table_read, walk(e))
