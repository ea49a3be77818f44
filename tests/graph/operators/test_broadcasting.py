"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Add", floats(3), ints(3)), "different element types"),
    (sample("Add", floats(3), floats(2)), "do not broadcast"),
    (sample("Add", floats(3)), "1 operands"),
    (sample("And", ints(3), ints(3)), "truth values are wanted"),
    (sample("Where", ints(3), floats(3), floats(3)), "no truth value"),
    (sample("Clip", floats(3), floats(2)), "a bound is no scalar"),
    (sample("Cast", floats(3), to="string"), "a conversion to string"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
