"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
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
