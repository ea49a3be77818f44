"""What many register blocks and tiles of one nest cost, at once: the models of `blocking` over arrays of candidates.

A search asks the models some ten thousand times for one nest of a convolution.  Each function here computes, for every
candidate, the very number that `blocking.pressure` and `blocking.transfer_seconds` compute for one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from polysched.records import dataclass
from polysched.target import Target
from polysched.tensorize.emission.nest import NestLoop, uses
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.mapping import Match

CACHE_SHARE = LIMITS.reused_cache_share

Numbers: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockCosts:
    """Register blocks of one or two loops, one entry per block in each array.

    Parameters
    ----------
    loops : the loops that are unrolled.
    unroll : by loop, iterations in a block.
    registers : that live at once.
    waits : loads per execution of the instruction, and the slowdown by too few accumulators for the latency.
    read_bytes : of the inputs, per execution.
    """

    loops: tuple[NestLoop, ...]
    unroll: tuple[Numbers, ...]
    registers: Numbers
    waits: Numbers
    read_bytes: Numbers


def block_costs(match: Match, loops: tuple[NestLoop, ...], factors: Sequence[Sequence[int]], spare: int) -> BlockCosts:
    """What `blocking.pressure` says of all blocks with these factors, the last loop's varying fastest.

    Parameters
    ----------
    factors : per loop, iterations in a block.
    spare : registers for what a compiler moves.
    """
    unroll = tuple(np.array(column, np.float64) for column in zip(*itertools.product(*factors), strict=True))
    held = np.full(unroll[0].shape, float(max(match.intrinsic.temporaries, spare)))
    loads, read, executions = np.zeros_like(held), np.zeros_like(held), _product(unroll, held)
    for variable in match.intrinsic.parsed.operands:
        own = [u if uses(match, variable.name, loop) else np.ones_like(u)
               for u, loop in zip(unroll, loops, strict=True)]
        mine = _product(own, held)
        if not variable.written:
            read += mine * float(variable.elements * variable.dtype.bytes)
        if variable.name in match.written:
            held += mine
            continue
        loads += mine
        kept = _of_inner_loop(unroll, own)
        held += np.where(mine == kept, kept, 1.0)
    cost = match.intrinsic.cost
    starved = np.maximum(1.0, cost.latency_cycles / cost.cycles / executions)
    return BlockCosts(loops=loops, unroll=unroll, registers=held, waits=loads / executions + starved,
                      read_bytes=read / executions)


def _product(factors: Iterable[Numbers], like: Numbers) -> Numbers:
    found = np.ones_like(like)
    for factor in factors:
        found = found * factor
    return found


def _of_inner_loop(unroll: Sequence[Numbers], own: Sequence[Numbers]) -> Numbers:
    """What the inner loop of a block makes of `own`: the least unrolled one, of equals the last."""
    if len(unroll) == 1:
        return own[0]
    first, last = unroll
    return np.where((last > 1) & ((first == 1) | (last <= first)), own[1], own[0])


def transfer_times(match: Match, order: Sequence[NestLoop], tiles: Mapping[str, Sequence[int]], target: Target, *,
                   ahead: int = 0) -> Numbers:
    """What `blocking.transfer_seconds` says of one order of the loops, per choice of tiles.

    Parameters
    ----------
    tiles : by name of a loop, its tile in every candidate; other loops keep theirs.
    ahead : so many of the first caches are filled ahead of the use.
    """
    inner, outer = zip(*(_trips(loop, np.array(tiles.get(loop.name, [loop.tile]), np.float64)) for loop in order),
                       strict=True)
    caches = [c for c in target.caches if c.shared_by <= 2] or list(target.caches[:1])
    caches = caches[min(ahead, len(caches) - 1):]
    levels = [c.level for c in target.caches]
    total = np.zeros(len(next(iter(tiles.values()))))
    for cache in caches:
        further = [level for level in levels if level > cache.level]
        amount = _bytes_moved(match, order, [*outer, *inner], int(cache.size_bytes * CACHE_SHARE))
        total = total + amount / target.bandwidth(further[0] if further else 0)
    passes = _product((count for loop, count in zip(order, outer, strict=True) if loop.reduction), total)
    bytes_ = sum(v.elements * v.dtype.bytes for v in match.intrinsic.outputs)
    for loop in order:
        bytes_ *= loop.blocks * loop.unroll if uses(match, match.intrinsic.output.name, loop) else 1
    return total + 2 * passes * float(bytes_) / target.line_bytes / target.frequency_hz


def _trips(loop: NestLoop, tile: Numbers) -> tuple[Numbers, Numbers]:
    """Iterations of a loop inside a tile, and of the loop over its tiles."""
    blocks = float(loop.blocks)
    return (np.where(tile > 0, np.minimum(tile, blocks), blocks),
            np.where(tile > 0, np.ceil(blocks / np.maximum(tile, 1.0)), 1.0))


def _bytes_moved(match: Match, order: Sequence[NestLoop], trips: Sequence[Numbers], capacity_bytes: int) -> Numbers:
    """Bytes that are fetched into a cache, and results twice.

    Parameters
    ----------
    trips : iterations of the loops over tiles, then of those inside.
    """
    used = {v.name: [uses(match, v.name, loop) for loop in order] for v in match.intrinsic.parsed.operands}
    touched: dict[str, Numbers] = {}
    for v in match.intrinsic.parsed.operands:
        block = float(v.elements * v.dtype.bytes)
        for loop, is_used in zip(order, used[v.name], strict=True):
            block *= loop.unroll if is_used else 1
        touched[v.name] = np.array([block])
    moved = dict(touched)
    for at, count in reversed([*enumerate(trips)]):
        again = np.where(_total(touched.values()) <= capacity_bytes, 1.0, count)
        for operand, by_loop in used.items():
            if by_loop[at % len(order)]:
                touched[operand], moved[operand] = touched[operand] * count, moved[operand] * count
            else:
                moved[operand] = moved[operand] * again
    return _total(moved.values()) + _total(moved[o] for o in match.written)


def _total(amounts: Iterable[Numbers]) -> Numbers:
    found = np.zeros(1)
    for amount in amounts:
        found = found + amount
    return found
