"""Which loops are unrolled into registers, and how the nest is tiled and ordered so that caches hold what is reused.

Both follow the data: registers by the loads per execution within the register budget; tiles by the bytes that every
cache level has to fetch, weighed by what a byte from the next level costs (the target's bandwidths).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from polysched.target import Target
from polysched.tensorize.description.intrinsic import LoadMode
from polysched.tensorize.emission.nest import NestLoop, content_of, uses
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.mapping import COPIED_ELEMENT_CYCLES, Match

MAX_UNROLL = LIMITS.most_unrolled
MAX_ORDERED = LIMITS.most_ordered
RAGGED_COST = LIMITS.ragged_cost
MOVED_COST = LIMITS.moved_cost
CACHE_SHARE = LIMITS.reused_cache_share
LEAST_HANDED_OUT = LIMITS.least_handed_out
LEAST_CYCLES = LIMITS.least_handed_out_cycles
SHORTEST_SUM = LIMITS.shortest_sum
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
    found: list[tuple[float, float, tuple[NestLoop, ...]]] = []
    for chosen in _unrolled([loop for loop in loops if not loop.reduction], wanted):
        registers, loads, starved = pressure(match, chosen)
        tiles = {o.name: math.prod(loop.unroll for loop in chosen if uses(match, o.name, loop))
                 for o in match.intrinsic.operands}
        if registers <= min(o.register.count for o in match.intrinsic.operands) and match.intrinsic.holds(tiles):
            read = sum(tiles[v.name] * v.elements * v.dtype.bytes for v in match.intrinsic.inputs)
            found.append(((loads + starved) * _wasted(match, chosen), read / math.prod(loop.unroll for loop in chosen),
                          chosen))
    found.sort(key=lambda f: f[:2])
    names = {loop.name: loop for loop in found[min(rank, len(found) - 1)][2]} if found else {}
    return [names.get(loop.name, loop) for loop in loops]


def _unrolled(spatial: Sequence[NestLoop], wanted: tuple[int, int] | None) -> Iterator[tuple[NestLoop, ...]]:
    """Pairs of loops, and single ones, unrolled by all factors or by those that are wanted."""
    for pair in [*itertools.combinations(spatial, 2), *((loop,) for loop in spatial)]:
        for factors in itertools.product(*map(_factors, pair)):
            if wanted is None or factors == wanted[: len(factors)]:
                yield tuple(replace(loop, unroll=f) for loop, f in zip(pair, factors, strict=True))


def _wasted(match: Match, chosen: tuple[NestLoop, ...]) -> float:
    """What is executed per iteration of the loops, padding and ragged last blocks included, as a factor."""
    wasted = math.prod(loop.blocks * loop.unroll / loop.count for loop in chosen)
    return wasted * math.prod(_ragged_cost(match, loop) for loop in chosen if loop.count % loop.unroll)


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
    copies = COPIED_ELEMENT_CYCLES * elements / (match.executions * match.intrinsic.cost.issue_cycles)
    return max(MOVED_COST, 1 + copies)


def _factors(loop: NestLoop) -> Iterator[int]:
    yield from range(1, min(MAX_UNROLL, loop.count) + 1)


def pressure(match: Match, unrolled: tuple[NestLoop, ...]) -> tuple[int, float, float]:
    """Registers that live at once, loads per execution, and the slowdown by too few accumulators for the latency.

    One register at least is for what a compiler moves, unless the registers are numbered in the C (AMX).
    """
    unrolled = register_order(loop for loop in unrolled if loop.unroll > 1)
    executions = math.prod(loop.unroll for loop in unrolled)
    spare = SPARE_REGISTERS if all(o.register.c_type for o in match.intrinsic.operands) else 0
    held, loads = max(match.intrinsic.temporaries, spare), 0.0
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
    starved = max(1.0, cost.latency_cycles / cost.issue_cycles / executions)
    return held, loads / executions, starved


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
        for tiled in _tilings(order, ordered=match.ordered):
            seconds = transfer_seconds(match, tiled, target)
            if seconds < least:
                best, least = tiled, seconds
    return best


def _tilings(order: list[NestLoop], *, ordered: bool) -> Iterator[list[NestLoop]]:
    """The longest reduction and the inner spatial loops in tiles of a power of two blocks.

    Where sums keep their order, only the outermost reduction: its tiles follow each other as its iterations do.
    """
    candidates = [loop for loop in order if not loop.reduction][1:][-1:]
    reductions = [loop for loop in order if loop.reduction]
    candidates += reductions[:1] if ordered else sorted(reductions, key=lambda loop: -loop.blocks)[:1]
    sizes = [[0, *(2**e for e in range(2, loop.blocks.bit_length()) if 2**e < loop.blocks)] for loop in candidates]
    for chosen in itertools.product(*sizes):
        if any(chosen):
            tiles = {loop.name: size for loop, size in zip(candidates, chosen, strict=True)}
            yield [replace(loop, tile=tiles.get(loop.name, 0)) for loop in order]


def handed_out_blocks(match: Match, loops: list[NestLoop], target: Target, *, ahead: int) -> list[NestLoop]:
    """Order and tiles where threads take tiles of the outermost loop one by one.

    At the end they wait for each other half of such a tile.  Tiles of `cache_blocks` where these would be too short to
    be worth asking for, or too few.

    Parameters
    ----------
    ahead : caches that are filled ahead of the use.
    """
    spatial, reductions = ([loop for loop in loops if loop.reduction is kind] for kind in (False, True))
    if len(spatial) > MAX_ORDERED or not spatial:
        return cache_blocks(match, loops, target)
    cycles = match.executions * match.intrinsic.cost.issue_cycles

    def seconds(order: list[NestLoop]) -> float:
        waiting = cycles / target.frequency_hz / 2 / order[0].tiles
        return transfer_seconds(match, order, target, ahead=ahead) + waiting

    sums = [*_reduction_tiles(reductions, match)]
    tried = ([*tiled, *rest] for order in itertools.permutations(spatial)
             for tiled, rest in itertools.product(_handed_out_tiles(order, cycles), sums))
    best = min(tried, key=seconds, default=None)
    return cache_blocks(match, loops, target) if best is None else best


def _handed_out_tiles(order: Sequence[NestLoop], cycles: float) -> Iterator[list[NestLoop]]:
    """The outermost loop in enough tiles for all threads, the innermost one whole or in tiles, long ones first."""
    first, inner = order[0], order[-1]
    outside = [size for size in _sizes(first) if LEAST_HANDED_OUT <= -(-first.blocks // size) <= cycles / LEAST_CYCLES]
    for size, within in itertools.product(outside, [0, *reversed(_sizes(inner))] if len(order) > 1 else [0]):
        tiles = {inner.name: within, first.name: size}
        yield [replace(loop, tile=tiles.get(loop.name, 0)) for loop in order]


def _reduction_tiles(reductions: list[NestLoop], match: Match) -> Iterator[list[NestLoop]]:
    """The longest reduction whole or in long tiles; where sums keep their order the outermost one."""
    yield reductions
    longest = reductions[:1] if match.ordered else sorted(reductions, key=lambda loop: -loop.blocks)[:1]
    for loop in longest:
        yield from ([replace(x, tile=size) if x is loop else x for x in reductions] for size in _sizes(loop)
                    if size >= SHORTEST_SUM)


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
