"""Graphs in float64."""

import numpy as np

from polysched.graph import from_text, interpret
from polysched.graph.passes.widening import widened, widened_array

GRAPH = from_text("""graph f(x: float32[2], i: int32[2]) {
  const a: float32[1] = [0.1]
  let c = Cast(i; to="float32")
  let s = Add(x, c)
  let y = Mul(s, a)
  return y
}""")


def test_everything_computes_in_float64() -> None:
    x = np.array([1e-9, 2.0], np.float32)
    found = interpret(widened(GRAPH), {"x": widened_array(x), "i": np.array([1, 1], np.int32)})["y"]
    assert found.dtype == np.float64
    assert found[0] == (1.0 + np.float64(x[0])) * np.float64(np.float32(0.1))


def test_whole_numbers_stay() -> None:
    assert widened_array(np.arange(2)).dtype == np.int64


def test_zeros_without_a_type_meet_wide_numbers() -> None:
    graph = from_text("""graph f(x: float32[2]) {
  const n: int64[1] = [2]
  let z = ConstantOfShape(n)
  let y = Add(x, z)
  return y
}""")
    assert interpret(widened(graph), {"x": np.array([1.0, 2.0])})["y"].dtype == np.float64
