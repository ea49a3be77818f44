"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, truths, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("If", truths(1)), "1 operands and 0 regions do not fit"),
    (sample("Loop", whole(1), truths(1)), "a number of iterations depends on data"),
    (sample("Scan", floats(1)), "a scan depends on data"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
