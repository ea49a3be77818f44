"""What the norm of a channel refuses; its values are those of samples."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize("case", [sample("GlobalLpPool", floats(2, 3)), sample("GlobalLpPool", floats(1, 2, 3), p=0)])
def test_it_is_refused(case: Sample) -> None:
    with pytest.raises(UnsupportedGraphError, match="a norm of at least 1"):
        infer(graph_of(case)[0])
