"""What operators of this family refuse, and into how many pieces a padding falls."""

from collections import Counter

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.passes.golden import same_values
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
    (sample("Pad", floats(2), whole(-3, 0)), "more is cut than there is"),
    (sample("Pad", floats(2), whole(1, 1), mode="odd"), "padding of the mode"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize(("mode", "pieces"), [("reflect", 2), ("wrap", 2), ("edge", 4)])
def test_a_padding_is_few_pieces_however_wide(mode: str, pieces: int) -> None:
    graph, _ = graph_of(sample("Pad", floats(300), whole(200, 199), mode=mode), (1, 3))
    made = expand_compositions(graph)
    assert Counter(node.op for node in made.nodes)["Slice"] == 2
    assert len(made.nodes) == pieces + 1
    same_values(graph, made)
