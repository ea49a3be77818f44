"""Common subexpressions, before and after."""

from polysched.graph.passes.common import common_subexpressions
from tests.graph.passes.golden import behind


def test_common_subexpressions() -> None:
    assert behind(common_subexpressions, """graph f(c: bool[], x: float32[3]) {
  const k: float32[] = [2.0]
  const l: float32[] = [2.0]
  let a = Mul(x, k)
  let b = Mul(x, l)
  let y = If(c) {
    graph yes() {
      let d = Mul(x, k)
      let e = Add(d, b)
      return e
    }
    graph no() {
      let f = Neg(x)
      let g = Neg(x)
      let h = Mul(f, g)
      return h
    }
  }
  let z = Add(a, y)
  return z
}""") == """
  const k: float32[] = [2.0]
  let a = Mul(x, k)
  let y = If(c) {
    graph yes() {
      let e = Add(a, a)
      return e
    }
    graph no() {
      let f = Neg(x)
      let h = Mul(f, f)
      return h
    }
  }
  let z = Add(a, y)
  return z
"""


def test_attributes_that_only_compare_equal_differ() -> None:
    assert behind(common_subexpressions, """graph f(x: float32[1]) {
  const s: int64[1] = [1]
  let a = ConstantOfShape(s; dtype="float32", value=0.0)
  let b = ConstantOfShape(s; dtype="float32", value=-0.0)
  let c = Div(x, a)
  let d = Div(x, b)
  let y = Sub(c, d)
  return y
}""") == """
  const s: int64[1] = [1]
  let a = ConstantOfShape(s; dtype="float32", value=0.0)
  let b = ConstantOfShape(s; dtype="float32", value=-0.0)
  let c = Div(x, a)
  let d = Div(x, b)
  let y = Sub(c, d)
  return y
"""
