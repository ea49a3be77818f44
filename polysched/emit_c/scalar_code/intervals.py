"""The range of a subscript that is computed from counters and sizes alone, by interval arithmetic ahead of a region.

    w[i * n + j]   ->   i in 0 .. d - 1, n in n .. n, j in 0 .. n - 1, so the subscript is in
                        min(0 * n, (d - 1) * n) + 0 .. max(0 * n, (d - 1) * n) + n - 1

The range may be wider than what the region uses: the test that needs it fails more often then, and is never wrong.

Source: R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM 2009, chapter 2.
"""

from __future__ import annotations

from dataclasses import field

import islpy as isl

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.scalar_code.size_text import size_text
from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, ParameterRef, children, walk
from polysched.scop.dtypes import Kind
from polysched.scop.scop import Scop, Statement

MOST_PRODUCTS = LIMITS.most_interval_products


@dataclass
class Interval:
    """C lines that compute the ends of the range of an expression.

    Parameters
    ----------
    stem : the beginning of the names of the variables.
    """

    scop: Scop
    statement: Statement
    stem: str
    lines: list[str] = field(default_factory=list)

    def ends(self, value: Expr) -> tuple[str, str]:
        """The names or numbers of the least and the largest value; the lines that compute them are added."""
        match value:
            case Literal():
                return value.text, value.text
            case ParameterRef():
                spelling = next(p.spelling for p in self.scop.parameters if p.name == value.name)
                return self._named(f"(long)({spelling})", None)
            case IteratorRef():
                return self._iterator(self.statement.iterators.index(value.name))
            case Cast():
                return self.ends(value.operand)
            case Binary():
                return self._operation(value.op, self.ends(value.left), self.ends(value.right))
        raise ValueError(f"no range is computed of {value}")

    def _iterator(self, at: int) -> tuple[str, str]:
        domain = self.statement.domain.intersect_params(self.scop.context)
        low, high = (size_text(self.scop, end) for end in (domain.dim_min(at), domain.dim_max(at)))
        return self._named(f"(long)({low})", f"(long)({high})")

    def _operation(self, op: str, left: tuple[str, str], right: tuple[str, str]) -> tuple[str, str]:
        if op == "+":
            return self._named(f"{left[0]} + {right[0]}", f"{left[1]} + {right[1]}")
        if op == "-":
            return self._named(f"{left[0]} - {right[1]}", f"{left[1]} - {right[0]}")
        if op == "*":
            corners = [self._named(f"{a} * {b}", None)[0] for a in dict.fromkeys(left) for b in dict.fromkeys(right)]
            return self._extreme("<", corners), self._extreme(">", corners)
        # rounded towards zero, a quotient grows with its dividend and is no farther from 0
        low, high = (f"{right[0]} > 0 ? {end} / {right[0]} : {side}" for end, side in zip(left, (
            f"({left[0]} < 0 ? {left[0]} : 0) - ({left[1]} > 0 ? {left[1]} : 0)",
            f"({left[1]} > 0 ? {left[1]} : 0) - ({left[0]} < 0 ? {left[0]} : 0)"), strict=True))
        return self._named(low, high)

    def _extreme(self, op: str, values: list[str]) -> str:
        best = values[0]
        for value in values[1:]:
            best = self._named(f"{value} {op} {best} ? {value} : {best}", None)[0]
        return best

    def _named(self, low: str, high: str | None) -> tuple[str, str]:
        """Variables with two values; one where these are the same."""
        names = []
        for text in (low,) if high is None else (low, high):
            names.append(f"{self.stem}_{len(self.lines)}")
            self.lines.append(f"const long {names[-1]} = {text};")
        return names[0], names[-1]


def has_interval(statement: Statement, value: Expr) -> bool:
    """Whether the range of an expression can be computed: signed numbers of 32 bits at most, and few products of them.

    C computes the expression itself without overflow; of its corners, two products and their sum fit 64 bits.
    """
    if not all(_has_range(statement, part) for part in walk(value)):
        return False
    products = [part for part in walk(value) if _is_product(part)]
    factors = [inner for part in products for side in children(part) for inner in walk(side)]
    return len(products) <= MOST_PRODUCTS and not any(map(_is_product, factors))


def _is_product(part: Expr) -> bool:
    return isinstance(part, Binary) and part.op == "*"


def _has_range(statement: Statement, part: Expr) -> bool:
    """Whether the range of an expression follows from those of its operands, or is known."""
    match part:
        case Literal(value=int()) | Cast():
            return part.dtype.kind is Kind.SIGNED
        case ParameterRef():
            return _is_short(part)
        case IteratorRef():
            at = statement.iterators.index(part.name)
            return _is_short(part) and bool(statement.domain.dim_has_lower_bound(isl.dim_type.set, at)
                                            and statement.domain.dim_has_upper_bound(isl.dim_type.set, at))
        case Binary(op="/"):
            return isinstance(part.right, ParameterRef | Literal)
        case Binary():
            return part.op in ("+", "-", "*")
    return False


def _is_short(part: Expr) -> bool:
    return part.dtype.kind is Kind.SIGNED and part.dtype.bits <= 32
