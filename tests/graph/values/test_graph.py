"""Graphs: single binding, what regions see, who uses what."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Graph, Node, from_text
from polysched.graph.passes.registry import PASSES

TEXT = """graph f(x: float32[N]) {
  let a = Exp(x)
  let b = If(a) {
    graph yes() {
      let c = Add(x, a)
      return c
    }
  }
  return b
}"""


def test_a_value_is_bound_once() -> None:
    nodes = (Node.of("Exp", ("x",), ("y",)), Node.of("Neg", ("x",), ("y",)))
    with pytest.raises(UnsupportedGraphError, match="'y' is bound twice"):
        Graph(name="g", inputs=(), nodes=nodes, outputs=("y",))


def test_a_region_uses_the_values_around_it() -> None:
    graph = from_text(TEXT)
    assert graph.nodes[1].used == ("a", "x")
    assert [n.op for n in graph.users["x"]] == ["Exp", "If"]
    assert [n.op for n in graph.walk()] == ["Exp", "If", "Add"]
    assert (graph.free, graph.symbols) == ((), ("N",))


def test_it_shows_itself_in_one_line() -> None:
    assert repr(from_text(TEXT)) == "<Graph f: 2 nodes, 0 constants, 1 inputs, 1 outputs>"
    assert str(from_text(TEXT)) == TEXT


def test_the_type_of_an_unknown_value_is_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="the type of 'a' is not known") as refusal:
        from_text(TEXT).type_of("a")
    assert refusal.value.hint == "infer types first: polysched.graph.passes.registry.PASSES['with_types']"
    plain = from_text("graph f(x: float32[N]) {\n  let a = Exp(x)\n  return a\n}")
    assert str(PASSES["with_types"].run(plain).type_of("a")) == "float32[N]"
