"""ONNX's own interface: some of its node tests, and what it refuses."""

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from polysched.errors import UnsupportedGraphError
from polysched.model import onnx_backend

NODES = [
    (helper.make_node("Gemm", ["a", "b", "c"], ["y"], alpha=0.5, transB=1), [(2, 3), (4, 3), (4,)]),
    (helper.make_node("Softmax", ["a"], ["y"], axis=1), [(2, 5)]),
    (helper.make_node("LayerNormalization", ["a", "b"], ["y"]), [(2, 5), (5,)]),
    (helper.make_node("Split", ["a"], ["y", "z"], axis=1, num_outputs=2), [(2, 5)])]


@pytest.mark.parametrize(("node", "shapes"), NODES, ids=lambda v: getattr(v, "op_type", ""))
def test_a_node_is_what_the_reference_of_onnx_computes(node: onnx.NodeProto, shapes: list[tuple[int, ...]]) -> None:
    arrays = [np.random.default_rng(p).normal(size=shape).astype(np.float32) for p, shape in enumerate(shapes)]
    wanted = ReferenceEvaluator(node).run(None, dict(zip(node.input, arrays, strict=True)))
    for found, value in zip(onnx_backend.run_node(node, arrays), wanted, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-6)


def test_one_node_runs_for_several_shapes() -> None:
    node = helper.make_node("Expand", ["x", "s"], ["y"])
    for shape in ((2, 3), (4, 3)):
        y, = onnx_backend.run_node(node, [np.arange(3, dtype=np.float32), np.array(shape)])
        assert y.shape == shape


def test_a_prepared_model_is_kept_per_steering_value() -> None:
    x, s = (helper.make_tensor_value_info(n, t, d) for n, t, d in (
        ("x", onnx.TensorProto.FLOAT, ["N"]), ("s", onnx.TensorProto.INT64, [2])))
    graph = helper.make_graph([helper.make_node("Reshape", ["x", "s"], ["y"])], "g", [x, s],
                              [helper.make_value_info("y", onnx.TypeProto())])
    ready = onnx_backend.prepare(helper.make_model(graph))
    assert ready.steering == ("s",)
    assert ready.run({"x": np.zeros(6, np.float32), "s": np.array([2, 3])})[0].shape == (2, 3)
    assert ready.run([np.zeros(8, np.float32), np.array([2, 4])])[0].shape == (2, 4)


def test_sequences_go_in_and_come_out_as_lists() -> None:
    tensor = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None)
    sequence = helper.make_sequence_type_proto(tensor)
    graph = helper.make_graph(
        [helper.make_node("SequenceInsert", ["s", "x", "p"], ["t"]), helper.make_node("SequenceLength", ["t"], ["n"])],
        "g", [helper.make_value_info("s", sequence), helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["k"]),
              helper.make_tensor_value_info("p", onnx.TensorProto.INT64, [])],
        [helper.make_value_info("t", sequence), helper.make_tensor_value_info("n", onnx.TensorProto.INT64, [])])
    ready = onnx_backend.prepare(helper.make_model(graph))
    x = np.arange(3, dtype=np.float32)
    for given, at in (([x, 2 * x], 0), ([x, 2 * x], -1), ([], 0), ([np.ones((2, 2), np.float32)], 1)):
        found, count = ready.run([given, x, np.array(at)])
        wanted = list(given)
        wanted.insert(at, x)
        assert count == len(wanted) == len(found)
        assert all(np.array_equal(f, w) for f, w in zip(found, wanted, strict=True))
    with pytest.raises(UnsupportedGraphError, match="lies outside of the sequence"):
        ready.run([[x], x, np.array(2)])


def test_what_is_not_had_is_refused_and_devices_are_processors() -> None:
    with pytest.raises(UnsupportedGraphError, match="there is no operator StringNormalizer"):
        onnx_backend.run_node(helper.make_node("StringNormalizer", ["x"], ["y"]), [np.zeros(2, np.float32)])
    assert onnx_backend.supports_device("CPU:0")
    assert not onnx_backend.supports_device("CUDA")
