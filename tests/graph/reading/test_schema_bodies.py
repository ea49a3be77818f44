"""Functions of ONNX whose bodies depend on their operands: constants, values around a region, operands left out."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from polysched.errors import ModelFileError, UnsupportedGraphError
from polysched.graph import interpret, load
from polysched.graph.reading.schema_bodies import with_bodies

SHAPES = {"q": (1, 2, 3, 4), "k": (1, 2, 5, 4), "v": (1, 2, 5, 6), "past_k": (1, 2, 2, 4), "past_v": (1, 2, 2, 6)}


def attention(*operands: str, version: int = 23, **attributes: object) -> onnx.ModelProto:
    """Attention with a cache and no mask."""
    node = helper.make_node("Attention", operands, ["y", "present_k", "present_v"], **attributes)
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in SHAPES.items() if n in operands]
    outputs = [helper.make_value_info(n, onnx.TypeProto()) for n in node.output]
    return helper.make_model(helper.make_graph([node], "g", inputs, outputs),
                             opset_imports=[helper.make_opsetid("", version)])


@pytest.mark.parametrize("version", [23, 24])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention_without_a_mask_and_with_a_cache_is_that_of_onnx(version: int, causal: int) -> None:
    rng = np.random.default_rng(0)
    arrays = {n: rng.normal(size=s).astype(np.float32) for n, s in SHAPES.items()}
    model = attention("q", "k", "v", "", "past_k", "past_v", version=version, is_causal=causal)
    wanted = ReferenceEvaluator(model).run(None, arrays)
    found = interpret(load(model), arrays)
    for name, value in zip(("y", "present_k", "present_v"), wanted, strict=True):
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


def test_the_type_of_an_operand_is_needed() -> None:
    model = attention("q", "k", "v", "", "past_k", "nowhere")
    with pytest.raises(ModelFileError, match=r"the type of an operand is not known|do not fit together"):
        with_bodies(model, 23)


def test_types_that_onnx_does_not_infer_are_said() -> None:
    model = attention("q", "k", "v", "", "past_k", "past_v")
    del model.graph.node[0].output[:]
    with pytest.raises(ModelFileError, match="the types of the model do not fit together"):
        with_bodies(model, 23)


def test_other_nodes_stay() -> None:
    model = attention("q", "k", "v")
    before = model.SerializeToString(deterministic=True)
    with_bodies(model, 23)
    assert model.SerializeToString(deterministic=True) == before


def test_a_node_of_a_later_operator_set_is_refused() -> None:
    with pytest.raises((ModelFileError, UnsupportedGraphError)):
        interpret(load(attention("q", "k", "v", "", "past_k", "past_v", version=17)), {})


def normalised(*operands: str, nested: bool, version: int, op: str = "RMSNormalization") -> onnx.ModelProto:
    """A normalisation with constant weights, in a branch or not."""
    made = [helper.make_node(op, operands, ["m"])]
    other = [helper.make_node("Exp", ["t"], ["e"])]
    made_type, other_type, x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (3, 5)) for n in "mexy")
    branch = helper.make_node("If", ["c"], ["b"], then_branch=helper.make_graph(made, "yes", [], [made_type]),
                              else_branch=helper.make_graph(other, "no", [], [other_type]))
    inner = [branch] if nested else [*made, *other, helper.make_node("Where", ["c", "m", "e"], ["b"])]
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["t"]), *inner, helper.make_node("Neg", ["b"], ["y"])], "g",
        [helper.make_tensor_value_info("c", TensorProto.BOOL, ()), x], [y],
        [onnx.numpy_helper.from_array(np.arange(5, dtype=np.float32), n) for n in ("w",)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("version", [23, 24])
def test_operands_may_be_constants_and_nodes_may_stand_in_regions(version: int, nested: bool) -> None:
    model = normalised("t", "w", nested=nested, version=version)
    x = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    for condition in (True, False):
        arrays = {"c": np.array(condition), "x": x}
        wanted, = ReferenceEvaluator(model).run(None, arrays)
        np.testing.assert_allclose(interpret(load(model), arrays)["y"], wanted, rtol=1e-4, atol=1e-5)


def test_an_operand_that_is_left_out_at_the_end_is_none() -> None:
    arrays = {"c": np.array(True), "x": np.ones((3, 5), np.float32)}
    for nested in (False, True):
        found = interpret(load(normalised("t", "w", "", nested=nested, version=18, op="LayerNormalization")), arrays)
        np.testing.assert_allclose(found["y"], np.zeros((3, 5)), atol=1e-5)
