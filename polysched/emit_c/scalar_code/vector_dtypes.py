"""The element types in which a statement's body computes: the widest one says how many lanes a vector has.

What a constant is converted from does not count: `x + (float)1.0` computes in floats, and so does `x = 0.0` for a
float.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysched.emit_c.scalar_code.vector_types import has_vectors
from polysched.scop.body import Expr, IteratorRef, Load, assignments, children, statement_expressions, walk
from polysched.scop.dtypes import DType
from polysched.scop.scop import Statement


def computed_dtypes(statement: Statement) -> Iterator[DType]:
    """The types of a statement's targets and of the values that its lanes compute with, some several times."""
    stored = []
    for item in assignments(statement.body):
        yield item.dtype
        if item.op is None and _is_constant(item.value):
            stored.append(item.value)
    for top in statement_expressions(statement.body):
        if not any(top is value for value in stored):
            yield from (e.dtype for e in _in_lanes(top) if has_vectors(e.dtype) or e is top)


def _in_lanes(expr: Expr) -> Iterator[Expr]:
    """The expression and its parts, but for what constants are made of."""
    yield expr
    if not _is_constant(expr):
        for child in children(expr):
            yield from _in_lanes(child)


def _is_constant(expr: Expr) -> bool:
    """Whether it has the same value for every instance."""
    return not any(isinstance(part, Load | IteratorRef) for part in walk(expr))
