"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Resize", floats(3, 2)), "neither scales nor sizes"),
    (sample("Resize", ints(3, 2), None, floats(2, low=1), mode="linear"), "elements of int32 between others"),
    (sample("Resize", floats(3, 2), None, floats(1, low=1)), "a scale or a size per axis"),
    (sample("Resize", floats(3, 0), None, None, np.array([3, 2])), "nothing is resized to something"),
    (sample("Resize", floats(3, 2), floats(3), None, np.array([3, 2])), "a start and an end per axis"),
    (sample("Upsample", floats(3, 2), np.array([0, 1], np.float32)), "a positive scale"),
    (sample("Upsample", floats(3, 2), np.array([np.nan, 1], np.float32)), "a positive scale"),
    (sample("Resize", floats(3, 2), None, np.array([np.inf, 1], np.float32)), "a scale is not finite"),
    (sample("Resize", floats(3, 2), None, np.array([1, np.nan], np.float32)), "a scale is not finite"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
