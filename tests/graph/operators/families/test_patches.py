"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Col2Im", floats(1, 8, 6), whole(4, 5), whole(2)), "of one rank are wanted"),
    (sample("Col2Im", floats(1, 8, 6), whole(4, 5), whole(2, 2), strides=(0, 1)), "of one rank are wanted"),
    (sample("Col2Im", floats(1, 8, 6), whole(4, 5), whole(7, 2)), "larger than the padded image"),
    (sample("Col2Im", floats(1, 8, 6), whole(4, 5), whole(2, 2)), "another number of places"),
    (sample("Col2Im", floats(1, 7, 12), whole(4, 5), whole(2, 2)), "no multiple of the block"),
    (sample("MaxUnpool", floats(1, 1, 2), whole(1, 2), kernel_shape=(2,)), "a place per element"),
    (sample("MaxUnpool", floats(1, 1, 2), np.array([[[1, 2]]]), whole(1, 1, 2), kernel_shape=(2,), strides=(2,)),
     "smaller than that of the windows"),
    (sample("Compress", floats(2, 3), np.array([True] * 3), axis=0), "longer than the data"),
    (sample("Compress", floats(2, 3), whole(1, 0)), "a vector of truth values"),
    (sample("TensorScatter", floats(2, 3, 2), floats(2, 4, 2)), "the update does not fit"),
    (sample("TensorScatter", floats(2, 3, 2), floats(2, 1, 2), whole(1)), "a place per batch"),
    (sample("TensorScatter", floats(2, 3, 2), floats(2, 1, 2), axis=0), "the update does not fit"),
    (sample("ReverseSequence", floats(4, 3), whole(4, 2)), "a length per batch"),
    (sample("ReverseSequence", floats(4, 3), whole(4, 2, 1), batch_axis=0), "the first two dimensions"),
    (sample("Det", floats(2, 3)), "square matrices"),
    (sample("Det", floats(5, 5)), "of more than 4 rows"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
