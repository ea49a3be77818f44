"""Operators of many operands, before and after."""

from polysched.graph.passes.arguments import split_arguments
from tests.graph.passes.golden import behind


def test_split_arguments() -> None:
    assert behind(lambda graph: split_arguments(graph, 2), """graph f(x: float32[1], a: float32[2], b: float32[3]) {
  let y = Concat(x, a, b, x, a; axis=0)
  return y
}""") == """
  let concat_0 = Concat(x, a; axis=0)
  let concat_1 = Concat(b, x; axis=0)
  let concat_2 = Concat(concat_0, concat_1; axis=0)
  let y = Concat(concat_2, a; axis=0)
  return y
"""
