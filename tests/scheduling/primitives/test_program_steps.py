"""Steps that change the program: the values stay, shown by the dependences and by running the interpreter."""

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import ComputeAt, Parallel, Privatize, Shift, loops
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute

BLUR = """
void blur(int n, double in[n], double out[n]) {
#pragma scop
  double tmp[n];
  for (int i = 0; i < n; i++)
    tmp[i] = 2.0 * in[i];
  for (int j = 0; j < n - 1; j++)
    out[j] = tmp[j] + tmp[j + 1];
#pragma endscop
}
"""

SCALAR = """
void scale(int n, double in[n], double out[n]) {
#pragma scop
  double t;
  for (int i = 0; i < n; i++) {
    t = in[i] * in[i];
    out[i] = t + 1.0;
  }
#pragma endscop
}
"""

RUNNING = SCALAR.replace("double t;", "double t;\n  t = 0.0;").replace("t = in[i] * in[i];", "t = t + in[i];")


def as_written(text):
    scop = from_c_text(text)
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def run(schedule, size=7):
    arrays = {"in": np.arange(1.0, size + 1.0), "out": np.zeros(size)}
    execute(schedule.scop, {"n": size}, arrays, tree=schedule.tree)
    return arrays["out"]


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
