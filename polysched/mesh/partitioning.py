"""Hierarchical partitioning: a region of cores into at most 64 parts, whose operators Mt-KaHyPar chooses; and again.

Each level maps operators onto the grid of its parts, so that parts that exchange many bytes lie near each other.  A
part takes at most as many operators as it has cores that live.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

from polysched.errors import UsageError
from polysched.mesh.limits import LIMITS
from polysched.mesh.shapes import Rectangle
from polysched.mesh.target import MeshTarget


def partitioned(count: int, ends: np.ndarray, sizes: np.ndarray, target: MeshTarget, *,
                seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of a core for each operator.

    Parameters
    ----------
    count : of operators, at most the cores that live.
    ends : source and sink of each message, shape (2, messages).
    sizes : bytes of each.

    Raises
    ------
    UsageError : Mt-KaHyPar is not installed, or there are more than `LIMITS.most_partitioned` operators.
    """
    if count > LIMITS.most_partitioned:
        raise UsageError(f"at most {LIMITS.most_partitioned} operators are partitioned", witness=str(count),
                         hint="the method order, or operators put together before")
    rows, columns = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    regions = deque([(Rectangle(0, 0, target.rows, target.columns), np.arange(count), ends, sizes)])
    while regions:
        region, members, inner, weights = regions.popleft()
        if region.cores <= LIMITS.leaf_cores or len(members) < LIMITS.fewest_cut:
            free_rows, free_columns = np.nonzero(target.alive[region.slices])
            rows[members] = region.row + free_rows[:len(members)]
            columns[members] = region.column + free_columns[:len(members)]
            continue
        parts, grid = parts_of(region, len(members))
        room = np.array([int(target.alive[p.slices].sum()) for p in parts])
        block = within(_mapped(len(members), inner, weights, grid, room, seed), room, grid)
        regions.extend(_children(parts, members, inner, weights, block))
    return rows, columns


def parts_of(region: Rectangle, count: int) -> tuple[list[Rectangle], tuple[int, int]]:
    """The parts of a region in row-major order, as even as they can be, and how many rows and columns of them.

    Parameters
    ----------
    count : of operators, at least as many as parts: Mt-KaHyPar maps no fewer.
    """
    least, most = LIMITS.least_part_side, min(LIMITS.most_parts_a_side, isqrt(count),
                                              max(2, isqrt(count // LIMITS.part_operators)))
    grid = (max(1, min(most, region.rows // least)), max(1, min(most, region.columns // least)))
    rows = [region.rows * n // grid[0] for n in range(grid[0] + 1)]
    columns = [region.columns * n // grid[1] for n in range(grid[1] + 1)]
    return [Rectangle(region.row + r, region.column + c, r2 - r, c2 - c)
            for r, r2 in pairwise(rows) for c, c2 in pairwise(columns)], grid


def within(block: np.ndarray, room: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """The parts with operators moved out of those that are too full, into the nearest that have room."""
    block = block.copy()
    count = np.bincount(block, minlength=len(room))
    place = np.stack(np.divmod(np.arange(len(room)), grid[1]))
    for full in np.nonzero(count > room)[0].tolist():
        extra = np.nonzero(block == full)[0][room[full]:]
        near = np.argsort(np.abs(place - place[:, [full]]).sum(0), kind="stable")
        for other in near.tolist():
            taken = max(0, min(len(extra), int(room[other] - count[other])))
            block[extra[:taken]] = other
            count[other] += taken
            count[full] -= taken
            extra = extra[taken:]
    return block


def _children(parts: list[Rectangle], members: np.ndarray, ends: np.ndarray, weights: np.ndarray,
              block: np.ndarray) -> list[tuple[Rectangle, np.ndarray, np.ndarray, np.ndarray]]:
    """Each part with its operators and the messages inside it, numbered anew."""
    local = np.zeros(len(members), dtype=np.int64)
    order = np.argsort(block, kind="stable")
    starts = np.searchsorted(block[order], np.arange(len(parts) + 1))
    local[order] = np.arange(len(members)) - starts[block[order]]
    inside = block[ends[0]] == block[ends[1]]
    ends, weights = ends[:, inside], weights[inside]
    of_message = block[ends[0]]
    by_part = np.argsort(of_message, kind="stable")
    edges = np.searchsorted(of_message[by_part], np.arange(len(parts) + 1))
    return [(part, members[order[starts[n]:starts[n + 1]]], local[ends[:, by_part[edges[n]:edges[n + 1]]]],
             weights[by_part[edges[n]:edges[n + 1]]]) for n, part in enumerate(parts)]


def _mapped(count: int, ends: np.ndarray, weights: np.ndarray, grid: tuple[int, int], room: np.ndarray,
            seed: int) -> np.ndarray:
    """The part of each operator as Mt-KaHyPar maps them onto the grid; nearly within the room."""
    library, start = _library()
    library.set_seed(seed)
    context = start.context_from_preset(library.PresetType.DEFAULT)
    context.logging = False
    if count > LIMITS.most_weighted:
        context.set_mapping_parameters(len(room), LIMITS.equal_part_slack)
    else:
        context.set_mapping_parameters(len(room), 0.0)
        context.set_individual_target_block_weights([max(1, int(r)) for r in room])
    pairs, which = np.unique(np.sort(ends, axis=0), axis=1, return_inverse=True)
    sums = np.bincount(which.ravel(), weights=weights, minlength=pairs.shape[1]).astype(np.int64)
    graph = start.create_graph(context, count, pairs.shape[1], list(map(tuple, pairs.T.tolist())), [1] * count,
                               np.maximum(sums, 1).tolist())
    at = np.arange(len(room)).reshape(grid)
    beside = [*zip(at[:, :-1].ravel().tolist(), at[:, 1:].ravel().tolist(), strict=True),
              *zip(at[:-1].ravel().tolist(), at[1:].ravel().tolist(), strict=True)]
    mesh = start.create_target_graph(context, len(room), len(beside), beside, [1] * len(beside))
    return np.array(graph.map_onto_graph(mesh, context).get_partition(), dtype=np.int64)


@lru_cache(maxsize=1)
def _library() -> tuple[Any, Any]:
    """Mt-KaHyPar, started with one thread, with which it repeats itself."""
    try:
        import mtkahypar
    except ImportError:
        raise UsageError("Mt-KaHyPar is not installed", hint="pip install 'polysched[mesh]'") from None
    return mtkahypar, mtkahypar.initialize(1, False)
