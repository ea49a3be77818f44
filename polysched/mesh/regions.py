"""Hierarchical partitioning: a region of cores into at most 64 parts, whose operators Mt-KaHyPar chooses; and again.

Each level maps operators onto the grid of its parts, so that parts that exchange many bytes lie near each other.  A
part takes at most as many operators as it has cores that live.  What happens inside a part depends on no other part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import UsageError
from polysched.mesh.limits import LIMITS
from polysched.mesh.shapes import Rectangle
from polysched.records import dataclass


@dataclass(frozen=True, eq=False, kw_only=True)
class Region:
    """Cores, and the operators that are placed on them.

    Parameters
    ----------
    cores : a rectangle of the mesh.
    members : numbers of the operators, at most as many as cores that live.
    ends : source and sink of each message among them, as places in `members`, shape (2, messages).
    sizes : bytes of each.
    """

    cores: Rectangle
    members: np.ndarray
    ends: np.ndarray
    sizes: np.ndarray


def placed_regions(regions: Iterable[Region], count: int, alive: np.ndarray,
                   seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of a core for each operator of the regions; 0 for operators in none of them.

    Parameters
    ----------
    count : of operators.
    alive : the cores that live, shape (rows, columns).
    """
    rows, columns = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    waiting = deque(regions)
    while waiting:
        region = waiting.popleft()
        if region.cores.cores <= LIMITS.leaf_cores or len(region.members) < LIMITS.fewest_cut:
            free_rows, free_columns = np.nonzero(alive[region.cores.slices])
            rows[region.members] = region.cores.row + free_rows[:len(region.members)]
            columns[region.members] = region.cores.column + free_columns[:len(region.members)]
            continue
        waiting.extend(divided(region, alive, seed))
    return rows, columns


def divided(region: Region, alive: np.ndarray, seed: int) -> list[Region]:
    """The parts of a region with the operators that are mapped onto them."""
    parts, grid = parts_of(region.cores, len(region.members))
    room = np.array([int(alive[p.slices].sum()) for p in parts])
    block = within(_mapped(region, grid, room, seed), room, grid)
    return _children(parts, region, block)


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


def _children(parts: list[Rectangle], region: Region, block: np.ndarray) -> list[Region]:
    """Each part with its operators and the messages inside it, numbered anew."""
    local = np.zeros(len(region.members), dtype=np.int64)
    order = np.argsort(block, kind="stable")
    starts = np.searchsorted(block[order], np.arange(len(parts) + 1))
    local[order] = np.arange(len(region.members)) - starts[block[order]]
    inside = block[region.ends[0]] == block[region.ends[1]]
    ends, sizes = region.ends[:, inside], region.sizes[inside]
    of_message = block[ends[0]]
    by_part = np.argsort(of_message, kind="stable")
    edges = np.searchsorted(of_message[by_part], np.arange(len(parts) + 1))
    chosen = [(order[starts[n]:starts[n + 1]], by_part[edges[n]:edges[n + 1]]) for n in range(len(parts))]
    return [Region(cores=part, members=region.members[own], ends=local[ends[:, kept]], sizes=sizes[kept])
            for part, (own, kept) in zip(parts, chosen, strict=True)]


def _mapped(region: Region, grid: tuple[int, int], room: np.ndarray, seed: int) -> np.ndarray:
    """The part of each operator as Mt-KaHyPar maps them onto the grid; nearly within the room."""
    count, ends, weights = len(region.members), region.ends, region.sizes
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


def write_regions(file: Path, regions: Sequence[Region], alive: np.ndarray, seed: int) -> None:
    """Regions, the cores that live and a seed as arrays, for another process."""
    lengths = np.array([[len(r.members), len(r.sizes)] for r in regions])
    np.savez(file, cores=np.array([[r.cores.row, r.cores.column, r.cores.rows, r.cores.columns] for r in regions]),
             lengths=lengths, members=np.concatenate([r.members for r in regions]),
             ends=np.concatenate([r.ends for r in regions], axis=1), sizes=np.concatenate([r.sizes for r in regions]),
             alive=alive, seed=np.array(seed))


def read_regions(file: Path) -> tuple[list[Region], np.ndarray, int]:
    """What `write_regions` wrote."""
    with np.load(file) as given:
        cuts = given["lengths"].cumsum(axis=0)[:-1].T
        parts = (np.split(given["members"], cuts[0]), np.split(given["ends"], cuts[1], axis=1),
                 np.split(given["sizes"], cuts[1]))
        regions = [Region(cores=Rectangle(*map(int, cores)), members=members, ends=ends, sizes=sizes)
                   for cores, members, ends, sizes in zip(given["cores"], *parts, strict=True)]
        return regions, given["alive"], int(given["seed"])


@lru_cache(maxsize=1)
def _library() -> tuple[Any, Any]:
    """Mt-KaHyPar, started with one thread, with which it repeats itself."""
    try:
        import mtkahypar
    except ImportError:
        raise UsageError("Mt-KaHyPar is not installed", hint="pip install 'polysched[mesh]'") from None
    return mtkahypar, mtkahypar.initialize(1, False)
