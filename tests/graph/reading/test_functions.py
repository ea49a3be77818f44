"""Functions of models, inlined."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from polysched.errors import ModelFileError, UnsupportedGraphError
from polysched.graph import interpret, load
from polysched.graph.reading.functions import inlined

SETS = [helper.make_opsetid("", 23), helper.make_opsetid("my", 1)]


def function(name: str, *called: str) -> onnx.FunctionProto:
    """A function of a chain of calls; `Relu` is ONNX's."""
    values = ["a", *(f"t{k}" for k in range(len(called) - 1)), "b"]
    nodes = [helper.make_node(op, [values[k]], [values[k + 1]], domain="" if op == "Relu" else "my")
             for k, op in enumerate(called)]
    return helper.make_function("my", name, ["a"], ["b"], nodes, SETS)


def model(*functions: onnx.FunctionProto, calls: str = "F") -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (2, 3)) for n in "xy")
    graph = helper.make_graph([helper.make_node(calls, ["x"], ["y"], domain="my")], "g", [x], [y])
    return helper.make_model(graph, opset_imports=SETS, functions=list(functions))


def test_functions_of_functions_are_nodes() -> None:
    graph = load(model(function("F", "G", "Relu", "G"), function("G", "Relu", "Relu")))
    assert [n.op for n in graph.nodes] == ["Relu"] * 5


@pytest.mark.parametrize("functions", [[function("F", "F")], [function("F", "Relu", "G"), function("G", "F", "Relu")]])
def test_functions_in_a_circle_are_refused(functions: list[onnx.FunctionProto]) -> None:
    with pytest.raises(ModelFileError, match="a function calls itself"):
        inlined(model(*functions), 21)


def test_a_model_that_doubles_with_every_function_is_refused_before_it_is_inlined() -> None:
    doubling = [function("F0", "Relu"), *(function(f"F{k}", f"F{k - 1}", f"F{k - 1}") for k in range(1, 60))]
    with pytest.raises(ModelFileError, match=f"the model has {2 ** 59} nodes"):
        inlined(model(*doubling, calls="F59"), 21)


def test_a_function_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="operators of the domain my are not had"):
        load(model(function("F", "H")))


def test_functions_of_a_model_may_use_functions_of_onnx_whose_bodies_depend_on_types() -> None:
    nodes = [helper.make_node("Neg", ["a"], ["t"]), helper.make_node("RMSNormalization", ["t", "w"], ["b"])]
    own = helper.make_function("my", "F", ["a", "w"], ["b"], nodes, SETS)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (2, 3)) for n in "xy")
    weights = helper.make_tensor("w", TensorProto.FLOAT, (3,), [1.0, 2.0, 3.0])
    graph = helper.make_graph([helper.make_node("F", ["x", "w"], ["y"], domain="my")], "g", [x], [y], [weights])
    made = helper.make_model(graph, opset_imports=SETS, functions=[own])
    given = {"x": np.array([[1, 2, 3], [4, 9, 5]], np.float32)}
    wanted, = ReferenceEvaluator(made).run(None, given)
    np.testing.assert_allclose(interpret(load(made), given)["y"], wanted, rtol=1e-4)
