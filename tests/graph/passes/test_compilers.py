"""Regions of one compiler, before and after."""

from polysched.graph import Graph
from polysched.graph.passes.compilers import merge_compiler_regions
from tests.graph.passes.golden import behind


def test_neighbours_become_one_function() -> None:
    assert behind(merge_compiler_regions, """graph f(x: float32[3]) {
  let a = Exp(x)
  let b = Neg(a)
  let c = Add(a, b)
  return c
}""") == """
  let c = Call(x; compiler="polysched") {
    graph polysched(p0) {
      let v0 = Exp(p0)
      let v1 = Neg(v0)
      let v2 = Add(v0, v1)
      return v2
    }
  }
  return c
"""


def test_what_would_wait_for_another_compiler_stands_apart() -> None:
    def with_ours(graph: Graph) -> Graph:
        return merge_compiler_regions(graph, lambda node: "" if node.op == "Sqrt" else "ours")
    assert behind(with_ours, """graph f(x: float32[3]) {
  let a = Abs(x)
  let b = Sqrt(a)
  let c = Neg(a)
  let d = Add(c, b)
  let e = Exp(c)
  return d, e
}""") == """
  let a, c, e = Call(x; compiler="ours") {
    graph ours(p0) {
      let v0 = Abs(p0)
      let v1 = Neg(v0)
      let v2 = Exp(v1)
      return v0, v1, v2
    }
  }
  let b = Sqrt(a)
  let d = Call(c, b; compiler="ours") {
    graph ours(p0, p1) {
      let v0 = Add(p0, p1)
      return v0
    }
  }
  return d, e
"""
