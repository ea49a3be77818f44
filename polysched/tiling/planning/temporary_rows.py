"""Loops that stay whole, so that temporaries with an element per iteration need only room for one row.

Where iterations of a loop read what earlier iterations of the same row left in a temporary, a tile around a part of the
row would have to leave that part in memory until the tile with the rest: the temporary then stays as large as all
iterations together, and is written to memory and read again.  With the row inside one tile it is contracted to the row
(`emit_c.nests.array_contraction`).
"""

from __future__ import annotations

from functools import partial

import islpy as isl

from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scop.budget import with_budget
from polysched.scop.scop import Array, Scop, union_map
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.distribute import statement_names
from polysched.tiling.tree.position import Position

MOST_OPERATIONS = LIMITS.temporary_row_operations


def rows_of_temporaries(scop: Scop, position: Position, members: tuple[isl.UnionPwAff, ...]) -> frozenset[int]:
    """The loops of a band that tiles shall not cut; none where a temporary leads from all of them to all of them.

    Parameters
    ----------
    position : of the band.
    members : its loops.
    """
    names = set(statement_names(position.domain))
    found: frozenset[int] = frozenset()
    for array in scop.arrays:
        if array.is_temporary and _has_element_per_iteration(scop, array, names):
            loops = with_budget(MOST_OPERATIONS, partial(_loops_between, scop, array, position, members))
            found |= loops or frozenset()
    return found if len(found) < len(members) else frozenset()


def _has_element_per_iteration(scop: Scop, array: Array, names: set[str]) -> bool:
    users = [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]
    return bool(users) and all(s.name in names and s.depth == len(array.extents) for s in users)


def _loops_between(scop: Scop, array: Array, position: Position, members: tuple[isl.UnionPwAff, ...]) -> frozenset[int]:
    """The loops whose values differ between the iteration that writes an element and one that reads it."""
    accesses = [(a.is_write, a.relation) for s in scop.statements for a in s.accesses if a.array == array.name]
    writes, reads = (union_map(relation for is_write, relation in accesses if is_write is kind)
                     for kind in (True, False))
    pairs = writes.apply_range(reads.reverse()).intersect_domain(position.domain).intersect_range(position.domain)
    for loop in position.path:
        pairs = pairs.eq_at_multi_union_pw_aff(multi_union_pw_aff((loop,)))
    return frozenset(k for k, member in enumerate(members)
                     if not pairs.is_subset(pairs.eq_at_multi_union_pw_aff(multi_union_pw_aff((member,)))))
