"""What only training needs goes, before and after."""

from polysched.graph.passes.for_inference import simplify_inference
from tests.graph.passes.golden import behind


def test_simplify_inference() -> None:
    assert behind(simplify_inference, """graph f(x: float32[1, 2, 3]) {
  const w: float32[2, 2, 1] = [1.0, 2.0, 3.0, 4.0]
  const s: float32[2] = [2.0, 4.0]
  const b: float32[2] = [1.0, 0.5]
  const m: float32[2] = [0.5, 1.0]
  const v: float32[2] = [1.0, 4.0]
  let c = Conv(x, w)
  let n = BatchNormalization(c, s, b, m, v; epsilon=0.0)
  let y = Dropout(n)
  return y
}""", 1e-6) == """
  const c_0: float32[2, 2, 1] = [2.0, 4.0, 6.0, 8.0]
  const c_1: float32[2] = [0.0, -1.5]
  let y = Conv(x, c_0, c_1)
  return y
"""
