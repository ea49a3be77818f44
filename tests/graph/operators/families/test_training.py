"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Adam", np.array(0.1, np.float32), np.array(1), floats(2), floats(2), floats(2)), "4 tensors for each"),
    (sample("Adagrad", np.array(0.1, np.float32), np.array(1), floats(2), floats(3), floats(2)), "have one type"),
    (sample("Momentum", np.array(0.1), np.array(1), floats(2), floats(2), floats(2), mode="standard"),
     "have one type"),
    (sample("Momentum", floats(2), np.array(1), floats(2), floats(2), floats(2), mode="standard"),
     "a rate and a count of steps"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
