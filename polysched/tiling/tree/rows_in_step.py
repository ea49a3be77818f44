"""Sequential rows of which several go in step: how far each has to be behind the one before it.

The iterations of such a row wait for each other, but those of neighbouring rows need not (`emit_c`'s lagging and
recurrent rows are that rewriting).  Here is what the models need to know of it: from the distances of all
dependences between two rows, so many columns apart as none of a step's iterations needs another one of it.

Source: the wavefront method, L. Lamport, "The parallel execution of DO loops", CACM 17(2), 1974.
"""

from __future__ import annotations

import islpy as isl

from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scop.budget import with_budget
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.position import Position, inside

ROWS = LIMITS.rows_in_step

MOST_LAG = LIMITS.most_lag

DISTANCE_OPERATIONS = LIMITS.distance_operations


def row_lag(position: Position, members: tuple[isl.UnionPwAff, ...], row: int, column: int) -> int | None:
    """Columns that each of `ROWS` rows has to be behind the one before it; None where no small number is enough.

    Parameters
    ----------
    position : of the nest.
    members : its loops.
    row, column : the loop around a row and the one along it; all others stand outside of both.
    """
    for other, member in enumerate(members):
        if other not in (row, column):
            position = inside(position, member)
    place = multi_union_pw_aff((members[row], members[column]))
    found: list[int | None] | None = with_budget(DISTANCE_OPERATIONS, lambda: [_lag(position.dependences, place)])
    return None if found is None else found[0]


def _lag(pairs: isl.UnionMap, place: isl.MultiUnionPwAff) -> int | None:
    values = isl.UnionMap.from_multi_union_pw_aff(place)
    distances = pairs.apply_domain(values).apply_range(values).deltas()
    if distances.is_empty():
        return 0
    apart = isl.Set.from_union_set(distances).reset_tuple_id()
    nearest_row = apart.dim_min_val(0)
    if not nearest_row.is_int() or nearest_row.is_neg():
        return None
    least = 0
    for rows in range(1, ROWS):
        columns = apart.fix_val(isl.dim_type.set, 0, isl.Val(rows))
        if columns.is_empty():
            continue
        nearest = columns.dim_min_val(1)
        if not nearest.is_int():
            return None
        least = max(least, -((int(nearest.to_python()) - 1) // rows))
    return least if least <= MOST_LAG else None
