"""The models over many candidates at once compute what they compute for each of them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from polysched.target import Target
from polysched.target.target import CacheLevel
from polysched.tensorize import Match, find_intrinsic, match, operators
from polysched.tensorize.emission.blocking import (
    SPARE_REGISTERS,
    cache_blocks,
    pressure,
    register_blocks,
    transfer_seconds,
)
from polysched.tensorize.emission.many_nests import block_costs, transfer_times
from polysched.tensorize.emission.nest import nest_loops, uses
from tests.tensorize.products import BYTES

TARGET = Target(cores=2, vector_bits=256, vector_registers=16, caches=(
    CacheLevel(level=1, size_bytes=32768, shared_by=1), CacheLevel(level=2, size_bytes=524288, shared_by=1),
    CacheLevel(level=3, size_bytes=33554432, shared_by=8)))
NESTS = {"product": (operators.gmm(m=67, n=129, k=250, **BYTES), {}),
         "convolution": (operators.c2d(k=19, c=6, size=9, window=3, **BYTES), {"batch": 2})}


def one(kind: str) -> Match:
    scop, sizes = NESTS[kind]
    return match(scop, find_intrinsic("vpmaddwd"), sizes=sizes).matches[0]


@pytest.mark.parametrize("kind", NESTS)
def test_blocks_cost_what_each_costs(kind: str) -> None:
    found = one(kind)
    spatial = [loop for loop in nest_loops(found) if not loop.reduction]
    for chosen in (*itertools.combinations(spatial, 2), spatial[:1]):
        factors = [[1, 2, 3, 4, 6] for _ in chosen]
        costs = block_costs(found, tuple(chosen), factors, SPARE_REGISTERS)
        for at, block in enumerate(itertools.product(*factors)):
            loops = tuple(replace(loop, unroll=f) for loop, f in zip(chosen, block, strict=True))
            registers, loads, starved = pressure(found, loops)
            assert (costs.registers[at], costs.waits[at]) == (registers, loads + starved)
            assert tuple(u[at] for u in costs.unroll) == block


@pytest.mark.parametrize("kind", NESTS)
@pytest.mark.parametrize("ahead", [0, 1])
def test_tiles_cost_what_each_costs(kind: str, ahead: int) -> None:
    found = one(kind)
    loops = register_blocks(found, nest_loops(found), None)
    for order in itertools.islice(itertools.permutations(loops), 0, 24, 5):
        first, last = order[0].name, order[-1].name
        chosen = [*itertools.product((0, 1, 4, 64), (0, 2, 7, 1000))]
        times = transfer_times(found, order, {first: [a for a, _ in chosen], last: [b for _, b in chosen]}, TARGET,
                               ahead=ahead)
        for at, (a, b) in enumerate(chosen):
            tiled = [replace(loop, tile={first: a, last: b}.get(loop.name, loop.tile)) for loop in order]
            assert times[at] == transfer_seconds(found, tiled, TARGET, ahead=ahead)


def test_the_chosen_tiles_move_least() -> None:
    found = one("product")
    loops = register_blocks(found, nest_loops(found), None)
    chosen = cache_blocks(found, loops, TARGET)
    least = transfer_seconds(found, chosen, TARGET)
    spatial = [loop for loop in loops if not loop.reduction]
    rest = [loop for loop in loops if loop.reduction]
    assert all(least <= transfer_seconds(found, [*order, *rest], TARGET) for order in itertools.permutations(spatial))


def test_a_scratchpad_bounds_the_blocks() -> None:
    """And the registers of a unit that has no scratchpad."""
    for name in ("gemmini_matmul", "tdpbusd"):
        intrinsic = find_intrinsic(name)
        kinds = {v.name: v.dtype.name for v in intrinsic.parsed.operands}
        a, b = (v.name for v in intrinsic.inputs)
        found = match(operators.gmm(m=512, n=512, k=512, dtype=kinds[a], right_dtype=kinds[b],
                                    accumulator=intrinsic.output.dtype.name), intrinsic).matches[0]
        blocks = register_blocks(found, nest_loops(found), None)
        tiles = dict.fromkeys(kinds, 1)
        for loop in blocks:
            tiles = {o: count * (loop.unroll if uses(found, o, loop) else 1) for o, count in tiles.items()}
        assert intrinsic.holds(tiles)
        assert max(tiles.values()) <= min(o.register.count for o in intrinsic.operands)
