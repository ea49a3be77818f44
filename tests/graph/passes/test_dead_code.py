"""Dead code, before and after."""

from polysched.graph.passes.dead_code import remove_dead_code
from tests.graph.passes.golden import behind


def test_remove_dead_code() -> None:
    assert behind(remove_dead_code, """graph f(c: bool[], x: float32[3]) {
  const k: float32[] = [2.0]
  let dead = Call(x) {
    graph unused(a) {
      let b = Exp(a)
      return b
    }
  }
  let y, z = If(c) {
    graph yes() {
      let d = Mul(x, k)
      return x, d
    }
    graph no() {
      let f = Neg(x)
      return f, x
    }
  }
  return y
}""") == """
  let y = If(c) {
    graph yes() {
      return x
    }
    graph no() {
      let f = Neg(x)
      return f
    }
  }
  return y
"""


def test_nodes_and_constants_that_no_output_needs_go() -> None:
    assert behind(remove_dead_code, """graph f(x: float32[3, 6], k: int64[1]) {
  const two: int64[1] = [2]
  const three: int64[1] = [3]
  let s = Shape(x)
  let dead = Exp(x)
  let axes = Sub(two, k)
  let y = Add(axes, two)
  return y
}""") == """
  const two: int64[1] = [2]
  let axes = Sub(two, k)
  let y = Add(axes, two)
  return y
"""
