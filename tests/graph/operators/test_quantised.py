"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "about"), [
    (sample("QuantizeLinear", ints(3), np.array(1, np.float32)), "operand 0"),
    (sample("QuantizeLinear", floats(3), np.array(1, np.float32), np.array(0, np.float32)), "operand 2"),
    (sample("QuantizeLinear", floats(3), np.array(1, np.float32), output_dtype="float32"), "attribute output_dtype")])
def test_what_is_wrong_of_data_and_of_the_type_that_they_get(case: Sample, about: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match="is quantised to") as refusal:
        infer(graph)
    assert str(refusal.value.where).startswith(f"node 'y0' (QuantizeLinear), {about}")


@pytest.mark.parametrize(("case", "problem"), [
    (sample("QuantizeLinear", ints(3), np.array(1, np.int32)), "int32 is quantised to uint8"),
    (sample("QuantizeLinear", floats(3, 2), floats(3)), "a scale per place of the axis"),
    (sample("QuantizeLinear", floats(3, 2), floats(3, 1)), "the scales do not fit"),
    (sample("DequantizeLinear", floats(3), np.array(1, np.float32)), "float32 is dequantised"),
    (sample("MatMulInteger", floats(2, 3), floats(3, 2)), "products of float32"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
