"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Range", np.float32(0), np.float32(np.nan), np.float32(1)), "numbers that are not finite"),
    (sample("Range", np.float32(0), np.float32(np.inf), np.float32(1)), "numbers that are not finite"),
    (sample("Range", whole(0), whole(5), whole(0)), "in steps of 0"),
    (sample("EyeLike", floats(3, 3), dtype="string"), "elements of type string"),
    (sample("EyeLike", floats(3)), "a matrix is wanted"),
    (sample("ConstantOfShape", whole(2 ** 40, 2 ** 40)), "larger than a model may have"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
