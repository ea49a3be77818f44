"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, truths, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("TopK", floats(3), whole(4), results=2), "the first 4 of 3 elements"),
    (sample("TopK", truths(3), whole(1), results=2), "of bool"),
    (sample("TopK", floats(3), whole(), results=2), "operand 1 is one number"),
    (sample("Rank", floats(3), axis=1), "axis 1 of 1 dimensions"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
