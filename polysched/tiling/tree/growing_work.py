"""Whether later iterations of a loop on threads do more than earlier ones, as the columns of an upper triangle do.

Threads that take one iteration after the other do best to begin with the longest: what is left for the last thread
is then short.  Ten tiles of columns of a triangle take two threads 55 parts of 100 from the first on, and 51 from the
last on.

Source: R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM Journal on Applied Mathematics 17(2), 1969
(longest processing time first).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.scheduling.tree.loop_tree import Band, walk
from polysched.scop.budget import with_budget
from polysched.scop.points import box_size, fix_parameters
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.distribute import sets_of
from polysched.tiling.tree.position import Position

OPERATIONS = LIMITS.growing_work_operations
CLEARLY = LIMITS.growing_work_ratio


def grows(position: Position, band: Band, parameters: Mapping[str, int]) -> bool:
    """Whether iterations of a band's only loop do clearly more towards its end, at these sizes.

    A tile does as much as the iterations of the untiled loop in it; what one of them does is taken to be the box
    around its instances.
    """
    loops = [band, *(n for n in walk(band.child) if isinstance(n, Band) and n.mark is not None and band.mark is not None
                     and (n.mark.band, n.mark.member) == (band.mark.band, band.mark.member))]
    members = [loop.members[0] for loop in reversed(loops)]
    return bool(with_budget(OPERATIONS, lambda: _grows(position.domain, members, parameters)))


def _grows(domain: isl.UnionSet, members: Sequence[isl.UnionPwAff], parameters: Mapping[str, int]) -> bool:
    iterations = [_iterations(part, members, parameters) for part in sets_of(domain)]
    ends = [(values.dim_min_val(0), values.dim_max_val(0))
            for values in (relation.range() for relation in iterations) if not values.is_empty()]
    if not ends or not all(low.is_int() and high.is_int() for low, high in ends):
        return False
    first, last = min(int(low.to_python()) for low, _ in ends), max(int(high.to_python()) for _, high in ends)
    early, late = (sum(box_size(_at(relation, value)) for relation in iterations)
                   for value in (first + (last - first) // 4, last - (last - first) // 4))
    return 0 < CLEARLY * early < late


def _iterations(part: isl.Set, members: Sequence[isl.UnionPwAff], parameters: Mapping[str, int]) -> isl.Map:
    """Each instance of a statement with its iteration of the innermost of these loops that is around it."""
    instances = isl.UnionSet.from_set(part)
    around = (isl.UnionMap.from_union_pw_aff(member).intersect_domain(instances) for member in members)
    return fix_parameters(isl.Map.from_union_map(next(loop for loop in around if not loop.is_empty())), parameters)


def _at(relation: isl.Map, value: int) -> isl.Set:
    return relation.fix_val(isl.dim_type.out, 0, isl.Val(value)).domain()
