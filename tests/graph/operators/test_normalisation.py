"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Softmax", ints(3)), "floating are wanted"),
    (sample("Softmax", floats(3), axis=1), "axis 1 of 1 dimensions"),
    (sample("BatchNormalization", floats(2, 3), floats(2), floats(3), floats(3), floats(3)), "a number per channel"),
    (sample("Dropout", floats(3), np.array(0.5, np.float32), np.array(True)), "training_mode is true"),
    (sample("LRN", floats(1, 3, 2)), "channels and a size"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
