"""Swaps of many pairs of cores at once, each of which is known to make the byte hops fewer.

A round pairs every core with the one at a given distance.  The gain of each pair is computed for all others at their
places.  Of pairs that send to each other only the one with the higher draw is swapped, so that the gains add up.
"""

from __future__ import annotations

import numpy as np

from polysched.mesh.limits import LIMITS
from polysched.mesh.target import MeshTarget


def swapped(ends: np.ndarray, sizes: np.ndarray, target: MeshTarget, rows: np.ndarray, columns: np.ndarray, *,
            seed: int = 0, rounds: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns after swaps; the byte hops are never more than before.

    Parameters
    ----------
    ends : source and sink of each message, shape (2, messages).
    sizes : bytes of each.
    rows, columns : of the core of each operator.
    rounds : of swaps; None for `LIMITS.swap_rounds`, fewer where there are very many messages.
    """
    draw = np.random.default_rng(seed)
    near, far = np.concatenate([ends, ends[::-1]], axis=1)
    weights = np.tile(sizes, 2)
    place = rows * target.columns + columns
    if rounds is None:
        rounds = min(LIMITS.swap_rounds, LIMITS.most_swap_looks // max(1, len(sizes)))
    for _ in range(rounds):
        reach = LIMITS.swap_reach
        step = (int(draw.integers(0, reach + 1)), int(draw.integers(-reach, reach + 1)))
        if step == (0, 0):
            continue
        goal = _partners(target, step, draw)[place]
        _swap_round(near, far, weights, target, place, goal, draw)
    return place // target.columns, place % target.columns


def _partners(target: MeshTarget, step: tuple[int, int], draw: np.random.Generator) -> np.ndarray:
    """The core that each core is paired with: itself where it is dead, or where its partner is, or there is none."""
    rows, columns = np.divmod(np.arange(target.rows * target.columns), target.columns)
    period = rows // step[0] if step[0] else columns // abs(step[1])
    first = period % 2 == draw.integers(0, 2)
    to_row, to_column = rows + step[0], columns + step[1]
    fits = first & (to_row < target.rows) & (to_column >= 0) & (to_column < target.columns)
    one = np.nonzero(fits)[0]
    two = to_row[one] * target.columns + to_column[one]
    alive = target.alive.ravel()
    kept = alive[one] & alive[two]
    partners = np.arange(len(rows))
    partners[one[kept]] = two[kept]
    partners[two[kept]] = one[kept]
    return partners


def _swap_round(near: np.ndarray, far: np.ndarray, weights: np.ndarray, target: MeshTarget, place: np.ndarray,
                goal: np.ndarray, draw: np.random.Generator) -> None:
    """Swap the pairs that gain, in place."""
    cores, columns = target.rows * target.columns, target.columns
    change = weights * (_distance(goal[near], place[far], columns) - _distance(place[near], place[far], columns))
    change[goal[near] == place[far]] = 0
    alone = np.bincount(near, weights=change, minlength=len(place))
    pair = np.minimum(place, goal)
    gain = np.zeros(cores)
    np.add.at(gain, pair, alone)
    wanted = (gain[pair] < 0) & (goal != place)
    priority = draw.permutation(cores)[pair]
    both = wanted[near] & wanted[far] & (pair[near] != pair[far])
    loses = both & (priority[near] < priority[far])
    lost = np.zeros(cores, dtype=bool)
    lost[pair[near[loses]]] = True
    moving = np.nonzero(wanted & ~lost[pair])[0]
    place[moving] = goal[moving]


def _distance(a: np.ndarray, b: np.ndarray, columns: int) -> np.ndarray:
    return np.asarray(np.abs(a // columns - b // columns) + np.abs(a % columns - b % columns))
