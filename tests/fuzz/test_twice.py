"""A graph and its copy."""

from __future__ import annotations

import numpy as np

from polysched.fuzz.twice import inputs_twice, twice
from polysched.graph import from_text, interpret
from tests.graph.passes.control_graphs import GRAPHS

GRAPH = from_text("""graph f(x: float32[3]) {
  const c: float32[3] = [1.0, 2.0, 3.0]
  let y = Add(x, c)
  return y
}""")


def test_both_copies_compute_the_graph_on_their_own_inputs() -> None:
    both = twice(GRAPH)
    assert both is not None
    x, other = np.ones(3, np.float32), np.full(3, 5, np.float32)
    found = interpret(both, inputs_twice({"x": x}, {"x": other}))
    assert found["y"].tolist() == [2, 3, 4]
    assert found["other y"].tolist() == [6, 7, 8]


def test_a_graph_with_regions_has_no_copy() -> None:
    assert twice(GRAPHS["nested"]) is None
