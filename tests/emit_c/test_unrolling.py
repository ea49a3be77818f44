"""A loop that isl cannot unroll is emitted as it is, and the fallback says so."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.emit_c import emit
from polysched.fuzz.configuration import Configuration
from polysched.fuzz.generator import generate
from polysched.scop import from_c_text

NOT_UNROLLED = "tile separation and unrolling by isl were dropped: a loop to be unrolled has no single lower bound"


@pytest.mark.parametrize(("seed", "scheduler", "steps"), [(20003, "original", 1), (20015, "pluto", 4)])
def test_a_loop_without_a_single_lower_bound_stays(seed: int, scheduler: str, steps: int) -> None:
    scop = from_c_text(generate(seed).text())
    tiled = Configuration(scheduler=scheduler, steps=steps, steps_seed=seed).transform(scop, analyse(scop))
    source = emit(tiled)
    assert source.fallbacks == (NOT_UNROLLED,)
    assert "for (" in source.text
