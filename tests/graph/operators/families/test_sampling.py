"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("GridSample", floats(1, 2, 3, 3), floats(1, 2, 2, 3)), "a place per dimension of space"),
    (sample("GridSample", floats(1, 2, 3, 3), floats(2, 2, 2, 2)), "a place per dimension of space"),
    (sample("GridSample", floats(1, 2, 0, 3), floats(1, 2, 2, 2)), "of known extents are wanted"),
    (sample("GridSample", floats(1, 2, 2, 2, 2), floats(1, 2, 2, 2, 3), mode="cubic"), "more than two dimensions"),
    (sample("GridSample", floats(1, 2, 3, 3), floats(1, 2, 2, 2), mode="lanczos"), "the attribute mode is none of"),
    (sample("DeformConv", floats(1, 1, 3, 3), floats(1, 1, 2, 2), floats(1, 7, 2, 2)), "do not fit together"),
    (sample("DeformConv", floats(1, 1, 3), floats(1, 1, 2), floats(1, 4, 2)), "images and weights"),
    (sample("DeformConv", floats(1, 1, 3, 3), floats(1, 1, 2, 2), floats(1, 8, 2, 2), floats(2)),
     "a number per result channel"),
    (sample("DeformConv", floats(1, 1, 3, 3), floats(1, 1, 2, 2), floats(1, 8, 2, 2), None, floats(1, 3, 2, 2)),
     "the mask does not fit"),
    (sample("RoiAlign", floats(1, 1, 3, 3), floats(2, 4), np.array([0, 0])), "how many samples a bin has"),
    (sample("RoiAlign", floats(1, 1, 3, 3), floats(2, 5), np.array([0, 0]), sampling_ratio=1), "an image per region"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
