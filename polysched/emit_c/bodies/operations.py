"""Operations on floating-point numbers per iteration: what a loop waits for beside memory."""

from __future__ import annotations

from collections.abc import Iterable
from math import frexp

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.loops import For, Node, RegisterTile
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    Call,
    Expr,
    Literal,
    Load,
    Select,
    assignments,
    statement_expressions,
    walk,
)
from polysched.scop.scop import Scop

MOST_BESIDE_DIVISION = LIMITS.most_beside_division


@dataclass(frozen=True, kw_only=True)
class Operations:
    """How many there are.

    Parameters
    ----------
    simple : additions, multiplications, choices.
    calls : functions of math.h.
    divisors : one per division.
    products_added : additions of a product, which fused instructions compute together.
    """

    simple: int
    calls: int
    divisors: tuple[Expr, ...]
    products_added: int = 0

    @property
    def total(self) -> int:
        return self.simple + self.calls + len(self.divisors)

    @property
    def contracted(self) -> int:
        """All of them where a product and its addition are one."""
        return self.total - self.products_added


def operations(node: Node, scop: Scop) -> Operations:
    """The operations of all statement instances below a node."""
    bodies = [statement_at(scop, instance).body for instance in instances(node)]
    updates = [item for body in bodies for item in assignments(body) if item.op is not None]
    parts = [e for body in bodies for top in statement_expressions(body) for e in walk(top) if not e.dtype.is_integer]
    divisors = _divisors(parts, updates)
    calls = sum(isinstance(e, Call) for e in parts)
    found = sum(isinstance(e, Binary | Select) for e in parts) + len(updates)
    fused = sum(map(adds_product, parts))
    fused += sum(item.op in ("+", "-") and item.dtype.is_float and is_product(item.value) for item in updates)
    return Operations(simple=found - len(divisors), calls=calls, divisors=divisors, products_added=fused)


def _divisors(parts: Iterable[Expr], updates: Iterable[Assign]) -> tuple[Expr, ...]:
    """What floating-point expressions and updates divide by."""
    return (*(e.right for e in parts if isinstance(e, Binary) and e.op == "/"),
            *(item.value for item in updates if item.op == "/" and item.dtype.is_float))


def is_product(expr: Expr) -> bool:
    return isinstance(expr, Binary) and expr.op == "*" and expr.dtype.is_float


def adds_product(expr: Expr) -> bool:
    """Whether a fused instruction can compute a sum and one of its products."""
    return isinstance(expr, Binary) and expr.op in ("+", "-") and (is_product(expr.left) or is_product(expr.right))


def waits_for_divider(tile: RegisterTile, scop: Scop) -> bool:
    """Whether a loop over vectors of a row spends its time dividing, and not by powers of two."""
    found = operations(tile.body, scop)
    row = [edge.variable for edge in tile.edges if edge.simd]
    return (len(tile.edges) == len(row) == 1 and all(loop.variable in row for loop in tile.loops) and not found.calls
            and bool(found.divisors) and not any(map(_is_power_of_two, found.divisors))
            and found.simple <= MOST_BESIDE_DIVISION * len(found.divisors))


def only_copies(loop: For, scop: Scop) -> bool:
    """Whether all that a loop does is to assign one element after the other to others of the same type."""
    done = list(instances(loop.body))
    if len(done) != 1:
        return False
    statement = statement_at(scop, done[0])
    match statement.body:
        case (Assign(op=None, value=Load() as value, dtype=dtype),):
            iterators = dict(zip(statement.iterators, done[0].iterators, strict=True))
            forms = [linear_form(subscript, iterators) for subscript in statement.access(value.reference).subscripts]
            moves = any(form is None or depends_on(form, frozenset({loop.variable})) for form in forms)
            return value.dtype == dtype and moves
    return False


def _is_power_of_two(expr: Expr) -> bool:
    return isinstance(expr, Literal) and isinstance(expr.value, int | float) and frexp(abs(expr.value))[0] == 0.5
