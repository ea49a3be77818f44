"""Convolutions in other layouts: what they refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("ChannelsLastConv", floats(1, 5, 2), floats(3, 3, 4)), "data and weights do not fit together"),
    (sample("ChannelsLastConv", floats(1, 5, 2), floats(3, 2, 4), floats(3)), "a bias per output channel"),
    (sample("ChannelsLastConv", floats(1, 5, 2), floats(3, 1, 4), group=2), "several groups in another layout"),
    (sample("BlockedConv", floats(1, 1, 5, 2), floats(1, 1, 3, 4, 2)), "data and weights do not fit together"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case)
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph)
