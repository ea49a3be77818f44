"""What operators of packed signs refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("BinarizePack", floats(2, 33)), "no multiple of 32"),
    (sample("BinaryDense", ints(2, 3, low=0, dtype="uint32"), ints(2, 4, low=0, dtype="uint32")), "packed rows"),
    (sample("BinaryDense", floats(2, 3), floats(2, 3)), "packed rows"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph_of(case)[0])
