"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("LpPool", floats(1, 1, 5), kernel_shape=(2,), p=0), "a norm of at least 1"),
    (sample("GlobalAveragePool", floats(2, 3)), "floating data with spatial dimensions"),
    (sample("GlobalMaxPool", ints(1, 1, 4)), "floating data with spatial dimensions"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
