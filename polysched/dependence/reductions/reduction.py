"""What a reduction is: a statement that accumulates, and which orders of its updates give the same."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.scop.body import Expr
from polysched.scop.dtypes import DType

OVERWRITES = frozenset({"any", "last", "first"})
"""An element that conditions let one number overwrite, one that they let an iterator, and one that they let it once."""
NAN_WINS = frozenset({"minimum", "maximum"})
"""Extrema of floats that are NaN where any value is: the operations `minimum` and `maximum` of IEEE 754-2019."""
EXTREMA = frozenset({"min", "max"}) | NAN_WINS


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """One statement that accumulates.

    Parameters
    ----------
    statement : the statement, by name.
    operator : `sum`, `product`, `min`, `max`, `and`, `or` or `xor`; `minimum` or `maximum` where NaN counts; `argmin`
        or `argmax` for the place of one; `any`, `last` or `first` where conditions let one number, an iterator, or its
        first value overwrite the accumulator.
    write, reads : references of the accumulator: the write, and every read of the old value.
    places : references of the writes and reads of the place, for `argmin` and `argmax`.
    ties : which of equal values gives the place, `first` or `last`; `last` also where an iterator overwrites the
        accumulator, `first` where it does so once; empty for the other operators.
    dtype : element type of the accumulator.
    exact : any order of the statement gives the same bits: integers, and minimum and maximum (of numbers; a NaN
        among the values of `min` and `max` makes a comparison's result depend on the order, signed zeros its sign; one
        NaN is as good as another).  Otherwise a reassociation rounds differently, which a user has to allow.
    also : references of further writes of the accumulator, on other branches of a condition.
    beside : what else the same statement accumulates under its conditions, each in an element of its own.
    value : what overwrites the accumulator, for `any`, `last` and `first`.
    nan_first : the first value that is no number is the extremum, as NumPy has it.
    """

    statement: str
    operator: str
    write: str
    reads: tuple[str, ...]
    dtype: DType
    exact: bool
    places: tuple[str, ...] = ()
    ties: str = ""
    also: tuple[str, ...] = ()
    beside: tuple[Reduction, ...] = ()
    value: Expr | None = None
    nan_first: bool = False

    @property
    def any_order(self) -> bool:
        """Whether the result does not depend on the order of the updates, up to rounding."""
        return not any(part.ties for part in self.accumulators)

    @property
    def own(self) -> frozenset[str]:
        """References of all accesses of the accumulator, and of the place."""
        return frozenset({self.write, *self.also, *self.reads, *self.places})

    @property
    def accumulators(self) -> tuple[Reduction, ...]:
        """All that the statement accumulates."""
        return (self, *self.beside)

    def __str__(self) -> str:
        order = "exact in any order" if self.exact else "another order rounds differently"
        if self.operator in OVERWRITES and self.ties:
            order = "in order, or in ranges whose results are combined in order"
        elif self.ties:
            order = f"in order, because the {self.ties} of equal values counts"
        return f"{self.statement}: {self.operator} of {self.dtype.name}, {order}"
