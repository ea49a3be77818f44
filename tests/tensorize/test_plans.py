"""Plans: the tiling room's tiles around an instruction, register blocks by rank, and the choice by measurement."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.target import Target, host
from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.choice import executes_here
from polysched.tensorize.emission import EmissionOptions, blocking, emit_match
from polysched.tensorize.emission.cost import copy_cycles
from polysched.tensorize.emission.nest import NestLoop
from polysched.tensorize.emission.plan import Plan, PlanChoice, Tiling, block_cases, make_plan
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.plan_candidates import candidate_plans, kept_operands
from polysched.tiling.footprints import streams
from tests.tensorize.compiled import call, compiled

BYTES = {"dtype": "uint8", "right_dtype": "int8", "accumulator": "int32"}


def product(name: str, *, m: int, n: int, k: int) -> Match:
    """The cheapest match of an instruction in a product of bytes."""
    return match(operators.gmm(m=m, n=n, k=k, **BYTES), find_intrinsic(name)).matches[0]


def plan(found: Match, tiling: Tiling) -> Plan:
    return make_plan(found, emulated=False, target=host(), choice=PlanChoice(tiling=tiling))


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


def test_tiles_that_threads_take_are_neither_few_nor_short() -> None:
    """Panels are longer than the first cache where their rows come ahead of their use."""
    deep = plan(product("vpdpbusd", m=1024, n=1024, k=1024), Tiling.HANDED_OUT)
    assert deep.handed_out
    assert deep.loops[0].tiles >= blocking.LEAST_HANDED_OUT
    assert not deep.loops[-1].tile
    short = plan(product("vpdpbusd", m=64, n=64, k=64), Tiling.HANDED_OUT)
    assert not short.handed_out
    assert short.tiling is Tiling.CACHES


def test_register_blocks_are_ranked() -> None:
    found = product("vpdpbusd", m=64, n=256, k=64)
    plans = [make_plan(found, emulated=False, target=host(), choice=PlanChoice(block=b)) for b in range(3)]
    blocks = {tuple((loop.name, loop.unroll) for loop in sorted(p.loops, key=lambda x: x.name)) for p in plans}
    assert len(blocks) == 3


@pytest.mark.parametrize(("name", "k"), [("vpdpbusd", 72), ("tdpbusd", 70)])
def test_every_plan_computes_the_same(name: str, k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that no block of registers divides; 72 are whole groups of four, so that A is read in place."""
    if not executes_here(find_intrinsic(name)):
        pytest.skip(f"this machine does not execute {name}")
    monkeypatch.setattr(blocking, "LEAST_CYCLES", 1)   # tiles are handed out however short they are
    monkeypatch.setattr(blocking, "LEAST_HANDED_OUT", 2)   # and few,
    monkeypatch.setattr(streams, "FEWEST_STREAMED_BYTES", 0)   # and panels fetched ahead
    chooser = np.random.default_rng(3)
    found = product(name, m=67, n=131, k=k)
    a, b = chooser.integers(0, 256, (67, k), np.uint8), chooser.integers(-128, 128, (k, 131), np.int8)
    wanted = a.astype(np.int32) @ b.astype(np.int32)
    emitted = [emit_match(found, f"plan{i}", EmissionOptions(zero=True, choice=choice))
               for i, (choice, _) in enumerate(candidate_plans(found, target=host(), blocks=2))]
    handed_out = [e for e in emitted if e.plan.handed_out]
    assert handed_out
    assert all("#pragma omp for schedule(dynamic) nowait" in e.text for e in handed_out)
    assert any(len(block_cases(e.plan)) == 2 for e in handed_out) == (name == "vpdpbusd")
    assert all(("__builtin_prefetch((const char *)(B" in e.text) == (name == "vpdpbusd") for e in emitted)
    library = compiled(emitted, tmp_path)
    for function in emitted:
        arrays = {"C": np.full((67, 131), 9, np.int32), "A": a, "B": b}
        call(library, function, arrays)
        np.testing.assert_array_equal(arrays["C"], wanted, err_msg=str(function.plan))


def test_operands_of_constant_arrays_are_kept() -> None:
    found = product("vpdpbusd", m=32, n=32, k=32)
    assert kept_operands(found, ("B",)) == ("B",)
    assert kept_operands(found, ("C",)) == ()


def test_elements_that_are_copied_one_by_one_cost_more() -> None:
    """Of the two ways to compute a product by multiply-adds of vectors one turns the result and an operand around."""
    found = match(operators.gmm(m=65, n=131, k=67, dtype="float32", accumulator="float32"),
                  find_intrinsic("fma_f32_avx512"))
    plans = {str(m.assignment.expression("B")): make_plan(m, emulated=False, target=host()) for m in found.with_mirrors}
    straight, turned = (next(p for p in plans.values() if p.place("C").packed is packed) for packed in (False, True))
    assert copy_cycles(straight, straight.place("B")) == 0.25 * straight.place("B").elements
    assert copy_cycles(turned, turned.place("B")) == turned.place("B").elements
    assert copy_cycles(turned, turned.place("C")) == 2 * turned.place("C").elements


@pytest.mark.parametrize(("name", "block"), [
    ("fma_f32_avx2", [2, 6]), ("fma_f64_avx2", [2, 6]), ("fma_f32_avx512", [4, 6])])
def test_blocks_leave_a_register_and_read_few_bytes(name: str, block: list[int]) -> None:
    """Three by four vectors need fewer loads, but all of 16 registers; two vectors by six read less than six by two."""
    intrinsic = find_intrinsic(name)
    dtype = intrinsic.output.dtype.name
    found = match(operators.gmm(m=1024, n=1024, k=1024, dtype=dtype, accumulator=dtype), intrinsic).matches[0]
    made = make_plan(found, emulated=False, target=Target(vector_bits=256, vector_registers=16, cores=2))
    assert sorted(loop.unroll for loop in made.unrolled) == block
    rows = next(loop for loop in made.unrolled if loop.unroll == block[-1])
    assert [v.name for v in intrinsic.inputs if blocking.uses(made.match, v.name, rows) and v.elements == 1]


@pytest.mark.parametrize(("unroll", "held"), [((4, 2), True), ((2, 4), True), ((4, 1), True), ((1, 4), False),
                                              ((6, 2), False)])
def test_what_rows_share_is_kept_in_a_register_where_one_is_left(unroll: tuple[int, int], *, held: bool) -> None:
    """Loaded once per block, not read again by every row; six rows of two vectors take all sixteen registers."""
    found = product("vpmaddwd", m=48, n=64, k=64)
    by_rows = next(m for m in match(operators.gmm(m=48, n=64, k=64, **BYTES), found.intrinsic).with_mirrors
                   if m.loops[0] == ("j",))
    text = emit_match(by_rows, "f", EmissionOptions(unroll=unroll, target=host())).text
    assert ('asm("" : "+x"(rB' in text) == held
    assert 'asm("" : "+x"(rA' not in text
