"""Outputs that need little come first."""

import numpy as np

from polysched.graph import from_text, interpret
from polysched.graph.planning.early_outputs import early_outputs_first

GRAPH = from_text("""graph f(x: float32[4]) {
  let a = Exp(x)
  let unused = Neg(a)
  let b = Sqrt(a)
  let c = Neg(x)
  let d = Add(b, c)
  return d, c, x
}""")


def test_the_output_of_the_fewest_nodes_is_first_and_no_node_goes() -> None:
    made = early_outputs_first(GRAPH)
    assert [n.outputs[0] for n in made.nodes] == ["c", "a", "b", "d", "unused"]
    assert made.outputs == GRAPH.outputs


def test_values_stay() -> None:
    x = np.linspace(0, 1, 4, dtype=np.float32)
    for name, value in interpret(early_outputs_first(GRAPH), {"x": x}).items():
        np.testing.assert_array_equal(value, interpret(GRAPH, {"x": x})[name])
