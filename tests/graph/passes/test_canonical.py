"""Canonical forms, before and after."""

from polysched.graph.passes.canonical import canonicalise
from tests.graph.passes.golden import behind


def test_canonicalise() -> None:
    assert behind(canonicalise, """graph f(x: float32[2, 3], z: float32[2, 3]) {
  const k: float32[] = [4.0]
  let a = Add(k, x)
  let b = Sub(a, k)
  let c = Div(b, k)
  let d = Sum(c, z)
  let e = Greater(d, x)
  let y = Flatten(e; axis=0)
  return y
}""") == """
  const k: float32[] = [4.0]
  const c_0: float32[] = [-4.0]
  const c_1: float32[] = [0.25]
  const c_2: int64[2] = [1, 6]
  let add_0 = Add(x, k)
  let add_1 = Add(add_0, c_0)
  let mul_0 = Mul(add_1, c_1)
  let add_2 = Add(mul_0, z)
  let less_0 = Less(x, add_2)
  let y = Reshape(less_0, c_2)
  return y
"""
