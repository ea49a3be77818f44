"""Whether generated loops run instances in an order that the dependences allow, tried at small sizes.

isl's code generator moves the instances of several statements with strides, `S[x]` at `4 * x` and `T[x]` at
`4 * x + 1`, to iterations that they have in common.  Where a statement has a stride in an outer loop as well, it has
been seen to move one of them too far, ahead of what it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TypeAlias
from weakref import WeakKeyDictionary

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import all_active
from polysched.emit_c.generation.loop_run import compile_loops
from polysched.emit_c.generation.piece_loops import is_over_pieces
from polysched.emit_c.generation.scan_check import CHECK_OPERATIONS, MOST_INSTANCES, small_values
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import Node
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.scop.budget import with_budget
from polysched.scop.points import fix_parameters, pairs_of

MOST_SIZES = LIMITS.most_order_sizes


def keeps_order(node: Node, tree: isl.Schedule, dependences: Dependences) -> bool:
    """Whether what runs first in the loops of a legal schedule tree is what has to run first.

    Looked at are schedules with strides, at the largest of the small sizes that isl counts and lists within its budget;
    loops over pieces, whose width only the running program knows, are not.
    """
    if any(is_over_pieces(n) for n in walk_nodes(node)) or not _has_strides(tree):
        return True
    return all(with_budget(CHECK_OPERATIONS, partial(_keeps_order_at, node, dependences, values)) is not False
               for values in islice(_sizes(dependences), MOST_SIZES))


def _has_strides(tree: isl.Schedule) -> bool:
    """Whether there is more than one statement and one that leaves out values of a loop."""
    times: list[isl.Map] = []
    tree.get_map().intersect_domain(tree.get_domain()).foreach_map(times.append)
    return len(times) > 1 and any(
        time.range().get_stride(k).gt(isl.Val(1)) for time in times for k in range(int(time.dim(isl.dim_type.out))))


def _sizes(dependences: Dependences) -> Iterator[dict[str, int]]:
    domains = [statement.domain for statement in dependences.scop.statements]
    for values in small_values(dependences.scop):
        counts = [with_budget(CHECK_OPERATIONS, partial(_count, domain, values)) for domain in domains]
        if None not in counts and 0 < sum(count for count in counts if count is not None) <= MOST_INSTANCES:
            yield values


def _count(domain: isl.Set, values: dict[str, int]) -> int:
    return int(fix_parameters(domain, values).count_val().to_python())


Pairs: TypeAlias = list[tuple[tuple[int, ...], tuple[int, ...]]]
_LISTED: WeakKeyDictionary[Dependences, dict[tuple[int, tuple[tuple[str, int], ...]], Pairs]] = WeakKeyDictionary()


def _ordered_pairs(dependences: Dependences, values: dict[str, int]) -> Iterator[tuple[str, str, Pairs]]:
    """Instances of two statements that have an order at some sizes; listed once for all loops of these."""
    listed = _LISTED.setdefault(dependences, {})
    parts = {id(part.relation): part for part in all_active(dependences) if part.ordered}   # equal ones are one
    for part in parts.values():
        key = (id(part.relation), tuple(values.items()))
        if key not in listed:
            listed[key] = pairs_of(fix_parameters(part.relation, values))
        yield part.dependence.source, part.dependence.sink, listed[key]


def _keeps_order_at(node: Node, dependences: Dependences, values: dict[str, int]) -> bool:
    at = {instance: number for number, instance in enumerate(compile_loops(node)(values))}
    for source, sink, pairs in _ordered_pairs(dependences, values):
        for first, second in pairs:
            before, after = at.get((source, first)), at.get((sink, second))
            if before is not None and after is not None and before >= after:
                return False
    return True
