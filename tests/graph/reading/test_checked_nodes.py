"""Nodes that are none of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from polysched.errors import ModelFileError, PolyschedError, UnsupportedGraphError
from polysched.graph import load
from polysched.graph.evaluation.inference import infer
from polysched.graph.reading.checked_nodes import check_node


def node(op: str, inputs: int = 1, outputs: int = 1, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, ["x"] * inputs, [f"y{k}" for k in range(outputs)], **attributes)


def twice(made: onnx.NodeProto) -> onnx.NodeProto:
    made.attribute.append(made.attribute[0])
    return made


REGION = helper.make_graph([node("Relu")], "r", [], [helper.make_tensor_value_info("y0", TensorProto.FLOAT, (2,))])


@pytest.mark.parametrize(("made", "kind", "problem"), [
    (node("Frob"), UnsupportedGraphError, "ONNX has no operator 'Frob'"),
    (node("Call"), UnsupportedGraphError, "ONNX has no operator 'Call'"),
    (node("Transpose", perm="ab"), ModelFileError, "the attribute perm is no INTS"),
    (node("Transpose", perm=1), ModelFileError, "the attribute perm is no INTS"),
    (node("Concat", axis=1.0), ModelFileError, "the attribute axis is no INT"),
    (node("Concat", axis=[1, 2]), ModelFileError, "the attribute axis is no INT"),
    (node("Transpose", perm=range(10 ** 5)), ModelFileError, "the attribute perm is very long"),
    (node("Einsum", equation="i" * 10 ** 5), ModelFileError, "the attribute equation is very long"),
    (twice(node("Concat", axis=1)), ModelFileError, "the attribute axis is given twice"),
    (node("Relu", foo=1), UnsupportedGraphError, "Relu has no attribute 'foo'"),
    (node("If", foo=REGION, bar=REGION), UnsupportedGraphError, "If has no attribute 'bar'"),
    (node("Loop", body=1), ModelFileError, "the attribute body is no GRAPH"),
    (node("Relu", inputs=3), UnsupportedGraphError, "at most 1 operands"),
    (node("Add", inputs=2, outputs=2), UnsupportedGraphError, "at most 2 operands and 1 results")])
def test_what_onnx_has_not_is_refused(made: onnx.NodeProto, kind: type[PolyschedError], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        check_node(made, "node 'n'")


@pytest.mark.parametrize("made", [
    node("Relu", consumed_inputs=[1]), node("Squeeze", axes=[0]), node("Squeeze", inputs=2), node("Concat", 40, axis=0),
    node("Split", 1, 30, axis=0)])
def test_what_some_version_has_is_taken(made: onnx.NodeProto) -> None:
    check_node(made, "node 'n'")


@pytest.mark.parametrize(("op", "attributes", "shapes"), [
    ("LSTM", {"direction": "sideways"}, [(3, 1, 2), (1, 16, 2), (1, 16, 4)]),
    ("GRU", {"direction": "foward"}, [(3, 1, 2), (1, 12, 2), (1, 12, 4)]),
    ("Gelu", {"approximate": "tan"}, [(3, 4)]), ("Pad", {"mode": "mirror"}, [(3, 4)]),
    ("MaxPool", {"auto_pad": "SAME", "kernel_shape": [2]}, [(1, 1, 4)]),
    ("ConvTranspose", {"auto_pad": "SAME"}, [(1, 1, 4), (1, 1, 2)]),
    ("Resize", {"mode": "lanczos"}, [(1, 4)]), ("Resize", {"keep_aspect_ratio_policy": "never"}, [(1, 4)]),
    ("BitShift", {"direction": "UP"}, [(3,), (3,)]),
    ("ScatterElements", {"reduction": "average"}, [(3,), (1,), (1,)])])
def test_words_that_an_operator_has_not_are_refused(op: str, attributes: dict[str, Any],
                                                    shapes: list[tuple[int, ...]]) -> None:
    inputs = [helper.make_tensor_value_info(f"x{k}", TensorProto.UINT8 if op == "BitShift" else (
        TensorProto.INT64 if op == "ScatterElements" and k == 1 else TensorProto.FLOAT), shape)
        for k, shape in enumerate(shapes)]
    names = [i.name for i in inputs]
    constants = []
    if op in ("Pad", "Resize"):
        values = np.array([0, 0, 0, 0]) if op == "Pad" else np.array([1, 8])
        names += ["sizes"] if op == "Pad" else ["", "", "sizes"]
        constants.append(onnx.numpy_helper.from_array(values, "sizes"))
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "g", inputs,
                              [helper.make_value_info("y", onnx.TypeProto())], initializer=constants)
    with pytest.raises(UnsupportedGraphError, match=r"none of|auto_pad=|padding of the mode|reduction average"):
        infer(load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])))
