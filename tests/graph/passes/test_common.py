"""Common subexpressions, before and after."""

import numpy as np

from polysched.graph import from_text
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


def test_constants_that_differ_between_the_elements_that_are_looked_at_first_stay_two() -> None:
    one, other = np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    other[7], same = 1, np.zeros(1000, np.float32)
    negative = -one
    graph = from_text("""graph f(x: float32[1000]) {
  let a = Add(x, k0)
  let b = Add(a, k1)
  let c = Add(b, k2)
  let d = Add(c, k3)
  return d
}""").but(constants={"k0": one, "k1": other, "k2": same, "k3": negative})
    assert set(common_subexpressions(graph).constants) == {"k0", "k1", "k3"}
