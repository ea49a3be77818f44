"""Exact sets of elements as places in a shard: slices where a set is a box, lists of points elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
import numpy as np

from polysched.distribute import Distributed
from polysched.runtime.dataflow.rank_codes import Place
from polysched.scop.points import fix_parameters, points_of


def place_of(elements: isl.Set, known: Mapping[str, int], first_row: int) -> Place | None:
    """Where elements stand in an array that begins at a row; None where there are none.

    Parameters
    ----------
    elements : `[n, polysched_first] -> { A[i, j] }`.
    known : a value per parameter.
    """
    fixed = fix_parameters(elements, known)
    if fixed.is_empty():
        return None
    ends = [(int(fixed.dim_min_val(at).to_python()), int(fixed.dim_max_val(at).to_python()))
            for at in range(fixed.dim(isl.dim_type.set))]
    shift = [first_row, *(0 for _ in ends[1:])]
    if fixed.is_box() or _is_whole(fixed, ends):
        return tuple(slice(low - by, high + 1 - by) for (low, high), by in zip(ends, shift, strict=False))
    points = np.array(sorted(points_of(fixed)), dtype=np.int64)
    return tuple(points[:, at] - by for at, by in enumerate(shift))


def _is_whole(fixed: isl.Set, ends: list[tuple[int, int]]) -> bool:
    """Whether a set is all of the box around it, which isl's own test does not see of a union."""
    names = [f"e{at}" for at in range(len(ends))]
    bounds = " and ".join(f"{low} <= {name} <= {high}" for name, (low, high) in zip(names, ends, strict=True))
    tuple_name = fixed.get_tuple_name() or ""
    box = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {tuple_name}[{', '.join(names)}] : {bounds or 'true'} }}")
    return bool(box.is_subset(fixed))


def rows_of(distributed: Distributed, array: str, known: Mapping[str, int]) -> tuple[int, int] | None:
    """The rows of an array that a rank touches, from the first to behind the last; None where it touches none.

    Parameters
    ----------
    known : sizes, and what says what the rank owns.
    """
    found: list[tuple[int, int]] = []
    for statement in distributed.scop.statements:
        own = distributed.shares.executed(statement, distributed.partition.own_names)
        for access in statement.accesses:
            if access.array != array:
                continue
            touched = fix_parameters(access.relation.intersect_domain(own).range(), known)
            if touched.is_empty():
                continue
            if not touched.dim(isl.dim_type.set):
                return 0, 1
            found.append((int(touched.dim_min_val(0).to_python()), int(touched.dim_max_val(0).to_python()) + 1))
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None
