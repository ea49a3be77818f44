"""What operators of this family refuse."""

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.simple import bind
from polysched.graph.planning.expressions import scop_of
from polysched.model.planned import planned
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Conv", floats(1, 2, 5), floats(3, 1, 3)), "data and weights do not fit"),
    (sample("Conv", floats(1, 1, 2), floats(1, 1, 3)), "the window is larger"),
    (sample("Conv", floats(1, 1, 5), floats(1, 1, 3), strides=(0,)), "the attribute strides"),
    (sample("Conv", floats(1, 1, 5), floats(1, 1, 3), pads=(1,)), "the attribute pads"),
    (sample("Conv", floats(1, 1, 5), floats(1, 1, 3), auto_pad="ODD"), "auto_pad=ODD"),
    (sample("MaxPool", floats(1, 1, 4, 4), kernel_shape=(0, 1)), "at least along every dimension"),
    (sample("MaxPool", floats(1, 1, 5)), "the attribute kernel_shape is missing"),
    (sample("MaxPool", floats(2, 3), kernel_shape=()), "spatial dimensions"),
    (sample("AveragePool", ints(1, 1, 4), kernel_shape=(2,)), "a mean of int32"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize(("op", "attributes"), [
    ("MaxPool", "kernel_shape=[3], strides=[2]"), ("MaxPool", "kernel_shape=[2], strides=[3], pads=[1, 1]"),
    ("AveragePool", "kernel_shape=[3], strides=[2], pads=[1, 1]"),
    ("MaxPool", "kernel_shape=[2], strides=[2], dilations=[3], pads=[0, 2]"),
    ("SumPool", 'kernel_shape=[3], strides=[2], auto_pad="SAME_LOWER"')])
def test_the_last_window_may_reach_out_over_an_open_size(op: str, attributes: str) -> None:
    graph = from_text(f"""graph g(x: float32[1, 1, N]) {{
  let y = {op}(x; ceil_mode=1, {attributes})
  return y
}}""")
    extent = infer(graph).types["y"].shape[2]
    for size in range(4, 14):
        x = np.arange(size, dtype=np.float32).reshape(1, 1, -1)
        fixed = interpret(bind(graph, {"N": size}), {"x": x})["y"]
        assert fixed.shape[2] == int(extent.bound({"N": size}))


@pytest.mark.parametrize("attributes", [
    "kernel_shape=[3], strides=[2], pads=[1, 1]", "kernel_shape=[3], strides=[1], pads=[1, 0]",
    'kernel_shape=[3], strides=[2], auto_pad="SAME_UPPER"', "kernel_shape=[3], strides=[2], pads=[2, 0]"])
@pytest.mark.parametrize("with_padding", [0, 1])
def test_a_mean_counts_its_elements_over_an_open_size(attributes: str, with_padding: int) -> None:
    graph = from_text(f"""graph g(x: float32[1, 1, N]) {{
  let y = AveragePool(x; ceil_mode=1, count_include_pad={with_padding}, {attributes})
  return y
}}""")
    made = expand_compositions(graph)
    for size in range(3, 9):
        x = {"x": np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, -1)}
        np.testing.assert_allclose(interpret(made, x)["y"], interpret(graph, x)["y"], rtol=1e-6)


def test_a_mean_over_padding_of_an_open_number_asks_for_the_size() -> None:
    graph = from_text("""graph g(x: float32[1, 1, N]) {
  let y = AveragePool(x; ceil_mode=1, count_include_pad=1, kernel_shape=[2], strides=[3], pads=[1, 1])
  return y
}""")
    with pytest.raises(UnsupportedGraphError, match="a mean over padding whose number follows from an open size"):
        expand_compositions(graph)


def test_windows_that_may_start_in_the_padding_behind_ask_for_the_size() -> None:
    graph = from_text("""graph g(x: float32[1, 1, N]) {
  let y = MaxPool(x; ceil_mode=1, kernel_shape=[2], strides=[3], pads=[0, 2])
  return y
}""")
    with pytest.raises(UnsupportedGraphError, match="how many windows start in the padding behind") as refusal:
        infer(graph)
    assert "node 'y' (MaxPool)" in str(refusal.value)
    assert "fix the size by sizes=" in str(refusal.value)


def test_no_image_has_no_places_of_largest_elements() -> None:
    graph = from_text("""graph g(x: float32[N, 2, 5]) {
  let y, p = MaxPool(x; kernel_shape=[3], pads=[0, 1])
  return y, p
}""")
    found = interpret(graph, {"x": np.ones((0, 2, 5), np.float32)})
    assert found["y"].shape == found["p"].shape == (0, 2, 4)


def test_a_place_of_the_largest_element_is_one_of_its_window() -> None:
    graph = from_text("""graph g(x: float32[1, 1, 6]) {
  let y, p = MaxPool(x; kernel_shape=[3], dilations=[2], pads=[1, 1])
  return y, p
}""")
    x = np.full((1, 1, 6), -np.inf, np.float32)
    for found in (interpret(graph, {"x": x}), polysched.compile(graph)(x=x)):
        assert found["p"].tolist() == [[[1, 0, 1, 2]]]


WINDOWS = ["MaxPool(x; kernel_shape=[3, 2], {})", "AveragePool(x; kernel_shape=[3, 2], {})", "Conv(x, w; {})",
           "ConvInteger(b, v; {})"]
OPEN = """graph g(x: float32[1, 3, H, W], w: float32[2, 3, 3, 2], b: uint8[1, 3, H, W], v: uint8[2, 3, 3, 2]) {{
  let y = {}
  return y
}}"""


@pytest.mark.parametrize("attributes", ['auto_pad="SAME_UPPER", strides=[2, 2]', 'auto_pad="SAME_LOWER"',
                                        "pads=[1, 0, 1, 1], strides=[2, 1]", "strides=[3, 2]"])
@pytest.mark.parametrize("line", WINDOWS)
def test_shapes_of_open_extents_are_those_of_known_ones(line: str, attributes: str) -> None:
    graph = from_text(OPEN.format(line.format(attributes)))
    found = infer(graph).types["y"]
    for sizes in ({"H": h, "W": w} for h in range(3, 9) for w in range(2, 7)):
        assert found.bound(sizes) == infer(bind(graph, sizes)).types["y"]


def test_padding_that_may_be_none_is_refused_while_a_size_is_open() -> None:
    graph = from_text(OPEN.format('Conv(x, w; auto_pad="SAME_UPPER", strides=[1, 3])'))
    with pytest.raises(UnsupportedGraphError, match="windows shorter than their stride"):
        infer(graph)


def test_places_of_the_largest_in_images_of_open_extents_are_an_expression() -> None:
    graph = from_text("""graph g(x: float32[2, 3, H, W]) {
  let y, i = MaxPool(x; kernel_shape=[2, 2], strides=[2, 1])
  return y, i
}""")
    (kernel,) = planned(graph).kernels
    assert scop_of(kernel.fragment).statements
