"""Random graphs with more operators, control flow on data and open sizes."""

from random import Random

import pytest

from polysched.fuzz.operator_graphs import graph_inputs, random_graph
from polysched.fuzz.wide_graphs import opened
from polysched.graph import from_text, interpret, to_text
from polysched.model.planned import planned
from polysched.model.verification import check
from tests.graph.samples import read_plan

WAYS = {"QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ScatterElements", "Pad", "TopK", "Tile", "Expand",
        "BatchNormalization", "InstanceNormalization", "If", "Loop", "Scan", "Split", "GatherElements", "GatherND"}


def test_all_ways_are_drawn() -> None:
    graphs = [random_graph(seed) for seed in range(150)]
    assert {node.op for graph in graphs for node in graph.walk()} > WAYS
    nested = [n for g in graphs for n in g.nodes for region in n.regions for inner in region.nodes if inner.regions]
    assert nested


@pytest.mark.parametrize("seed", range(200, 212))
def test_a_graph_is_drawn_that_the_interpreter_runs(seed: int) -> None:
    graph = random_graph(seed)
    assert set(interpret(graph, graph_inputs(graph, seed))) == set(graph.outputs)


@pytest.mark.parametrize("seed", [s for s in range(40) if not any(n.regions for n in random_graph(s).nodes)][:6])
def test_a_plan_is_the_graph(seed: int) -> None:
    graph = random_graph(seed)
    inputs = graph_inputs(graph, seed)
    check(read_plan(planned(graph), inputs), interpret(graph, inputs), "the interpreter")


def test_an_extent_is_open_where_all_types_follow() -> None:
    graph = from_text("graph g(x: float32[3, 5]) {\n  const w: float32[5] = [1.0, 2.0, 3.0, 4.0, 5.0]\n"
                      "  let y = Add(x, w)\n  return y\n}")
    assert str(dict(opened(graph, Random(0)).inputs)["x"]) == "float32[N, 5]"
    fixed = from_text("graph g(x: float32[3]) {\n  const s: int64[1] = [3]\n  let a = Reshape(x, s)\n"
                      "  const w: int64[2] = [2, 1]\n  let y, z = Split(a, w)\n  return y\n}")
    assert dict(opened(fixed, Random(0)).inputs) == dict(fixed.inputs)


def test_some_graphs_have_an_open_size_and_are_else_the_same() -> None:
    pairs = [(random_graph(seed), random_graph(seed, open_sizes=True)) for seed in range(40)]
    others = [(a, b) for a, b in pairs if dict(a.inputs) != dict(b.inputs)]
    assert 3 < len(others) < 30
    assert all(to_text(a.but(inputs=b.inputs)) == to_text(b) for a, b in pairs)
    graph = others[0][1]
    assert {e for _, own in graph.inputs for e in own.shape if not e.is_constant}
    assert set(graph_inputs(graph, 1, 4)) == {name for name, _ in graph.inputs}


def test_several_extents_are_open_and_equal_ones_together() -> None:
    graph = from_text("graph g(x: float32[3, 5], y: float32[5, 3]) {\n  let t = Transpose(x; perm=[1, 0])\n"
                      "  let z = Add(y, t)\n  return z\n}")
    found = {tuple(str(own) for _, own in opened(graph, Random(seed)).inputs) for seed in range(20)}
    assert {("float32[N, M]", "float32[M, N]"), ("float32[M, N]", "float32[N, M]")} <= found
    assert graph_inputs(opened(graph, Random(0)), 1, {"N": 2, "M": 4}).keys() == {"x", "y"}
    drawn = [random_graph(seed, open_sizes=True) for seed in range(60)]
    assert any(len(graph.symbols) > 1 for graph in drawn)
