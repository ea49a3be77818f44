"""Rules replace nodes; outputs keep their names; rules that never end are refused."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Graph, Node, from_text
from polysched.graph.passes.rewriting import rewritten, until_nothing_fits
from tests.graph.passes.golden import body

GRAPH = from_text("""graph f(x: float32[2]) {
  let a = Exp(x)
  let b = Exp(a)
  return b, a
}""")


def test_an_output_keeps_its_name() -> None:
    made = rewritten(GRAPH, lambda node, rw: (node.inputs[0],))
    assert body(made) == """
  let b = Identity(x)
  let a = Identity(x)
  return b, a
"""


def test_the_first_rule_that_fits_replaces_a_node() -> None:
    made = rewritten(GRAPH, lambda node, rw: (rw.op("Neg", *node.inputs),), lambda node, rw: (node.inputs[0],))
    assert body(made) == """
  let a = Neg(x)
  let b = Neg(a)
  return b, a
"""


def test_rules_without_end_are_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="do not come to an end"):
        until_nothing_fits(GRAPH, lambda node, rw: (rw.op("Exp", *node.inputs),))


def test_a_rule_sees_no_node_that_is_malformed() -> None:
    graph = Graph(name="f", inputs=(), nodes=(Node.of("Reshape", (), ("y",)),), outputs=("y",))
    with pytest.raises(UnsupportedGraphError, match="operand 0 is missing"):
        rewritten(graph, lambda node, rw: (node.inputs[0],))
