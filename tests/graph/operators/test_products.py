"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("MatMul", floats(2, 3), floats(2, 3)), "the inner extents differ"),
    (sample("MatMul", floats(2, 3), np.float32(1)), "matrices or vectors"),
    (sample("Gemm", floats(2, 3), floats(3)), "two matrices"),
    (sample("Gemm", ints(2, 3), ints(3, 2), alpha=0.5), "products of int32 times a fraction"),
    (sample("Gemm", floats(2, 3), floats(3, 2), floats(3, 2, 2)), "larger than the product"),
    (sample("BinarizePack", floats(2, 33)), "no multiple of 32"),
    (sample("BinaryDense", ints(2, 3, low=0, dtype="uint32"), ints(2, 4, low=0, dtype="uint32")), "packed rows"),
    (sample("BinaryDense", floats(2, 3), floats(2, 3)), "packed rows"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


def test_an_addend_times_0_may_be_no_number() -> None:
    graph, inputs = graph_of(sample("Gemm", floats(2, 3), floats(3, 2), np.full(2, np.nan, np.float32), beta=0.0))
    for each in (graph, expand_compositions(graph)):
        assert np.isfinite(interpret(each, inputs)["y0"]).all()
