"""A producer inside its consumer's loop: computed again where needed, and refused where values would change."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import ComputeAt, Shift, loops
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from tests.scheduling.primitives.changed_programs import BLUR, as_written, run


def test_compute_at_recomputes_what_each_iteration_needs():
    before = as_written(BLUR)
    fused = steps.apply(before, ComputeAt(producer="S0", loop="j"))
    assert [loop.name for loop in loops(steps.loop_tree(fused.tree))] == ["j", "i"]
    assert fused.scop.statement("S0").depth == 2
    np.testing.assert_array_equal(run(fused), run(before))


def test_compute_at_refuses_a_loop_that_misses_a_reader():
    text = BLUR.replace("#pragma endscop", "  for (int k = 0; k < n; k++)\n    out[k] += tmp[k];\n#pragma endscop")
    with pytest.raises(UsageError, match="reads what S0 writes, outside loop 'j'"):
        steps.apply(as_written(text), ComputeAt(producer="S0", loop="j"))


def test_compute_at_refuses_overwritten_inputs():
    text = BLUR.replace("out[j] = tmp[j] + tmp[j + 1];", "in[j + 1] = tmp[j] + tmp[j + 1];")
    with pytest.raises(IllegalScheduleError, match="S0_r0 would read another value of 'in'"):
        steps.apply(as_written(text), ComputeAt(producer="S0", loop="j"))


def test_compute_at_allows_inputs_that_are_overwritten_later():
    before = as_written(BLUR.replace("out[j] = tmp[j] + tmp[j + 1];", "in[j] = tmp[j] + tmp[j + 1];"))
    fused = steps.apply(before, ComputeAt(producer="S0", loop="j"))
    results = []
    for schedule in (before, fused):
        arrays = {"in": np.arange(1.0, 8.0)}
        execute(schedule.scop, {"n": 7}, arrays, tree=schedule.tree)
        results.append(arrays["in"])
    np.testing.assert_array_equal(*results)


def test_steps_replay_on_the_changed_program():
    before = as_written(BLUR)
    done = steps.apply(before, Shift(loop="j", statement="S1", amount=1), ComputeAt(producer="S0", loop="j"))
    again = steps.replay(before, [step.to_json() for step in done.steps])
    assert again.tree.to_str() == done.tree.to_str()


def test_a_producer_whose_values_are_overwritten_is_refused():
    """Memory-based dependences have a flow from S0, whose values nothing reads; y was 1 behind the step."""
    text = """
void f(int n, double y[n]) {
#pragma scop
  double a[n];
  for (int i = 0; i < n; i++)
    a[i] = 1.0;
  for (int i = 0; i < n; i++)
    a[i] = 2.0;
  for (int j = 0; j < n; j++)
    y[j] = a[j];
#pragma endscop
}
"""
    scop = from_c_text(text)
    before = Schedule(dependences=analyse(scop, value_based=False), tree=scop.schedule, algorithm="original")
    with pytest.raises(IllegalScheduleError, match="memory-based dependences"):
        steps.apply(before, ComputeAt(producer="S0", loop="j"))
