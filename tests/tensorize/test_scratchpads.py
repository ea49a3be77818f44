"""Scratchpads with a capacity: register blocks fill no more, and a description that cannot hold one tile is refused."""

from dataclasses import replace

import pytest

from polysched.tensorize import Intrinsic, find_intrinsic, match, operators
from polysched.tensorize.description.intrinsic import Scratchpad
from polysched.tensorize.emission.plan import make_plan

UNIT = find_intrinsic("gemmini_matmul")


def with_capacity(input_bytes: int, result_bytes: int) -> Intrinsic:
    """Gemmini with smaller memories, and registers enough."""
    return replace(UNIT, name=f"small_{input_bytes}_{result_bytes}",
                   operands=tuple(replace(o, register=replace(o.register, count=99)) for o in UNIT.operands),
                   scratchpads=(Scratchpad(name="scratchpad", capacity_bytes=input_bytes),
                                Scratchpad(name="accumulator", capacity_bytes=result_bytes)))


@pytest.mark.parametrize(("input_bytes", "result_bytes", "most"), [
    (1 << 18, 1 << 16, 64), (1 << 18, 4096, 4), (1 << 18, 1024, 1), (768, 1 << 16, 2), (512, 1 << 16, 1)])
def test_blocks_of_registers_stay_within_the_capacity(input_bytes: int, result_bytes: int, most: int) -> None:
    unit = with_capacity(input_bytes, result_bytes)
    found = match(operators.gmm(m=512, n=512, k=64, dtype="int8", accumulator="int32"), unit).matches[0]
    plan = make_plan(found, emulated=False)
    tiles = {o.name: 1 for o in unit.operands}
    for loop in plan.unrolled:
        tiles |= {o: n * loop.unroll for o, n in tiles.items() if plan.uses(o, loop)}
    assert tiles["A"] * 256 + tiles["B"] * 256 <= input_bytes
    assert tiles["C"] * 1024 <= result_bytes
    assert 1 <= tiles["C"] <= most
    assert tiles["C"] > 1 or most == 1   # the capacity is used where there is some


def test_a_tile_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="one execution exceed the capacity"):
        with_capacity(511, 1 << 16)


def test_an_operand_names_its_scratchpad() -> None:
    with pytest.raises(ValueError, match=r"operand C lies in a scratchpad, but does not name one of \['scratchpad'"):
        replace(UNIT, operands=tuple(replace(o, scratchpad="") for o in UNIT.operands))
