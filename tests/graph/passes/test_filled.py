"""Tensors of one number, before and after."""

from polysched.graph.passes.filled import lazy_initialisation
from tests.graph.passes.golden import behind


def test_lazy_initialisation() -> None:
    assert behind(lazy_initialisation, """graph f(x: float32[2, 3], n: int32[2, 3]) {
  const s: int64[2] = [3, 2]
  const o: float32[2, 3] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
  let z = ConstantOfShape(s; dtype="float32", value=0)
  let t = Transpose(z)
  let u = Add(t, o)
  let v = Mul(x, u)
  let w = Add(v, t)
  let a = ConstantOfShape(s; dtype="int32", value=0)
  let b = Transpose(a)
  let c = Mul(n, b)
  let y = Add(n, c)
  return w, y
}""") == """
  const c_6: float32[] = [0.0]
  let w = Add(x, c_6)
  let y = Identity(n)
  return w, y
"""
