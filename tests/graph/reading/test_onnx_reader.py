"""ONNX models as graphs."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from polysched.errors import ModelFileError, UnsupportedGraphError
from polysched.graph import interpret, load, to_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.simple import bind
from polysched.graph.reading.onnx_reader import structured_inputs
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import FLOAT32


def model(nodes: list[onnx.NodeProto], *, version: int = 21, shape: tuple[object, ...] = ("N", 3),
          element: int = TensorProto.FLOAT, **more: object) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", element, shape)
    y = helper.make_value_info("y", onnx.TypeProto())
    graph = helper.make_graph(nodes, "g", [x], [y], **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])


def test_a_model_is_its_text(tmp_path: Path) -> None:
    weights = onnx.numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")
    cast = helper.make_node("Cast", ["a"], ["y"], to=TensorProto.INT8)
    made = model([helper.make_node("Add", ["x", "w"], ["a"]), cast], initializer=[weights])
    onnx.save(made, tmp_path / "m.onnx")
    assert to_text(load(tmp_path / "m.onnx")) == """graph g(x: float32[N, 3]) {
  const w: float32[3] = [1.0, 2.0, 3.0]
  let a = Add(x, w)
  let y = Cast(a; to="int8")
  return y
}"""


def test_functions_of_the_operator_set_are_inlined() -> None:
    graph = load(model([helper.make_node("RMSNormalization", ["x", "x"], ["y"])], version=23))
    assert "RMSNormalization" not in {n.op for n in graph.nodes}
    assert {"ReduceMean", "Sqrt"} <= {n.op for n in graph.nodes}


def test_the_model_that_is_given_stays_as_it_is() -> None:
    made = model([helper.make_node("RMSNormalization", ["x", "x"], ["y"])], version=23)
    before = made.SerializeToString(deterministic=True)
    load(made)
    assert made.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize(("made", "problem"), [
    (model([helper.make_node("Frob", ["x"], ["y"], domain="com.example")]), "operators of the domain com.example"),
    (model([helper.make_node("Exp", ["x"], ["y"])], element=TensorProto.STRING),
     "(?s)elements of type string.*make its numbers of the strings before"),
    (model([helper.make_node("Exp", ["x"], ["y"])], element=TensorProto.COMPLEX64),
     "(?s)elements of type complex64.*a last dimension of 2")])
def test_what_is_not_had_is_refused(made: onnx.ModelProto, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        load(made)


def test_operators_of_other_domains_are_those_that_are_had() -> None:
    graph = load(model([helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", threshold=0.5)]))
    assert [n.op for n in graph.nodes] == ["Binarizer"]
    for name, domain in (("Binarizer", ""), ("Exp", "ai.onnx.ml"), ("LabelEncoder", "ai.onnx.ml")):
        with pytest.raises(UnsupportedGraphError, match=r"ONNX has no operator|operators of the domain"):
            load(model([helper.make_node(name, ["x"], ["y"], domain=domain)]))


def test_inputs_that_are_sequences_become_their_elements() -> None:
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    types = {"s": helper.make_sequence_type_proto(tensor), "o": helper.make_optional_type_proto(tensor)}
    nodes = [helper.make_node("SequenceLength", ["s"], ["n"]), helper.make_node("OptionalHasElement", ["o"], ["h"])]
    proto = helper.make_model(helper.make_graph(nodes, "g", [helper.make_value_info(n, t) for n, t in types.items()], [
        helper.make_tensor_value_info("n", TensorProto.INT64, []),
        helper.make_tensor_value_info("h", TensorProto.BOOL, [])]))
    assert structured_inputs(proto) == ("s", "o")
    with pytest.raises(UnsupportedGraphError, match="the input is a sequence_type, not a tensor"):
        load(proto)
    own = TensorType.of(FLOAT32, (2, 3))
    graph = load(proto, elements={"s": (own, own), "o": None})
    assert graph.inputs == (("s[0]", own), ("s[1]", own))
    assert interpret(graph, {n: np.zeros((2, 3), np.float32) for n in ("s[0]", "s[1]")}) == {"n": 2, "h": False}
    assert load(proto, elements={"s": (), "o": own}).inputs == (("o", own),)


@pytest.mark.parametrize("content", [b"", b"garbage \xff\xff\xff", b"\x08\x07"])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(ModelFileError, match="no ONNX model"):
        load(tmp_path / "m.onnx")


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(ModelFileError, match="cannot read the model"):
        load("nowhere.onnx")


def test_extents_without_a_name_get_one_and_negative_ones_are_refused() -> None:
    exp = [helper.make_node("Exp", ["x"], ["y"])]
    assert str(dict(load(model(exp, shape=(-1, None, "N"))).inputs)["x"]) == "float32[x_1, x_2, N]"
    with pytest.raises(ModelFileError, match="an extent is negative"):
        load(model(exp, shape=(-2,)))


def test_a_cycle_and_a_value_bound_twice_are_refused() -> None:
    cycle = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Exp", ["a"], ["b"]),
             helper.make_node("Exp", ["b"], ["y"])]
    with pytest.raises(UnsupportedGraphError, match="the value 'b' is used before it is bound"):
        infer(load(model(cycle)))
    with pytest.raises(UnsupportedGraphError, match="'y' is bound twice"):
        load(model([helper.make_node("Exp", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["y"])]))


@pytest.mark.parametrize(("made", "problem"), [
    (model([helper.make_node("Exp", ["x"], ["y"])], version=0), "the operator set 0 is not known"),
    (model([helper.make_node("Exp", ["x"], ["y"])], version=10 ** 6), "the operator set 1000000 is not known"),
    (model([helper.make_node("Exp", ["x"], ["y"])], shape=(1,) * 40), "a value has 40 dimensions"),
    (model([helper.make_node("Constant", [], [], value_int=3)]), "a constant has one result"),
    (model([helper.make_node("Constant", [], ["y"], value_int=3, value_float=1.0)]), "a constant has one value"),
    (model([helper.make_node("Transpose", ["x"], ["y"], perm="ab")]), "the attribute perm is no INTS")])
def test_what_a_writer_of_models_never_writes_is_refused(made: onnx.ModelProto, problem: str) -> None:
    with pytest.raises(ModelFileError, match=problem):
        load(made)


@pytest.mark.parametrize("name", [b"Exp", b"node", b"x", b"y"])
def test_names_that_are_no_text_are_refused(name: bytes) -> None:
    made = model([helper.make_node("Exp", ["x"], ["y"], name="node")]).SerializeToString()
    length = bytes([len(name)])
    assert length + name in made
    with pytest.raises(ModelFileError, match="no UTF-8"):
        load(made.replace(length + name, length + b"\xff" * len(name)))


def test_an_element_type_that_onnx_has_not_is_refused() -> None:
    made = model([helper.make_node("Exp", ["x"], ["y"])])
    made.graph.input[0].type.tensor_type.elem_type = 999
    with pytest.raises(UnsupportedGraphError, match="elements of type undefined"):
        load(made)


def test_results_of_many_dimensions_are_refused() -> None:
    axes = onnx.numpy_helper.from_array(np.arange(40), "s")
    with pytest.raises(UnsupportedGraphError, match="a result has 42 dimensions"):
        infer(load(model([helper.make_node("Unsqueeze", ["x", "s"], ["y"])], initializer=[axes])))


def test_sizes_that_no_machine_holds_are_refused() -> None:
    wide = [helper.make_node("Expand", ["x", "s"], ["y"])]
    shape = onnx.numpy_helper.from_array(np.array([2 ** 40, 2 ** 40, 3]), "s")
    with pytest.raises(UnsupportedGraphError, match="larger than a model may have"):
        infer(load(model(wide, shape=(1, 3), initializer=[shape])))


def test_the_first_conversions_name_their_type() -> None:
    graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to="INT32")], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2,))],
                              [helper.make_tensor_value_info("y", TensorProto.INT32, (2,))])
    loaded = load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 5)]))
    assert interpret(loaded, {"x": np.array([1.5, -2.5], np.float32)})["y"].tolist() == [1, -2]


def test_gradients_that_need_sizes_wait_for_them() -> None:
    nodes = [helper.make_node("Concat", ["x", "x"], ["c"], axis=0),
             helper.make_node("Gradient", ["x"], ["y"], domain="ai.onnx.preview.training", xs=["x"], y="c")]
    proto = model(nodes)
    proto.opset_import.append(helper.make_opsetid("ai.onnx.preview.training", 1))
    graph = load(proto)
    assert [n.op for n in graph.nodes] == ["Concat", "Gradient"]
    x = np.ones((2, 3), np.float32)
    assert np.array_equal(interpret(bind(graph, {"N": 2}), {"x": x})["y"], 2 * x)
