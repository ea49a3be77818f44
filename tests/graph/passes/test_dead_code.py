"""Dead code, before and after."""

from polysched.graph.passes.dead_code import remove_dead_code
from tests.graph.passes.golden import golden


def test_remove_dead_code() -> None:
    golden(remove_dead_code, """graph f(c: bool[], x: float32[3]) {
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
}""", """
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
""")
