"""Models with islands against ONNX Runtime: shapes that follow from data, control flow, sequences, what is empty."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from onnx import helper

import polysched
from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph import from_text, load
from polysched.model import CompiledModel, SegmentedModel, compile_graph
from tests.model.models import assert_same, body, by_onnxruntime, model, value

node = helper.make_node
X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
NONZERO = [node("Relu", ["x"], ["r"]), node("NonZero", ["r"], ["nz"]), node("Transpose", ["nz"], ["t"]),
           node("GatherND", ["x", "t"], ["g"]), node("Exp", ["g"], ["y"])]


def nonzero() -> Any:
    return model(NONZERO, [value("x", ["n", 5])], [value("y", ["k"])])


def top() -> Any:
    nodes = [node("Greater", ["x", "zero"], ["b"]), node("Cast", ["b"], ["c"], to=7),
             node("ReduceSum", ["c"], ["s"], keepdims=0), node("Unsqueeze", ["s", "axis"], ["k"]),
             node("Flatten", ["x"], ["f"], axis=0), node("TopK", ["f", "k"], ["v", "i"]), node("Neg", ["v"], ["y"])]
    return model(nodes, [value("x", ["n", 5])], [value("y", [1, "k"]), value("i", [1, "k"], "i")],
                 zero=np.float32(0), axis=np.array([0]))


def shapes() -> Any:
    nodes = [node("NonZero", ["x"], ["nz"]), node("Shape", ["nz"], ["s"]), node("ConstantOfShape", ["s"], ["z"]),
             node("Add", ["z", "z"], ["y"])]
    return model(nodes, [value("x", [4, 5])], [value("y", ["a", "b"]), value("s", [2], "i")])


def sequence() -> Any:
    nodes = [node("SplitToSequence", ["x"], ["q"], axis=0), node("ReduceMax", ["x"], ["m"], keepdims=0),
             node("Cast", ["m"], ["p"], to=7), node("SequenceAt", ["q", "p"], ["c"]), node("Exp", ["c"], ["y"])]
    return model(nodes, [value("x", [4, 5])], [value("y", ["a", "b"])])


def twice() -> Any:
    nodes = [node("NonZero", ["x"], ["nz"]), node("Cast", ["nz"], ["f"], to=1), node("Relu", ["f"], ["r"]),
             node("NonZero", ["r"], ["nz2"]), node("Cast", ["nz2"], ["g"], to=1), node("Neg", ["g"], ["y"])]
    return model(nodes, [value("x", [4, 5])], [value("y", ["a", "b"])])


def known() -> Any:
    nodes = [node("NonZero", ["x"], ["y"]), node("Neg", ["w"], ["v"])]
    return model(nodes, [value("x", [4, 5])], [value("y", ["a", "b"], "i"), value("v", [2])], w=np.float32([1, 2]))


@pytest.mark.parametrize("make", [nonzero, top, shapes, sequence, twice, known])
def test_what_depends_on_data_is_an_island(make: Any) -> None:
    proto, data = make(), np.maximum(np.round(X), 0)
    compiled = polysched.compile(load(proto))
    assert isinstance(compiled, SegmentedModel)
    assert_same(compiled(x=data), by_onnxruntime(proto, x=data))
    with pytest.raises(UnsupportedGraphError):
        assert polysched.compile(load(proto), islands="refuse")


@pytest.mark.parametrize("without", [False, True])
def test_outputs_are_no_inputs_and_no_constants(without: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if without:
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    proto = model([node("NonZero", ["x"], ["y"])], [value("x", [4, 5])],
                  [value("y", ["a", "b"], "i"), value("x", [4, 5]), value("w", [2])], w=np.float32([1, 2]))
    compiled, data = polysched.compile(load(proto)), X.copy()
    found = compiled(x=data)
    found["x"][:], found["w"][:] = 0, 0
    assert np.array_equal(data, X)
    assert np.array_equal(compiled(x=data)["w"], [1, 2])


def test_a_model_with_islands_has_no_early_outputs() -> None:
    with pytest.raises(UsageError, match="gives all outputs at once"):
        polysched.compile(load(nonzero())).start(x=X)


def loop(changes: bool) -> Any:
    """Doubles until the sum is large; or grows by a row."""
    step = node("Concat", ["c", "c"], ["c2"], axis=0) if changes else node("Add", ["c", "c"], ["c2"])
    inside = body([step, node("ReduceSum", ["c2"], ["sum"], keepdims=0), node("Less", ["sum", "limit"], ["go2"])],
                  [value("i", [], "i"), value("go", [], "b"), value("c", None)],
                  [value("go2", [], "b"), value("c2", None), value("sum", [])])
    nodes = [node("Abs", ["x"], ["a"]), node("Loop", ["", "yes", "a"], ["o", "sums"], body=inside),
             node("Neg", ["o"], ["y"])]
    return model(nodes, [value("x", [4, 5])], [value("y", None), value("sums", ["k"])], yes=np.array(True),
                 limit=np.float32(200))


@pytest.mark.parametrize("changes", [True, False])
def test_a_loop_that_ends_by_data_is_an_island(changes: bool) -> None:
    """Where no iteration changes a shape, what is behind the loop is compiled."""
    compiled = polysched.compile(load(loop(changes)))
    assert_same(compiled(x=X), by_onnxruntime(loop(changes), x=X))
    assert [i.nodes[-1].op for i in compiled.islands] == (["Loop", "Neg"] if changes else ["Loop"])
    why = ("an iteration changes the type of a value that the loop carries" if changes else
           "how many rows a loop stacks depends on data")
    assert compiled.islands[0].reason == f"whether a loop goes on depends on data, and it is not compiled: {why}"


def test_a_counter_that_a_loop_carries_is_no_constant() -> None:
    inside = body([node("Add", ["n", "one"], ["n2"]), node("Less", ["n2", "m"], ["go2"]),
                   node("Slice", ["x", "zero", "n"], ["cut"]), node("ReduceSum", ["cut"], ["sum"], keepdims=0)],
                  [value("i", [], "i"), value("go", [], "b"), value("n", [1], "i")],
                  [value("go2", [1], "b"), value("n2", [1], "i"), value("sum", [])])
    nodes = [node("ReduceSum", ["x"], ["s"], keepdims=1), node("Reshape", ["s", "one"], ["t"]),
             node("Cast", ["t"], ["m"], to=7), node("Loop", ["", "yes", "start"], ["n_end", "sums"], body=inside),
             node("Neg", ["sums"], ["y"])]
    proto = model(nodes, [value("x", [5])], [value("y", ["k"]), value("n_end", [1], "i")], yes=np.array(True),
                  one=np.array([1]), zero=np.array([0]), start=np.array([1]))
    x = np.ones(5, np.float32)
    assert_same(polysched.compile(load(proto))(x=x), by_onnxruntime(proto, x=x))


@pytest.mark.parametrize("rows", [1, 3])
def test_an_island_that_finds_nothing_or_other_rows(rows: int) -> None:
    compiled = polysched.compile(load(nonzero()))
    for data in (-np.abs(X[:rows]), np.abs(X[:rows]), X[:rows]):
        assert_same(compiled(x=data), by_onnxruntime(nonzero(), x=data))


def test_the_plan_says_the_islands_their_reasons_and_their_share() -> None:
    compiled = polysched.compile(load(nonzero()))
    (island,) = compiled.islands
    assert (island.node, island.reason) == ("node 'nz' (NonZero)", "the shape of its result depends on data")
    assert compiled.plan.share_of(island) is None
    assert "island node 'nz' (NonZero) on onnxruntime: the shape of its result depends on data" in str(compiled.plan)
    compiled(x=X)
    assert 0 < compiled.plan.share_of(island) < 1
    assert "% of the time" in str(compiled.plan)
    assert repr(compiled) == "<SegmentedModel small: 2 kernels, 1 islands>"


def test_a_model_with_islands_is_not_saved(tmp_path: Any) -> None:
    compiled = polysched.compile(load(nonzero()))
    with pytest.raises(UsageError, match="a model with islands runs in Python only"):
        compiled.save(tmp_path / "m.so")
    with pytest.raises(UsageError, match="a model with islands runs in Python only"):
        compiled.write_source(tmp_path)


def test_a_graph_without_such_nodes_has_no_island() -> None:
    graph = from_text("graph f(x: float32[4]) {\n  let y = Relu(x)\n  return y\n}")
    assert isinstance(polysched.compile(graph), CompiledModel)
    assert polysched.compile(graph).islands == compile_graph(graph).islands == ()
    with pytest.raises(UsageError, match="islands are refused or allowed"):
        polysched.compile(graph, islands="some")


def test_without_the_package_onnx_there_are_no_islands(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = load(nonzero())
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UnsupportedGraphError, match="there is no operator NonZero") as caught:
        polysched.compile(graph)
    assert "no island: the package onnx is missing" in str(caught.value)


def test_what_no_runtime_has_is_refused_with_the_first_reason() -> None:
    graph = from_text("graph f(x: float32[4]) {\n  let y = Wibble(x)\n  return y\n}")
    with pytest.raises(UnsupportedGraphError, match="there is no operator Wibble") as caught:
        polysched.compile(graph)
    assert "no operator of ONNX" in str(caught.value)


def test_strings_in_between_are_an_island() -> None:
    made = model([node("Neg", ["x"], ["n"]), node("Cast", ["n"], ["s"], to=8), node("StringConcat", ["s", "s"], ["t"]),
                  node("Cast", ["t"], ["f"], to=1), node("Exp", ["f"], ["y"])],
                 [value("x", [3], "i")], [value("y", [3])])
    compiled = polysched.compile(load(made))
    assert "no tensor of numbers" in compiled.islands[0].reason
    found = compiled.run({"x": np.array([0, -1, -2])})["y"]
    np.testing.assert_allclose(found, np.exp(np.array([0, 11, 22], np.float32)), rtol=1e-5)
