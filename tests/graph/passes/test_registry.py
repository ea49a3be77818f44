"""All passes on random graphs and on control flow: the interpreter computes the same before and after."""

import numpy as np
import pytest

from polysched.fuzz.graph_campaign import behind
from polysched.fuzz.operator_graphs import graph_inputs, random_graph
from polysched.graph import from_text, interpret, to_text
from polysched.graph.passes.registry import PASSES, STANDARD, standard
from polysched.model.verification import check


@pytest.mark.parametrize("name", [n for n in PASSES if n not in ("mixed_precision", "fast_math")])
def test_random_graphs_compute_the_same_behind_a_pass(name: str) -> None:
    for seed in range(12):
        graph = random_graph(seed, nodes=10)
        inputs = graph_inputs(graph, seed)
        wanted, made = interpret(graph, inputs), behind(PASSES[name], graph)
        assert made.outputs == graph.outputs
        found = interpret(from_text(to_text(made)), inputs)
        check(found, wanted, name)
        if PASSES[name].exact:
            assert all(np.array_equal(found[n], wanted[n], equal_nan=found[n].dtype.kind == "f") for n in wanted)


def test_every_pass_says_what_it_does() -> None:
    assert len(PASSES) >= 21
    assert {run.__name__ for run in STANDARD} <= set(PASSES)
    for each in PASSES.values():
        assert 10 < len(each.summary) < 160, each.name


def test_a_branch_on_data_passes_what_needs_no_choice() -> None:
    graph = from_text("""graph f(c: bool[], x: float32[2]) {
  let y = If(c) {
    graph yes() {
      let a = Exp(x)
      return a
    }
    graph no() {
      return x
    }
  }
  let z = Neg(y)
  return z
}""")
    inputs = {"c": np.array(False), "x": np.ones(2, np.float32)}
    for each in PASSES.values():
        if each.run in STANDARD[:1]:
            continue
        assert np.array_equal(interpret(each.run(graph), inputs)["z"], -np.ones(2, np.float32)), each.name


def test_the_standard_passes_leave_no_composition() -> None:
    graph = standard(from_text("""graph f(x: float32[2, 3]) {
  let y = Softmax(x)
  return y
}"""))
    assert [n.op for n in graph.nodes] == ["ReduceMax", "Sub", "Exp", "ReduceSum", "Div"]
