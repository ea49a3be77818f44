"""What operators of space and batch refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("SpaceToBatchND", floats(2, 5), block_shape=(2,)), "no multiple of the block"),
    (sample("SpaceToBatchND", floats(2, 5), block_shape=(0,)), "a block of at least 1"),
    (sample("BatchToSpaceND", floats(3, 5), block_shape=(2,)), "no multiple of the block"),
    (sample("BatchToSpaceND", floats(2, 1), block_shape=(2,), crops=(2, 1)), "negative extent"),
    (sample("Dilate", floats(2, 3), strides=(2,)), "a stride of at least 1 per dimension"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph_of(case)[0])
