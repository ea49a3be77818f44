"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, truths


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Binarizer", truths(3)), "a finite threshold"),
    (sample("Binarizer", np.array([1, 2]), threshold=float("nan")), "a finite threshold"),
    (sample("ArrayFeatureExtractor", floats(3), np.zeros(0, np.int64)), "features and their numbers"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
