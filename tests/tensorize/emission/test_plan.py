"""Plans: tiles around register blocks, and what copies cost."""

from dataclasses import replace

import numpy as np
import pytest

from polysched.target import Target, host
from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.emission.cost import copy_cycles
from polysched.tensorize.emission.nest import NestLoop
from polysched.tensorize.emission.plan import Tiling, make_plan
from polysched.tensorize.matching.mapping import Match
from tests.tensorize.products import plan, product


def test_tiles_of_the_tiling_room_are_whole_register_blocks_and_fit() -> None:
    found = product("tdpbusd", m=4096, n=4096, k=4096)
    made = plan(found, Tiling.DATA_VOLUME)
    assert any(loop.tile for loop in made.loops)
    for loop in made.loops:
        assert 0 <= loop.tile < loop.blocks
    sides = {loop.group: (loop.tile or loop.blocks) * loop.unroll * found.extent(loop.group) for loop in made.loops}
    inputs = sum(np.prod([sides[g] for g, part in enumerate(found.groups) if v.name in part.indexes]) * v.dtype.bytes
                 for v in found.intrinsic.inputs)
    assert inputs <= host().caches[1].size_bytes
    assert "tiles by data volume" in str(made)


@pytest.mark.parametrize(("depth", "tile"), [(4096, 2), (128, 0)])
def test_reductions_may_be_tiled_twice_as_deep(depth: int, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One tile that would be all of the loop is no tile."""
    found = product("vpdpbusd", m=64, n=256, k=depth)

    def tiled(match: Match, loops: list[NestLoop], target: Target) -> list[NestLoop]:
        return [replace(loop, tile=loop.blocks // 4 if depth > 128 else loop.blocks // 2) for loop in loops]
    monkeypatch.setattr("polysched.tensorize.emission.plan.cache_blocks", tiled)
    for usual, deeper in zip(plan(found, Tiling.CACHES).loops, plan(found, Tiling.DEEPER).loops, strict=True):
        assert deeper.tile == (tile * usual.tile if usual.reduction else usual.tile)


def test_elements_that_are_copied_one_by_one_cost_more() -> None:
    """Of the two ways to compute a product by multiply-adds of vectors one turns the result and an operand around."""
    found = match(operators.gmm(m=65, n=131, k=67, dtype="float32", accumulator="float32"),
                  find_intrinsic("fma_f32_avx512"))
    plans = {str(m.assignment.expression("B")): make_plan(m, emulated=False, target=host()) for m in found.with_mirrors}
    straight, turned = (next(p for p in plans.values() if p.place("C").packed is packed) for packed in (False, True))
    assert copy_cycles(straight, straight.place("B")) == 0.25 * straight.place("B").elements
    assert copy_cycles(turned, turned.place("B")) == turned.place("B").elements
    assert copy_cycles(turned, turned.place("C")) == 2 * turned.place("C").elements
