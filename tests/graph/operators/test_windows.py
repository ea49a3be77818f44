"""What operators of this family refuse."""

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Conv", floats(1, 2, 5), floats(3, 1, 3)), "data and weights do not fit"),
    (sample("Conv", floats(1, 1, 2), floats(1, 1, 3)), "the window is larger"),
    (sample("Conv", floats(1, 1, 5), floats(1, 1, 3), strides=(0,)), "the attribute strides"),
    (sample("Conv", floats(1, 1, 5), floats(1, 1, 3), pads=(1,)), "the attribute pads"),
    (sample("Conv", floats(1, 1, 5), floats(1, 1, 3), auto_pad="ODD"), "auto_pad=ODD"),
    (sample("ConvTranspose", floats(1, 2, 5), floats(3, 1, 3)), "data and weights do not fit"),
    (sample("ConvTranspose", floats(1, 1, 5), floats(1, 1, 3), pads=(1,)), "the attribute pads has 2 numbers"),
    (sample("MaxPool", floats(1, 1, 5)), "the attribute kernel_shape is missing"),
    (sample("LpPool", floats(1, 1, 5), kernel_shape=(2,), p=0), "a norm of at least 1"),
    (sample("MaxPool", floats(2, 3), kernel_shape=()), "spatial dimensions"),
    (sample("AveragePool", ints(1, 1, 4), kernel_shape=(2,)), "a mean of int32"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


def test_a_place_of_the_largest_element_is_one_of_its_window() -> None:
    graph = from_text("""graph g(x: float32[1, 1, 6]) {
  let y, p = MaxPool(x; kernel_shape=[3], dilations=[2], pads=[1, 1])
  return y, p
}""")
    x = np.full((1, 1, 6), -np.inf, np.float32)
    for found in (interpret(graph, {"x": x}), polysched.compile(graph)(x=x)):
        assert found["p"].tolist() == [[[1, 0, 1, 2]]]


@pytest.mark.parametrize(("mode", "wanted"), [
    ("NOTSET", [2, 4, 2, 3]), ("VALID", [2, 4, 2, 3]), ("SAME_LOWER", [2, 4, 2, 3]), ("SAME_UPPER", [1, 2, 4, 2])])
def test_of_an_odd_padding_more_is_in_front_but_for_same_upper(mode: str, wanted: list[int]) -> None:
    graph = from_text(f"""graph g(x: float32[1, 1, 2], w: float32[1, 1, 3]) {{
  let y = ConvTranspose(x, w; strides=[2], output_shape=[4], auto_pad="{mode}")
  return y
}}""")
    values = {"x": np.ones((1, 1, 2), np.float32), "w": np.array([[[1, 2, 3]]], np.float32)}
    assert interpret(graph, values)["y"].tolist() == [[wanted]]
