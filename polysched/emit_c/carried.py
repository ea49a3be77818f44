"""Which pairs of statement instances a generated loop puts in order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import product

import islpy as isl

from polysched.dependence.budget import with_budget
from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.emit_c.leaves import Leaf, leaf_relation

CARRIED_OPERATIONS = 200_000


def carried_pairs(own: Sequence[Leaf], depth: int, dependences: Dependences, *,
                  updates_of: Collection[str] = ()) -> Iterator[isl.Map | None]:
    """Values of the loops at both ends of the dependences between two iterations of one execution of a loop.

    Parameters
    ----------
    own : the leaves inside of the loop.
    depth : how many loops are around it.
    updates_of : statements whose pairs of updates of their reduction do not count.

    Yields
    ------
    `{ [outer loops, this loop] -> [outer loops, this loop] }`, not empty; None where isl's budget did not suffice.
    """
    statements = {leaf.instance.statement for leaf in own}
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.INPUT or not {pair.source, pair.sink} <= statements or (
                pair.reduction and pair.source in updates_of):
            continue
        for source, sink in product(own, own):
            if (source.instance.statement, sink.instance.statement) == (pair.source, pair.sink):
                found = with_budget(CARRIED_OPERATIONS, partial(
                    _carried, pair.relation, source, sink, depth, dependences))
                if found is None or not found.is_empty():
                    yield found


def _carried(relation: isl.Map, source: Leaf, sink: Leaf, depth: int, dependences: Dependences) -> isl.Map:
    scop = dependences.scop
    reached = leaf_relation(source, scop).apply_range(relation).apply_range(leaf_relation(sink, scop).reverse())
    for kind in (isl.dim_type.in_, isl.dim_type.out):
        reached = reached.project_out(kind, depth + 1, reached.dim(kind) - depth - 1)
    for k in range(depth):
        reached = reached.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return reached.subtract(reached.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth))
