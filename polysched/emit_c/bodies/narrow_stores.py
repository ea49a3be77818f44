"""Stores of bytes and short integers under a condition on data, for which processors have no masked store.

    for (i = 0; i < n; i++) if (m[i]) r[i] = a[i];

AVX2 stores elements of 32 and 64 bits under a mask, and no shorter ones.  The old value may not be written back, where
another thread may write it or the page may be read-only.  clang 19 takes `omp simd` for an order and stores lane by
lane, behind a branch for each: slower than the loop as it is, which it and gcc leave alone without the pragma.
"""

from __future__ import annotations

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.traversal import instances, is_innermost
from polysched.scop.body import Assign, BodyStatement, If, assignments
from polysched.scop.scop import Scop

SHORTEST = LIMITS.shortest_masked_store


def stores_lane_by_lane(loop: For, scop: Scop) -> bool:
    """Whether an innermost loop writes a short element in one branch of a condition and not in the other."""
    return is_innermost(loop) and any(_is_conditional(item) for instance in instances(loop.body)
               for item in scop.statement(instance.statement).body)


def _is_conditional(item: BodyStatement) -> bool:
    if not isinstance(item, If):
        return False
    then, otherwise = (_targets(branch) for branch in (item.then, item.otherwise))
    return bool(then ^ otherwise) or any(map(_is_conditional, (*item.then, *item.otherwise)))


def _targets(branch: tuple[BodyStatement, ...]) -> frozenset[str]:
    """The short elements that a branch always writes, or may write."""
    return frozenset(a.target for a in assignments(branch) if isinstance(a, Assign) and a.dtype.bits < SHORTEST)
