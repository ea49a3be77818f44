"""What is known of a value at a place in a text: that of locals declared there, and the conditions around.

    int n = I[i];  O[i] = n < 16 ? T[n] : 0     n is a byte, and below 16 where T is read

Knowledge ends with an assignment to what it speaks of.  Locals of loops around are not known: a later iteration may
have another value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field

from polysched.records import dataclass
from polysched.scop.body import (
    COMPARISON,
    MIRRORED,
    OPPOSITE,
    Binary,
    Expr,
    Literal,
    Load,
    Unary,
    rebuild,
    walk,
    written_out,
)
from polysched.scop.dtypes import usual_conversion
from polysched.tensorize.description.intervals import Interval, interval, unconverted, wraps
from polysched.tensorize.description.semantics import Local
from polysched.tensorize.limits import LIMITS

MOST_NODES = LIMITS.most_branch_nodes


@dataclass
class KnownValues:
    """Values of locals, and conditions that hold, at the place that is being read.

    Parameters
    ----------
    locals : by name, with the loops around the declaration.
    """

    locals: dict[str, tuple[Expr, tuple[str, ...]]] = field(default_factory=dict)
    conditions: list[Expr] = field(default_factory=list)

    def declared(self, local: Local, loops: tuple[str, ...]) -> None:
        """A local has its first value from here on, or none."""
        self.assigned(local.variable.name)
        if local.value is not None and not local.variable.shape:
            value = self.in_terms_of_operands(local.value, loops)
            if written_out(value) <= MOST_NODES:
                self.locals[local.variable.name] = (value, loops)

    def assigned(self, array: str) -> None:
        """An operand or local has other values from here on."""
        self.locals = {n: v for n, v in self.locals.items() if n != array and not _reads(v[0], array)}
        self.conditions = [c for c in self.conditions if not _reads(c, array)]

    @contextmanager
    def where(self, condition: Expr, holds: bool, loops: tuple[str, ...]) -> Iterator[None]:
        """What is read inside is computed only where a condition holds, or does not."""
        before = list(self.conditions)
        self.conditions += _all_of(self.in_terms_of_operands(condition, loops), holds)
        yield
        self.conditions = [c for c in before if c in self.conditions]   # without those that ended inside

    def in_terms_of_operands(self, value: Expr, loops: tuple[str, ...]) -> Expr:
        """A value with those of locals in their places."""
        def change(e: Expr) -> Expr:
            known = self.locals.get(e.reference) if isinstance(e, Load) else None
            return known[0] if known is not None and known[1] == loops else e
        return rebuild(value, change)

    def interval(self, value: Expr, extents: Mapping[str, int | str], loops: tuple[str, ...]) -> Interval | None:
        """The least and the greatest value here; None for a float."""
        value = self.in_terms_of_operands(value, loops)
        found = interval(value, extents)
        if found is None:
            return None
        for low, high in (_bounds(c, value) for c in self.conditions):
            found = (found[0] if low is None else max(low, found[0]), found[1] if high is None else min(high, found[1]))
        return found


def _reads(value: Expr, array: str) -> bool:
    return any(isinstance(e, Load) and e.reference.split("[", 1)[0] == array for e in walk(value))


def _all_of(condition: Expr, holds: bool) -> Iterator[Expr]:
    """Comparisons that all hold where a condition does, or does not."""
    match condition:
        case Unary(op="!"):
            yield from _all_of(condition.operand, not holds)
        case Binary(op="&&" | "||") if holds == (condition.op == "&&"):
            yield from _all_of(condition.left, holds)
            yield from _all_of(condition.right, holds)
        case Binary() if condition.op in COMPARISON:
            op = condition.op if holds else OPPOSITE[condition.op]
            if op != "!=":   # which sets no end
                yield Binary(op, condition.left, condition.right, condition.dtype)


def _bounds(condition: Expr, value: Expr) -> tuple[int | None, int | None]:
    """The ends that a comparison with a number sets for a value."""
    assert isinstance(condition, Binary)
    for side, other, op in ((condition.left, condition.right, condition.op),
                            (condition.right, condition.left, MIRRORED[condition.op])):
        if isinstance(other, Literal) and other.dtype.is_integer and unconverted(side) == unconverted(value) \
                and not wraps(interval(side, {}), usual_conversion(side.dtype, other.dtype)):
            number = int(other.value)
            return {"<": (None, number - 1), "<=": (None, number), ">": (number + 1, None), ">=": (number, None),
                    "==": (number, number)}[op]
    return None, None
