"""Small ONNX models, and what ONNX Runtime makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ELEMENTS = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL}


def value(name: str, shape: Any, kind: str = "f") -> Any:
    """The name and type of an input or output."""
    return helper.make_tensor_value_info(name, ELEMENTS[kind], shape)


def body(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
    """The region of a node."""
    return helper.make_graph(nodes, "body", inputs, outputs)


def model(nodes: list[Any], inputs: list[Any], outputs: list[Any], opset: int = 18,
          **constants: Any) -> onnx.ModelProto:
    """A model whose constants are given by name."""
    listed = [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()]
    graph = helper.make_graph(nodes, "small", inputs, outputs, listed)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def by_onnxruntime(proto: onnx.ModelProto, **arrays: np.ndarray) -> dict[str, np.ndarray]:
    """The outputs of a model."""
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, arrays), strict=True))


def assert_same(found: Any, wanted: Any) -> None:
    """Refuse another type, shape or value."""
    assert list(found) == list(wanted)
    for name, right in wanted.items():
        assert (found[name].dtype, found[name].shape) == (right.dtype, right.shape), name
        np.testing.assert_allclose(found[name], right, rtol=1e-5, atol=1e-6)
