"""Fusion by dominators, before and after."""

from polysched.graph import from_text
from polysched.graph.passes.fusion import fuse_by_dominators, groups_by_dominators
from polysched.graph.passes.simple import with_types
from tests.graph.passes.golden import FUSABLE, behind


def test_fuse_by_dominators() -> None:
    assert behind(fuse_by_dominators, FUSABLE) == """
  const w: float32[1, 1, 3] = [1.0, 2.0, 3.0]
  const ax: int64[1] = [2]
  let h = Call(s, x, w; fused=1) {
    graph fused(p0, p1, p2) {
      const k0: float32[] = [2.0]
      let v0 = Exp(p0)
      let v1 = Conv(p1, p2; pads=[1, 1])
      let v2 = Relu(v1)
      let v3 = Mul(v2, k0)
      let v4 = Add(v3, v0)
      let v5 = Neg(v4)
      let v6 = Abs(v4)
      let v7 = Mul(v5, v6)
      return v7
    }
  }
  let y = ReduceSum(h, ax; keepdims=0)
  return y
"""


def test_groups_hold_every_node_once_and_are_those_that_become_functions() -> None:
    graph = with_types(from_text(FUSABLE))
    groups = groups_by_dominators(graph)
    assert sorted(place for g in groups for place in g) == list(range(len(graph.nodes)))
    assert sorted(map(len, groups)) == [1, 8]
