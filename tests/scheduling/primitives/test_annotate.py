"""Promises about loops: parallel, simd, unrolled; each refused where a dependence contradicts it."""

from __future__ import annotations

import pytest

from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Interchange, Parallel, Skew, Unroll, UnrollAndJam, Vectorize
from tests.scheduling.primitives.programs import names, order, product, stencil


def test_unroll_and_jam():
    jammed = steps.apply(product(), UnrollAndJam(loop="i", factor=2))
    assert names(jammed) == ["i_tile", "j", "k", "i"]
    assert [p for _, p in order(jammed)[:3]] == [(0, 0, 0), (1, 0, 0), (0, 0, 1)]
    with pytest.raises(UsageError, match="no loop directly inside"):
        steps.apply(product(), UnrollAndJam(loop="k", factor=2))
    with pytest.raises(UsageError, match="at least 2"):
        steps.apply(product(), Unroll(loop="k", factor=1))


def test_parallel():
    assert "parallel=1" in steps.apply(product(), Parallel(loop="i")).tree.to_str()
    with pytest.raises(IllegalScheduleError, match="step parallel: the loop marked parallel carries the") as caught:
        steps.apply(product(), Parallel(loop="k"))
    assert "different iterations" in caught.value.witness


def test_a_loop_that_loses_its_independence_is_refused():
    ready = steps.apply(stencil(), Skew(loop="i", by="t", factor=2), Interchange(outer="t", inner="i"))
    parallel = steps.apply(ready, Parallel(loop="t"))
    with pytest.raises(IllegalScheduleError, match="step interchange"):
        steps.apply(parallel, Interchange(outer="i", inner="t"))


def test_vectorize_only_innermost():
    assert "simd=1" in steps.apply(product(), Interchange(outer="j", inner="k"), Vectorize(loop="j")).tree.to_str()
    with pytest.raises(UsageError, match="is not innermost"):
        steps.apply(product(), Vectorize(loop="i"))
    with pytest.raises(IllegalScheduleError, match="marked simd"):
        steps.apply(product(), Vectorize(loop="k"))
