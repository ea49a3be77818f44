"""Inputs that decide about shapes."""

from polysched.graph import from_text
from polysched.graph.evaluation.steering import steering_inputs


def test_they_are_found_through_arithmetic_but_not_through_shapes() -> None:
    graph = from_text("""graph f(x: float32[4], n: int64[1], y: float32[2], z: int64[3]) {
      let s = Shape(y)
      let t = Mul(s, n)
      let r = Reshape(x, t)
      let q = Add(z, z)
      return r, q
    }""")
    assert steering_inputs(graph) == ("n",)
