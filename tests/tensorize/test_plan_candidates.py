"""Candidates for plans: by rank, with tiles that threads take, each computing the same."""

from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import pytest

from polysched.target import Costs, host
from polysched.tensorize import find_intrinsic
from polysched.tensorize.choice import executes_here
from polysched.tensorize.emission import EmissionOptions, blocking, emit_match
from polysched.tensorize.emission.plan import PlanChoice, Tiling, block_cases, make_plan
from polysched.tensorize.plan_candidates import candidate_plans, kept_operands
from polysched.tiling.footprints import streams
from tests.tensorize.compiled import call, compiled
from tests.tensorize.products import plan, product


def test_tiles_that_threads_take_are_neither_few_nor_short() -> None:
    """Panels are longer than the first cache where their rows come ahead of their use."""
    deep = plan(product("vpdpbusd", m=1024, n=1024, k=1024), Tiling.HANDED_OUT)
    assert deep.handed_out
    assert prod(loop.tiles for loop in deep.loops if not loop.reduction) >= blocking.LEAST_HANDED_OUT
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
    monkeypatch.setattr(blocking, "LEAST_HANDED_OUT", 2)   # tiles are handed out however few,
    monkeypatch.setattr(streams, "STREAMED_WAYS", 0)   # and panels fetched ahead
    chooser = np.random.default_rng(3)
    target = replace(host(), costs=Costs(team_worth=1e-9))   # and however short they are
    found = product(name, m=67, n=131, k=k)
    a, b = chooser.integers(0, 256, (67, k), np.uint8), chooser.integers(-128, 128, (k, 131), np.int8)
    wanted = a.astype(np.int32) @ b.astype(np.int32)
    emitted = [emit_match(found, f"plan{i}", EmissionOptions(zero=True, choice=choice, target=target))
               for i, (choice, _) in enumerate(candidate_plans(found, target=target, blocks=2))]
    handed_out = [e for e in emitted if e.plan.handed_out]
    assert handed_out
    assert all("#pragma omp for schedule(dynamic)" in e.text for e in handed_out)
    assert any(len(block_cases(e.plan)) == 2 for e in handed_out) == (name == "vpdpbusd")
    fetched = "__builtin_prefetch((const void *)((__UINTPTR_TYPE__)(B"
    assert all((fetched in e.text) == (name == "vpdpbusd") for e in emitted)
    library = compiled(emitted, tmp_path)
    for function in emitted:
        arrays = {"C": np.full((67, 131), 9, np.int32), "A": a, "B": b}
        call(library, function, arrays)
        np.testing.assert_array_equal(arrays["C"], wanted, err_msg=str(function.plan))


def test_operands_of_constant_arrays_are_kept() -> None:
    found = product("vpdpbusd", m=32, n=32, k=32)
    assert kept_operands(found, ("B",)) == ("B",)
    assert kept_operands(found, ("C",)) == ()
