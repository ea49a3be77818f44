"""Islands as ONNX models: attributes, types, regions, and the runtimes that take them."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.types import TensorType
from polysched.model.island import Island, inputs_of, result_types
from polysched.scop.dtypes import BOOL, FLOAT32, INT64

X = TensorType.of(FLOAT32, (4, 5))


def island(*nodes: Node, types: dict[str, TensorType | None] | None = None, **constants: np.ndarray) -> Island:
    return Island(nodes=nodes, inputs=tuple((types or {"x": X}).items()), constants=constants, reason="it is a test",
                  outputs=tuple(filter(None, nodes[-1].outputs)))


def test_types_of_results_have_symbols_for_what_is_not_known() -> None:
    assert str(result_types(island(Node.of("NonZero", ("x",), ("y",))))["y"]) == "int64[2, y_1]"
    cast = island(Node.of("Cast", ("x",), ("y",), {"to": "float64"}))
    assert str(result_types(cast)["y"]) == "float64[4, 5]"


def test_an_attribute_that_is_a_tensor() -> None:
    made = island(Node.of("ConstantOfShape", ("s",), ("y",), {"value": 3, "dtype": "int64"}),
                  types={"s": TensorType.of(INT64, (2,))})
    assert made.run({"s": np.array([2, 3])})["y"].tolist() == [[3] * 3] * 2


@pytest.mark.parametrize("without", [True, False])
def test_it_runs_with_and_without_onnxruntime(without: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if without:
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    made = island(Node.of("NonZero", ("x",), ("y",)))
    assert made.run({"x": np.eye(4, 5, dtype=np.float32)})["y"].tolist() == [[0, 1, 2, 3]] * 2
    assert made.runtime == ("onnx.reference" if without else "onnxruntime")


def test_regions_see_values_around_them_and_return_them() -> None:
    one = Graph(name="", inputs=(), nodes=(Node.of("Neg", ("x",), ("n",)),), outputs=("n",))
    other = Graph(name="", inputs=(), nodes=(), outputs=("x",))
    branch = Node(op="If", inputs=("c",), outputs=("y",), regions=(one, other))
    made = island(branch, types={"c": TensorType.of(BOOL, ()), "x": X})
    assert inputs_of(made.nodes) == ("c", "x")
    data = np.ones((4, 5), np.float32)
    assert [float(made.run({"c": np.array(c), "x": data})["y"][0, 0]) for c in (True, False)] == [-1, 1]


@pytest.mark.parametrize(("node", "message"), [
    (Node.of("Wibble", ("x",), ("y",)), "Wibble is no operator of ONNX"),
    (Node.of("Softmax", ("x",), ("y",), {"flatten": 1}), "Softmax of ONNX has no attribute flatten")])
def test_what_onnx_does_not_have(node: Node, message: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=message):
        assert island(node).proto


def test_values_that_the_runtime_refuses() -> None:
    made = island(Node.of("Gather", ("x", "i"), ("y",)), types={"x": X, "i": TensorType.of(INT64, (1,))})
    with pytest.raises(UnsupportedGraphError, match="it is a test, and onnxruntime refuses it, too"):
        made.run({"x": np.ones((4, 5), np.float32), "i": np.array([9])})


@pytest.mark.parametrize("name", ["string", "float8_e4m3fn", "bfloat16", "float16"])
def test_element_types_by_name(name: str) -> None:
    made = island(Node.of("Cast", ("x",), ("y",), {"to": name}))
    number = made.proto.graph.node[0].attribute[0].i
    assert onnx.TensorProto.DataType.Name(number).lower() == name.replace("_", "")


def test_an_element_type_that_onnx_does_not_have() -> None:
    with pytest.raises(UnsupportedGraphError, match="ONNX has no elements of type float9"):
        assert island(Node.of("Cast", ("x",), ("y",), {"to": "float9"})).proto
