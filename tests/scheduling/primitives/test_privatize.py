"""One copy of an array per iteration: the loop becomes parallel, and values stay."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Parallel, Privatize
from tests.scheduling.primitives.changed_programs import RUNNING, SCALAR, as_written, run


def test_privatized_scalar_lets_the_loop_run_in_parallel():
    before = as_written(SCALAR)
    with pytest.raises(IllegalScheduleError, match="carries the"):
        steps.apply(before, Parallel(loop="i"))
    after = steps.apply(before, Privatize(array="t", loop="i"), Parallel(loop="i"))
    assert len(after.scop.array("t").extents) == 1
    np.testing.assert_array_equal(run(after), run(before))


def test_privatize_refuses_a_carried_value():
    with pytest.raises((IllegalScheduleError, UsageError), match="'t'"):
        steps.apply(as_written(RUNNING), Privatize(array="t", loop="i"))


def test_privatize_refuses_what_lives_on():
    with pytest.raises(IllegalScheduleError, match="may be read after the region"):
        steps.apply(as_written(SCALAR), Privatize(array="out", loop="i"))
