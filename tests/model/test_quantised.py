"""Quantised models beside ONNX Runtime and the interpreter: layers between QuantizeLinear and DequantizeLinear."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import polysched
from polysched.graph import interpret, load
from polysched.graph.planning.steps import Kernel
from polysched.model.kernels import optimized_kernel
from polysched.pipeline.options import PipelineOptions
from polysched.target import host

STEP = 0.05
"""The scale of results."""


def layer(op: str, shape: tuple[int, ...], weights: tuple[int, ...], *, channels: int | None, zero: int,
          dtype: type = np.uint8, **attributes: object) -> onnx.ModelProto:
    """x -> Q -> DQ -> op with weights DQ and a bias -> Relu -> Q -> DQ; all bytes also are outputs."""
    rng = np.random.default_rng(3)
    axis = 0 if op == "Conv" or attributes.get("transB") else 1
    scale = rng.uniform(0.004, 0.02, weights[axis]).astype(np.float32) if channels else np.array(0.01, np.float32)
    arrays = {"s": np.array(0.03, np.float32), "z": np.array(zero, dtype), "w": rng.integers(-127, 128, weights).astype(
        np.int8), "t": scale, "u": np.zeros(scale.shape, np.int8), "o": np.array(STEP, np.float32),
        "bias": rng.standard_normal(weights[axis]).astype(np.float32)}
    bias = [] if op == "MatMul" else ["bias"]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
             helper.make_node("DequantizeLinear", ["q", "s", "z"], ["a"]),
             helper.make_node("DequantizeLinear", ["w", "t", "u"], ["b"], axis=axis),
             helper.make_node(op, ["a", "b", *bias], ["p"], **attributes), helper.make_node("Relu", ["p"], ["r"]),
             helper.make_node("QuantizeLinear", ["r", "o", "z"], ["bytes"]),
             helper.make_node("DequantizeLinear", ["bytes", "o", "z"], ["y"])]
    values = [helper.make_tensor_value_info(n, t, None) for n, t in (
        ("y", TensorProto.FLOAT), ("bytes", TensorProto.UINT8 if dtype is np.uint8 else TensorProto.INT8))]
    graph = helper.make_graph(nodes, "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], values,
                              initializer=[numpy_helper.from_array(a, n) for n, a in arrays.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


LAYERS = [
    ("MatMul", (32, 64), (64, 48), {"channels": 1, "zero": 128}),
    ("MatMul", (1, 7), (7, 5), {"channels": None, "zero": 3}),
    ("Gemm", (5, 31), (33, 31), {"channels": 1, "zero": 0, "transB": 1, "alpha": 0.5}),
    ("Conv", (1, 8, 9, 9), (16, 8, 3, 3), {"channels": 1, "zero": 100, "pads": (1, 1, 1, 1)}),
    ("Conv", (2, 4, 7, 5), (8, 2, 3, 2), {"channels": None, "zero": -5, "dtype": np.int8, "group": 2,
                                          "strides": (2, 1)}),
]


@pytest.mark.parametrize(("op", "shape", "weights", "options"), LAYERS)
def test_a_layer_is_within_one_step_of_onnxruntime_and_the_interpreter(
        op: str, shape: tuple[int, ...], weights: tuple[int, ...], options: dict, tmp_path: Path) -> None:
    onnx.save(layer(op, shape, weights, **options), tmp_path / "m.onnx")
    graph = load(tmp_path / "m.onnx")
    model = polysched.compile(graph)
    assert any(node.op.startswith("Byte") for step in model.plan.kernels for node in step.fragment.nodes)
    given = {"x": np.random.default_rng(1).uniform(-4, 4, shape).astype(np.float32)}
    found = model.run(given)
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    others = [onnxruntime.InferenceSession(tmp_path / "m.onnx", o, providers=["CPUExecutionProvider"]).run(
        ["bytes"], given)[0] for o in (plain, onnxruntime.SessionOptions())]
    for other in (*others, interpret(graph, given)["bytes"]):
        apart = np.abs(found["bytes"].astype(int) - other.astype(int))
        assert apart.max() <= 1
        assert np.count_nonzero(apart) <= max(1, apart.size // 200)
    zero = np.float32(options["zero"])
    np.testing.assert_array_equal(found["y"], (found["bytes"].astype(np.float32) - zero) * np.float32(STEP))


@pytest.mark.skipif("avx512_vnni" not in host().features, reason="the instruction is not of this machine")
def test_the_product_is_computed_by_an_instruction_for_bytes(tmp_path: Path) -> None:
    onnx.save(layer("MatMul", (32, 64), (64, 48), channels=1, zero=128), tmp_path / "m.onnx")
    model = polysched.compile(load(tmp_path / "m.onnx"))
    (step,) = [s for s in model.plan.walked if isinstance(s, Kernel) and s.fragment.nodes[-1].op == "ByteMatMul"]
    made = optimized_kernel(step.fragment, PipelineOptions())
    assert "vpdpbusd" in made.instructions[0]
