"""Fast math, before and after."""

from polysched.graph.passes.fast_math import fast_math
from tests.graph.passes.golden import behind


def test_fast_math() -> None:
    assert behind(fast_math, """graph f(x: float32[3]) {
  const k: float32[] = [3.0]
  const z: float32[] = [0.0]
  let a = Exp(x)
  let b = Add(a, z)
  let y = Div(b, k)
  return y
}""", 1e-5) == """
  const c_0: float32[] = [0.3333333432674408]
  let fastexp_0 = FastExp(x)
  let y = Mul(fastexp_0, c_0)
  return y
"""
