"""Which pairs of statement instances a generated loop puts in order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import product

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.statement_instances import Leaf, leaf_relation
from polysched.scop.budget import with_budget

CARRIED_OPERATIONS = LIMITS.carried_operations


def carried_pairs(own: Sequence[Leaf], depth: int, dependences: Dependences, *, updates_of: Collection[str] = (),
                  sources: Sequence[Leaf] | None = None, sinks: Sequence[Leaf] | None = None,
                  inner: int = 0) -> Iterator[isl.Map | None]:
    """Values of the loops at both ends of the dependences between two iterations of one execution of a loop.

    Parameters
    ----------
    own : the leaves inside of the loop.
    depth : how many loops are around it.
    updates_of : statements whose pairs of updates of their reduction do not count.
    sources, sinks : leaves at which the earlier and the later end stand; all of them where nothing is said.
    inner : how many of the loops inside of the loop have their values told, too, where there are so many.

    Yields
    ------
    `{ [outer loops, this loop, inner] -> [outer loops, this loop, inner] }`, not empty; None where isl's budget did
    not suffice.
    """
    statements = {leaf.instance.statement for leaf in own}
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.INPUT or not {pair.source, pair.sink} <= statements or (
                pair.reduction and pair.source in updates_of):
            continue
        for source, sink in product(own if sources is None else sources, own if sinks is None else sinks):
            if (source.instance.statement, sink.instance.statement) == (pair.source, pair.sink):
                found = with_budget(CARRIED_OPERATIONS, partial(
                    _carried, pair.relation, source, sink, depth, inner, dependences))
                if found is None or not found.is_empty():
                    yield found


def _carried(relation: isl.Map, source: Leaf, sink: Leaf, depth: int, inner: int,
             dependences: Dependences) -> isl.Map:
    scop = dependences.scop
    reached = leaf_relation(source, scop).apply_range(relation).apply_range(leaf_relation(sink, scop).reverse())
    for kind in (isl.dim_type.in_, isl.dim_type.out):
        kept = min(depth + 1 + inner, reached.dim(kind))
        reached = reached.project_out(kind, kept, reached.dim(kind) - kept)
    for k in range(depth):
        reached = reached.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return reached.subtract(reached.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth))
