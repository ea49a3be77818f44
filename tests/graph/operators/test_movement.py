"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Reshape", floats(2, 3), whole(4, 2)), "another number of elements"),
    (sample("Reshape", floats(2, 3), whole(-1, -1)), "at most one extent"),
    (sample("Reshape", floats(2, 3), whole(4, -1)), "another number of elements"),
    (sample("Squeeze", floats(2, 1), whole(0)), "is not 1 is squeezed"),
    (sample("Transpose", floats(2, 3), perm=(0, 0)), "an axis occurs twice"),
    (sample("Concat", floats(2, 3), floats(3, 2), axis=0), "differ beside the axis"),
    (sample("Concat", floats(2), floats(2)), "the attribute axis is missing"),
    (sample("Concat", floats(), floats(), axis=0), "axis 0 of 0 dimensions"),
    (sample("Expand", floats(3), np.array(3)), "a vector of sizes"),
    (sample("Split", floats(5), whole(2, 2), results=2), "do not make up the extent"),
    (sample("Slice", floats(5), whole(0), whole(5), whole(0), whole(0)), "do not fit together"),
    (sample("Tile", floats(5), whole(1, 2)), "repetitions per dimension"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
