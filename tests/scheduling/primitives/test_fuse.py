"""Fusion of neighbouring loops, and distribution."""

from __future__ import annotations

import pytest

from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Distribute, Fuse, Shift
from tests.scheduling.primitives.programs import names, order, product, split_two_loops


def test_fuse_needs_alignment():
    with pytest.raises(IllegalScheduleError, match="step fuse breaks the flow dependence S0_w1 -> S1_r0 on B"):
        steps.apply(split_two_loops(), Fuse(first="i", second="j"))
    shifted = steps.apply(split_two_loops(), Shift(loop="j", statement="S1", amount=1), Fuse(first=0, second=1))
    assert names(shifted) == ["i"]
    assert order(shifted, 2) == [("S0", (0,)), ("S0", (1,)), ("S1", (0,)), ("S0", (2,)), ("S1", (1,))]


def test_fuse_refuses_loops_that_are_not_neighbours():
    with pytest.raises(UsageError, match="are not neighbours"):
        steps.apply(product(), Fuse(first="i", second="j"))


def test_distribute_undoes_fuse():
    fused = steps.apply(split_two_loops(), Shift(loop="j", statement="S1", amount="1"), Fuse(first=0, second=1))
    apart = steps.apply(fused, Distribute(loop="i"))
    assert names(apart) == ["i", "j"]
    with pytest.raises(UsageError, match="no sequence directly inside"):
        steps.apply(apart, Distribute(loop="i"))
