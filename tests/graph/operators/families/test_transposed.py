"""Transposed convolutions: padding, open extents, what they refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.simple import bind
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("ConvTranspose", floats(1, 2, 5), floats(3, 1, 3)), "data and weights do not fit"),
    (sample("ConvTranspose", floats(1, 1, 5), floats(1, 1, 3), pads=(1,)), "the attribute pads has 2 numbers"),
    (sample("ConvTranspose", floats(1, 1, 2), floats(1, 1, 1), pads=(2, 1)), "more padding is cut off than"),
    (sample("ConvTranspose", floats(1, 1, 5), floats(1, 2, 3), floats(3)), "a bias per output channel"),
    (sample("ConvTranspose", floats(1, 1, 5), floats(1, 2, 3), kernel_shape=(2,)), "kernel_shape is not that"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph)


@pytest.mark.parametrize(("mode", "wanted"), [
    ("NOTSET", [2, 4, 2, 3]), ("VALID", [2, 4, 2, 3]), ("SAME_LOWER", [2, 4, 2, 3]), ("SAME_UPPER", [1, 2, 4, 2])])
def test_of_an_odd_padding_more_is_in_front_but_for_same_upper(mode: str, wanted: list[int]) -> None:
    graph = from_text(f"""graph g(x: float32[1, 1, 2], w: float32[1, 1, 3]) {{
  let y = ConvTranspose(x, w; strides=[2], output_shape=[4], auto_pad="{mode}")
  return y
}}""")
    values = {"x": np.ones((1, 1, 2), np.float32), "w": np.array([[[1, 2, 3]]], np.float32)}
    assert interpret(graph, values)["y"].tolist() == [[wanted]]


def test_a_transposed_convolution_of_open_extents() -> None:
    graph = from_text("""graph g(x: float32[1, 2, H, W], w: float32[2, 3, 3, 2]) {
  let y = ConvTranspose(x, w; strides=[2, 3], auto_pad="SAME_UPPER")
  let z = ConvTranspose(x, w; strides=[2, 1], pads=[1, 0, 0, 1])
  return y, z
}""")
    types = infer(graph).types
    for sizes in ({"H": 1, "W": 4}, {"H": 5, "W": 2}):
        known = infer(bind(graph, sizes)).types
        assert [types[n].bound(sizes) for n in "yz"] == [known[n] for n in "yz"]


def test_open_output_channels_are_refused_before_anything_is_compiled() -> None:
    graph = from_text("""graph g(x: float32[1, 2, 5], w: float32[2, M, 3]) {
  let y = ConvTranspose(x, w)
  return y
}""")
    with pytest.raises(UnsupportedGraphError, match="the number of output channels is open"):
        infer(graph)
