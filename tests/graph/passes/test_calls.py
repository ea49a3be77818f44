"""Functions in place, and basic blocks, before and after."""

from polysched.graph.passes.calls import basic_block_form, defuse, inline_calls
from polysched.graph.passes.fusion import fuse_by_dominators
from tests.graph.passes.golden import FUSABLE, behind


def test_inline_calls() -> None:
    assert behind(inline_calls, """graph f(x: float32[3]) {
  let a, b = Call(x) {
    graph double(p) {
      const k: float32[] = [2.0]
      let u = Mul(p, k)
      let v = Call(u) {
        graph inner(q) {
          let w = Neg(q)
          return w
        }
      }
      return u, v
    }
  }
  let c = Add(a, b)
  return c
}""") == """
  const k_0: float32[] = [2.0]
  let u_0 = Mul(x, k_0)
  let w_0 = Neg(u_0)
  let c = Add(u_0, w_0)
  return c
"""


def test_basic_block_form() -> None:
    assert behind(basic_block_form, """graph f(c: bool[], x: float32[3]) {
  let a = Exp(x)
  let b = Neg(a)
  let s = Abs(x)
  let y = If(c) {
    graph yes() {
      let u = Add(b, s)
      return u
    }
    graph no() {
      let v = Mul(s, x)
      return v
    }
  }
  return y
}""") == """
  let s = Abs(x)
  let y = If(c) {
    graph yes() {
      let a = Exp(x)
      let b = Neg(a)
      let u = Add(b, s)
      return u
    }
    graph no() {
      let v = Mul(s, x)
      return v
    }
  }
  return y
"""


def test_defuse() -> None:
    assert behind(lambda graph: defuse(fuse_by_dominators(graph)), FUSABLE) == """
  const w: float32[1, 1, 3] = [1.0, 2.0, 3.0]
  const ax: int64[1] = [2]
  const k0_0: float32[] = [2.0]
  let v0_0 = Exp(s)
  let v1_0 = Conv(x, w; pads=[1, 1])
  let v2_0 = Relu(v1_0)
  let v3_0 = Mul(v2_0, k0_0)
  let v4_0 = Add(v3_0, v0_0)
  let v5_0 = Neg(v4_0)
  let v6_0 = Abs(v4_0)
  let v7_0 = Mul(v5_0, v6_0)
  let y = ReduceSum(v7_0, ax; keepdims=0)
  return y
"""
