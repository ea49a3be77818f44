"""Programs that steps change, and their values by the interpreter."""

from __future__ import annotations

import numpy as np

from polysched.dependence import analyse
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
