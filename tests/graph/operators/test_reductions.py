"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, ints, sample, truths, whole


def test_a_mean_divides_by_a_number_where_that_is_known() -> None:
    graph = from_text("graph f(x: float32[N, 3]) {\n  const rows: int64[1] = [0]\n  const columns: int64[1] = [1]\n"
                      "  let a = ReduceMean(x, rows)\n  let b = ReduceMean(x, columns)\n  return a, b\n}")
    assert [n.op for n in expand_compositions(graph).nodes] == ["OpenMean", "ReduceSum", "Div"]


@pytest.mark.parametrize(("case", "problem"), [
    (sample("OpenMean", ints(2, 3)), "floating are wanted"),
    (sample("ReduceSum", floats(2, 3), whole(2)), "axis 2 of 2 dimensions"),
    (sample("ReduceSum", floats(2, 3), whole(0, 0)), "an axis occurs twice"),
    (sample("ArgMax", floats(2, 0), axis=1), "of nothing"),
    (sample("ArgMax", floats()), "axis 0 of 0 dimensions"),
    (sample("ArgMin", truths(2)), "truth values"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
