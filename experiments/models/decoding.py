"""A decode-like model: a loop whose end depends on data, around an LSTM step and a product, as ONNX."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, STEPS = 128, 100


def decode_loop() -> onnx.ModelProto:
    """`STEPS` steps of an LSTM of `WIDTH` values, each fed by the last; a large value would end it before."""
    rng = np.random.default_rng(0)
    shapes = {"w": (WIDTH, 4 * WIDTH), "r": (WIDTH, 4 * WIDTH), "b": (4 * WIDTH,), "e": (WIDTH, WIDTH)}
    weights = [numpy_helper.from_array((rng.standard_normal(s) * 0.1).astype(np.float32), n) for n, s in shapes.items()]
    row, truth = [1, WIDTH], TensorProto.BOOL
    text = [("MatMul", "x_in w", "xw"), ("MatMul", "h_in r", "hr"), ("Add", "xw hr", "sum"), ("Add", "sum b", "z")]
    gates = helper.make_node("Split", ["z"], ["zi", "zf", "zg", "zo"], axis=1, num_outputs=4)
    step = [("Sigmoid", "zi", "i"), ("Sigmoid", "zf", "f"), ("Tanh", "zg", "g"), ("Sigmoid", "zo", "o"),
            ("Mul", "f c_in", "kept"), ("Mul", "i g", "new"), ("Add", "kept new", "c_out"), ("Tanh", "c_out", "t"),
            ("Mul", "o t", "h_out"), ("MatMul", "h_out e", "x_out")]
    end = [helper.make_node("ReduceMax", ["x_out"], ["top"], keepdims=0), helper.make_node("Less", ["top", "most"],
                                                                                          ["go"])]
    nodes = [*(helper.make_node(op, i.split(), [o]) for op, i, o in text), gates,
             *(helper.make_node(op, i.split(), [o]) for op, i, o in step), *end]
    body = helper.make_graph(
        nodes, "body", [_value("k", [], TensorProto.INT64), _value("on", [], truth), *(
            _value(n, row) for n in ("x_in", "h_in", "c_in"))],
        [_value("go", [], truth), *(_value(n, row) for n in ("x_out", "h_out", "c_out"))])
    loop = helper.make_node("Loop", ["steps", "", "x", "h", "c"], ["last_x", "last_h", "last_c"], body=body)
    given = [*(_value(n, row) for n in ("x", "h", "c")), _value("most", []), _value("steps", [], TensorProto.INT64)]
    graph = helper.make_graph([loop], "decode", given, [_value(n, row) for n in ("last_x", "last_h")],
                              initializer=weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def decode_inputs() -> dict[str, np.ndarray]:
    """Inputs with which no value ends the loop."""
    rng = np.random.default_rng(1)
    rows = {n: rng.standard_normal((1, WIDTH)).astype(np.float32) for n in ("x", "h", "c")}
    return {**rows, "most": np.array(1e9, np.float32), "steps": np.array(STEPS, np.int64)}


def _value(name: str, shape: list[int], dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)
