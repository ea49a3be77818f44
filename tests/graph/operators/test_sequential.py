"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample, truths, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("CumSum", floats(3), whole(1)), "axis 1 of 1 dimensions"),
    (sample("CumProd", truths(3), whole(0)), "no running result"),
    (sample("Recurrence", ints(3), ints(3), whole(0)), "two operands of one floating type"),
    (sample("Recurrence", floats(3), floats(2), whole(0)), "two operands of one floating type"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
