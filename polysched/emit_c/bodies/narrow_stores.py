"""Stores of bytes and short integers under a condition on data, for which processors have no masked store.

    for (i = 0; i < n; i++) if (m[i]) r[i] = a[i];

AVX2 stores elements of 32 and 64 bits under a mask, and no shorter ones.  The old value may not be written back, where
another thread may write it or the page may be read-only.  clang 19 takes `omp simd` for an order and stores lane by
lane, behind a branch for each: slower than the loop as it is, which it and gcc leave alone without the pragma.
"""

from __future__ import annotations

from typing import TypeAlias

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.traversal import instances, is_innermost
from polysched.scop.body import Assign, BodyStatement, Expr, If, assignments
from polysched.scop.scop import Scop, Statement

SHORTEST = LIMITS.shortest_masked_store
_Element: TypeAlias = tuple[str, tuple[Expr, ...]]
"""An array and subscripts."""


def stores_lane_by_lane(loop: For, scop: Scop) -> bool:
    """Whether an innermost loop writes a short element in one branch of a condition and not in the other."""
    if not is_innermost(loop):
        return False
    statements = {scop.statement(instance.statement) for instance in instances(loop.body)}
    return any(_is_conditional(item, statement) for statement in statements for item in statement.body)


def _is_conditional(item: BodyStatement, statement: Statement) -> bool:
    if not isinstance(item, If):
        return False
    then, otherwise = (_targets(branch, statement) for branch in (item.then, item.otherwise))
    return then != otherwise or any(_is_conditional(own, statement) for own in (*item.then, *item.otherwise))


def _targets(branch: tuple[BodyStatement, ...], statement: Statement) -> frozenset[_Element]:
    """The short elements that a branch always writes, or may write."""
    written = (statement.access(a.target) for a in assignments(branch)
               if isinstance(a, Assign) and a.dtype.bits < SHORTEST)
    return frozenset((access.array, access.subscripts) for access in written)
