"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample, truths


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Exp", ints(3)), "floating are wanted"),
    (sample("Not", floats(3)), "truth values are wanted"),
    (sample("Abs", truths(3)), "numbers are wanted"),
    (sample("BitwiseNot", floats(3)), "integers are wanted"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
