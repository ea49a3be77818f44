"""What models are drawn on: types are ONNX's, and what they refuse is left out."""

import numpy as np
import onnx

from polysched.fuzz.onnx_models.drawing import MOST_ELEMENTS, Known, ModelDrawing, reads


def test_a_node_has_onnx_types() -> None:
    d = ModelDrawing(0)
    d.version = 18
    x = d.given(np.zeros((2, 3), np.float32))
    made, = d.add("MatMul", x, d.constant(np.ones((3, 5)), "float32"))
    assert d.known[made] == Known("float32", (2, 5), False)
    assert d.known[d.add("Neg", x, exact=True)[0]].is_exact
    proto = d.finished()
    onnx.checker.check_model(proto)
    assert [value.name for value in proto.graph.input] == [x]


def test_what_types_refuse_or_is_large_or_not_there_is_no_node() -> None:
    d = ModelDrawing(0)
    d.version = 12
    x = d.given(np.zeros((2, 3), np.float32))
    assert d.add("MatMul", x, x) == d.add("Gelu", x) == d.add("", x) == []
    assert d.add("Tile", x, d.constant([MOST_ELEMENTS, 1])) == []
    assert not d.nodes
    assert d.pick("Gelu", "Relu") == "Relu"
    assert d.pick("Gelu") == ""


def test_unsigned_numbers_are_drawn_from_zero_on() -> None:
    d = ModelDrawing(1)
    assert d.array("uint8", (100,), -3, 2).max() == 1
    assert d.array("int8", (100,), -3, 2).min() == -3


def test_what_a_region_reads_is_read() -> None:
    inner = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["a"], ["b"])], "g", [],
                                   [onnx.ValueInfoProto(name="c")])
    node = onnx.helper.make_node("If", ["d"], ["y"], then_branch=inner, else_branch=inner)
    assert set(reads(node)) == {"a", "c", "d"}
