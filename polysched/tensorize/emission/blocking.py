"""Which loops are unrolled into registers, and how the nest is tiled and ordered so that caches hold what is reused.

Both follow the data: registers by the loads per execution within the register budget; tiles by the bytes that every
cache level has to fetch, weighed by what a byte from the next level costs (the target's bandwidths).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.target import Target
from polysched.tensorize.description.intrinsic import LoadMode
from polysched.tensorize.emission.many_nests import Numbers, block_costs, transfer_times
from polysched.tensorize.emission.nest import NestLoop, content_of, group_step, uses
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.mapping import Match

MAX_UNROLL = LIMITS.most_unrolled
MAX_ORDERED = LIMITS.most_ordered
RAGGED_COST = LIMITS.ragged_cost
MOVED_COST = LIMITS.moved_cost
CACHE_SHARE = LIMITS.reused_cache_share
LEAST_HANDED_OUT = LIMITS.least_handed_out
SHORTEST_SUM = LIMITS.shortest_sum
CROSSWISE_COST = LIMITS.crosswise_cost
SPARE_REGISTERS = LIMITS.spare_registers
WORTHWHILE = LIMITS.worthwhile_share


def register_blocks(match: Match, loops: list[NestLoop], wanted: tuple[int, int] | None,
                    rank: int = 0) -> list[NestLoop]:
    """Unroll the two spatial loops that save the most loads within the register budget, of equals the fewest bytes.

    Parameters
    ----------
    wanted : iterations unrolled of the two loops, as the nest orders them; by the model when None.
    rank : which of the model's blocks, 0 for the best; the last one where there are fewer.
    """
    spatial = [loop for loop in loops if not loop.reduction]
    pairs: list[tuple[NestLoop, ...]] = [*itertools.combinations(spatial, 2), *((loop,) for loop in spatial)]
    ragged = {loop.name: _ragged_cost(match, loop) for loop in spatial}
    found = [_possible(match, chosen, wanted, ragged) for chosen in pairs]
    first, second = (np.concatenate([f[at] for f in found] or [np.zeros(0)]) for at in range(2))
    ranked = np.lexsort((second, first))
    if not ranked.size:
        return loops
    blocks = [(chosen, at) for chosen, (*_, places) in zip(pairs, found, strict=True) for at in places]
    chosen, at = blocks[ranked[min(rank, ranked.size - 1)]]
    unrolled = _block(chosen, _chosen_factors(chosen, wanted), at)
    return [replace(loop, unroll=unrolled.get(loop.name, loop.unroll)) for loop in loops]


def _possible(match: Match, chosen: tuple[NestLoop, ...], wanted: tuple[int, int] | None,
              ragged: Mapping[str, float]) -> tuple[Numbers, Numbers, list[int]]:
    """Blocks of some loops that registers and scratchpads have room for: what they cost, what they read, which.

    Parameters
    ----------
    ragged : by loop, what a last block that is partly padding costs, as a factor.
    """
    factors = _chosen_factors(chosen, wanted)
    if not all(factors):
        return np.zeros(0), np.zeros(0), []
    costs = block_costs(match, chosen, factors, _spare_registers(match))
    wasted, partly = np.ones_like(costs.waits), np.ones_like(costs.waits)
    for loop, unroll in zip(chosen, costs.unroll, strict=True):
        wasted = wasted * (np.ceil(loop.count / unroll) * unroll / loop.count)
        partly = partly * np.where(loop.count % unroll > 0, ragged[loop.name], 1.0)
    kept = costs.registers <= min(o.register.count for o in match.intrinsic.operands)
    if match.intrinsic.scratchpads:
        kept &= np.array([match.intrinsic.holds(_tiles(match, chosen, _block(chosen, factors, at)))
                          for at in range(kept.size)])
    return (costs.waits * (wasted * partly))[kept], costs.read_bytes[kept], np.flatnonzero(kept).tolist()


def _chosen_factors(chosen: Sequence[NestLoop], wanted: tuple[int, int] | None) -> list[list[int]]:
    """Per loop the factors that are tried."""
    return [[f for f in _factors(loop) if wanted is None or f == wanted[at]] for at, loop in enumerate(chosen)]


def _block(chosen: Sequence[NestLoop], factors: Sequence[Sequence[int]], number: int) -> dict[str, int]:
    """One block by its number: the unrolled iterations of every loop."""
    found = {}
    for loop, own in reversed([*zip(chosen, factors, strict=True)]):
        number, at = divmod(number, len(own))
        found[loop.name] = own[at]
    return found


def _tiles(match: Match, chosen: Sequence[NestLoop], block: Mapping[str, int]) -> dict[str, int]:
    """Tiles of every operand that a block of registers touches."""
    return {o.name: math.prod(block[loop.name] for loop in chosen if uses(match, o.name, loop))
            for o in match.intrinsic.operands}


def register_order(loops: Iterable[NestLoop]) -> tuple[NestLoop, ...]:
    """The most unrolled loop outermost: what only the inner one changes stays in fewer registers."""
    return tuple(sorted(loops, key=lambda loop: -loop.unroll))


def _ragged_cost(match: Match, loop: NestLoop) -> float:
    """What a last block that is partly padding costs, as a factor."""
    if loop.group < 0:   # its last iterations are a nest of their own
        return RAGGED_COST
    moved = [v.operand for v in match.layouts if v.mode in (LoadMode.DIRECT, LoadMode.BROADCAST)
             and v.operand not in match.written and uses(match, v.operand, loop)]
    if not moved:
        return RAGGED_COST
    elements = sum(match.fragment.iterations(tuple(match.fragment.loops_of(content_of(match, o)))) for o in moved)
    copies = match.costs.copied_element_cycles * elements / (match.executions * match.intrinsic.cost.cycles)
    return max(MOVED_COST, 1 + copies)


def _factors(loop: NestLoop) -> Iterator[int]:
    yield from range(1, min(MAX_UNROLL, loop.count) + 1)


def pressure(match: Match, unrolled: tuple[NestLoop, ...]) -> tuple[int, float, float]:
    """Registers that live at once, loads per execution, and the slowdown by too few accumulators for the latency.

    One register at least is for what a compiler moves, unless the registers are numbered in the C (AMX).
    """
    unrolled = register_order(loop for loop in unrolled if loop.unroll > 1)
    executions = math.prod(loop.unroll for loop in unrolled)
    held, loads = max(match.intrinsic.temporaries, _spare_registers(match)), 0.0
    inner = unrolled[-1:] if unrolled else ()
    for operand in match.intrinsic.operands:
        mine = math.prod(loop.unroll for loop in unrolled if uses(match, operand.name, loop))
        if operand.name in match.written:
            held += mine
            continue
        loads += mine
        kept = math.prod(loop.unroll for loop in inner if uses(match, operand.name, loop))
        held += kept if mine == kept else 1
    cost = match.intrinsic.cost
    starved = max(1.0, cost.latency_cycles / cost.cycles / executions)
    return held, loads / executions, starved


def _spare_registers(match: Match) -> int:
    """For what a compiler moves; none where the registers are numbered in the C (AMX)."""
    return SPARE_REGISTERS if all(o.register.c_type for o in match.intrinsic.operands) else 0


def cache_blocks(match: Match, loops: list[NestLoop], target: Target) -> list[NestLoop]:
    """Order the spatial loops and tile the nest for the target's caches; reductions stay innermost.

    An operand that a loop does not change is fetched again in every iteration of that loop, from the next level unless
    all that one iteration touches fits (the reuse argument of Wolf and Lam, PLDI 1991, section 2).
    """
    spatial = [loop for loop in loops if not loop.reduction]
    reductions = [loop for loop in loops if loop.reduction]
    if len(spatial) > MAX_ORDERED:
        return [*spatial, *reductions]
    orders = [[*order, *reductions] for order in itertools.permutations(spatial)]
    plain = min(orders, key=lambda order: transfer_seconds(match, order, target))
    best, least = plain, transfer_seconds(match, plain, target) * WORTHWHILE
    for order in orders:
        tiles = _tilings(order, ordered=match.ordered)
        seconds = transfer_times(match, order, tiles, target) if tiles else np.zeros(0)
        if seconds.size and (fastest := float(seconds.min())) < least:
            best, least = _tiled(order, tiles, int(seconds.argmin())), fastest
    return best


def _tiled(order: Sequence[NestLoop], tiles: Mapping[str, Sequence[int]], at: int) -> list[NestLoop]:
    """The loops with the tiles of one candidate."""
    return [replace(loop, tile=tiles[loop.name][at]) if loop.name in tiles else loop for loop in order]


def _tilings(order: list[NestLoop], *, ordered: bool) -> dict[str, list[int]]:
    """The longest reduction and the inner spatial loops in tiles of a power of two blocks: per loop, one per candidate.

    Where sums keep their order, only the outermost reduction: its tiles follow each other as its iterations do.
    """
    candidates = [loop for loop in order if not loop.reduction][1:][-1:]
    reductions = [loop for loop in order if loop.reduction]
    candidates += reductions[:1] if ordered else sorted(reductions, key=lambda loop: -loop.blocks)[:1]
    sizes = [[0, *(2**e for e in range(2, loop.blocks.bit_length()) if 2**e < loop.blocks)] for loop in candidates]
    chosen = [tiles for tiles in itertools.product(*sizes) if any(tiles)]
    return {loop.name: [tiles[at] for tiles in chosen] for at, loop in enumerate(candidates)} if chosen else {}


def handed_out_blocks(match: Match, loops: list[NestLoop], target: Target, *, ahead: int,
                      growth: Sequence[int] = (1,)) -> list[NestLoop]:
    """Order and tiles where threads take tiles of the spatial loops one by one, `shared_tiles` of these together.

    At the end they wait for each other half of such a tile.  Tiles of `cache_blocks` where these would be too short to
    be worth asking for, or too few.

    Parameters
    ----------
    ahead : caches that are filled ahead of the use.
    growth : long loops may also be so many times as long, and what is waited for counts as a share of the work.
    """
    spatial, reductions = ([loop for loop in loops if loop.reduction is kind] for kind in (False, True))
    if len(spatial) > MAX_ORDERED or not spatial:
        return cache_blocks(match, loops, target)
    cycles = match.executions * match.intrinsic.cost.cycles
    best, least = None, math.inf
    for order in itertools.permutations(spatial):
        tiles = _handed_out_tiles(order, reductions, cycles / target.team_work_cycles, ordered=match.ordered)
        if not tiles[order[0].name]:
            continue
        whole = [*order, *reductions]
        waits = sum(_share_of_waiting(match, whole, tiles, target, ahead=ahead, factor=factor) for factor in growth)
        waits = waits * _crosswise(match, order, tiles)
        if (shortest := float(np.min(waits))) < least:
            best, least = _tiled(whole, tiles, int(np.argmin(waits))), shortest
    return cache_blocks(match, loops, target) if best is None else best


def _crosswise(match: Match, order: Sequence[NestLoop], tiles: Mapping[str, Sequence[int]]) -> Numbers:
    """What candidates cost more whose tiles do not go along the result's rows first, although another loop would."""
    *outside, inner = order
    sizes = np.array(tiles[inner.name], np.float64)
    if _goes_along(match, inner):
        return np.where((sizes == 1) & bool(outside), CROSSWISE_COST, 1.0)
    return np.full(sizes.shape, CROSSWISE_COST if any(_goes_along(match, loop) for loop in outside) else 1.0)


def _goes_along(match: Match, loop: NestLoop) -> bool:
    """Whether neighbours along a loop are neighbours in the result's array."""
    steps = match.fragment.memory_steps[match.result.reference] or {}
    step = group_step(match, match.result, loop.group) if loop.group >= 0 else steps.get(loop.source, 0)
    return step is not None and abs(step) == 1


def _share_of_waiting(match: Match, order: Sequence[NestLoop], tiles: Mapping[str, Sequence[int]], target: Target, *,
                      ahead: int, factor: int) -> Numbers:
    """What is waited for, for bytes and for the last thread, over the work, where long loops are longer."""
    grown = [replace(loop, count=factor * loop.count) if loop.count > MAX_UNROLL else loop for loop in order]
    cycles = match.executions * match.intrinsic.cost.cycles
    cycles *= math.prod(factor for loop in order if loop.count > MAX_UNROLL)
    shares = _shares(grown, tiles, cycles / target.team_work_cycles)
    bytes_ = transfer_times(match, grown, tiles, target, ahead=ahead)
    return bytes_ * target.frequency_hz / cycles + 0.5 / shares


def _shares(order: Sequence[NestLoop], tiles: Mapping[str, Sequence[int]], most: float) -> Numbers:
    """What threads take one by one: tiles of the outermost loop, by those of the next one where these are not too many.

    Parameters
    ----------
    most : of these that are worth asking for.
    """
    found = None
    for loop in (x for x in order if x.name in tiles and not x.reduction):
        sizes = np.array(tiles[loop.name], np.float64)
        counts = np.where(sizes > 0, np.ceil(loop.blocks / np.maximum(sizes, 1.0)), 1.0)
        found = counts if found is None else np.where(found * counts <= most, found * counts, found)
    assert found is not None   # the outermost loop is in tiles
    return found


def _handed_out_tiles(order: Sequence[NestLoop], reductions: Sequence[NestLoop], most: float, *,
                      ordered: bool) -> dict[str, list[int]]:
    """Per loop its tile in every candidate: enough of them for all threads, long ones of the outermost first.

    The innermost spatial loop is whole or in tiles, and so is the longest reduction, in long ones; where sums keep
    their order, the outermost reduction.

    Parameters
    ----------
    most : of the tiles that threads take, each of which is worth asking for: what a team costs pays for that, too.
    """
    first, inner = order[0], order[-1]
    tiles = {first.name: [size for size in _sizes(first) if -(-first.blocks // size) <= most]}
    if inner is not first:
        tiles[inner.name] = [0, *reversed(_sizes(inner))]
    for loop in reductions[:1] if ordered else sorted(reductions, key=lambda loop: -loop.blocks)[:1]:
        tiles[loop.name] = [0, *(size for size in _sizes(loop) if size >= SHORTEST_SUM)]
    chosen = [*itertools.product(*tiles.values())]
    every = {name: [sizes[at] for sizes in chosen] for at, name in enumerate(tiles)}
    enough = _shares(order, every, most) >= LEAST_HANDED_OUT if chosen else np.zeros(0, bool)
    return {name: [size for size, kept in zip(sizes, enough, strict=True) if kept] for name, sizes in every.items()}


def _sizes(loop: NestLoop) -> list[int]:
    return [2**e for e in range(loop.blocks.bit_length()) if 2**e < loop.blocks]


def transfer_seconds(match: Match, order: Sequence[NestLoop], target: Target, *, ahead: int = 0) -> float:
    """Seconds that a core waits for bytes from beyond each of its own caches, and for accumulators to and from L1.

    Accumulators move by a cache line per cycle, once in each direction per tile of the reductions.

    Parameters
    ----------
    ahead : so many of the first caches are filled ahead of the use, and nobody waits; not of the last one.
    """
    caches = [c for c in target.caches if c.shared_by <= 2] or list(target.caches[:1])
    caches = caches[min(ahead, len(caches) - 1):]
    levels = [c.level for c in target.caches]
    total = 0.0
    moved = [_bytes_moved(match, order, int(c.size_bytes * CACHE_SHARE)) for c in caches]
    for cache, amount in zip(caches, moved, strict=True):
        further = [level for level in levels if level > cache.level]
        total += amount / target.bandwidth(further[0] if further else 0)
    output = match.intrinsic.output
    passes = math.prod(loop.tiles for loop in order if loop.reduction)
    results = math.prod(loop.blocks * loop.unroll for loop in order if uses(match, output.name, loop))
    bytes_ = sum(v.elements * v.dtype.bytes for v in match.intrinsic.outputs)
    lines = 2 * passes * results * bytes_ / target.line_bytes
    return total + lines / target.frequency_hz


def compulsory_seconds(sizes_bytes: int, target: Target) -> float:
    """Seconds that a core waits for bytes that are needed once, whatever computes with them."""
    caches = [c for c in target.caches if c.shared_by <= 2] or list(target.caches[:1])
    levels = [c.level for c in target.caches]
    return sum(sizes_bytes / target.bandwidth(min((n for n in levels if n > c.level), default=0)) for c in caches)


def _bytes_moved(match: Match, order: Sequence[NestLoop], capacity_bytes: int) -> int:
    touched = dict(_register_bytes(match, order))   # below the current loop
    moved = dict(touched)
    inner = [(loop, min(loop.tile or loop.blocks, loop.blocks)) for loop in order]
    outer = [(loop, loop.tiles) for loop in order]
    for loop, count in reversed([*outer, *inner]):
        if count == 1:
            continue
        fits = sum(touched.values()) <= capacity_bytes
        for operand in touched:
            if uses(match, operand, loop):
                touched[operand] *= count
                moved[operand] *= count
            elif not fits:
                moved[operand] *= count
    return sum(moved.values()) + sum(moved[o] for o in match.written)   # results are read and written


def _register_bytes(match: Match, order: Sequence[NestLoop]) -> Mapping[str, int]:
    """Bytes of every operand that one block of registers touches."""
    return {v.name: v.elements * v.dtype.bytes * math.prod(loop.unroll for loop in order if uses(match, v.name, loop))
            for v in match.intrinsic.parsed.operands}
