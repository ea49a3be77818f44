"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("RNN", floats(3, 2, 2), floats(1, 3, 3), floats(1, 3, 3)), "the weights do not fit"),
    (sample("LSTM", floats(3, 2, 2), floats(1, 12, 2), floats(1, 12, 3), activations=("Tanh", "Odd", "Tanh")),
     "the activations Tanh, Odd, Tanh"),
    (sample("GRU", floats(3, 2, 2), floats(1, 9, 2), floats(1, 9, 3), floats(1)), "the biases, the states"),
    (sample("RNN", floats(0, 2, 2), floats(1, 3, 2), floats(1, 3, 3)), "there are no steps"),
    (sample("GRU", floats(3, 2, 2), floats(1, 9, 2), floats(1, 9, 3), None, whole(3, 2, 1)), "a length per sequence"),
    (sample("RNN", floats(3, 2, 2), floats(1, 3, 2), floats(1, 3, 3), activations=("Elu",), activation_beta=(1.0,)),
     "more parameters of activations"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


def test_a_recurrence_of_a_million_steps_is_refused_at_once() -> None:
    x = np.zeros((1 << 20, 1, 2), np.float32)
    graph, _ = graph_of(sample("LSTM", x, floats(1, 8, 2), floats(1, 8, 2)))
    with pytest.raises(UnsupportedGraphError, match="1048576 steps is too long to be unrolled") as refusal:
        expand_compositions(graph)
    assert "node 'y0' (LSTM)" in str(refusal.value)
    assert "Loop or Scan" in str(refusal.value)


def test_steps_of_both_directions_count() -> None:
    x = np.zeros((2049, 1, 2), np.float32)
    graph, _ = graph_of(sample("RNN", x, floats(2, 3, 2), floats(2, 3, 3), direction="bidirectional"))
    with pytest.raises(UnsupportedGraphError, match=r"(?s)4098 steps is too long .*both directions"):
        expand_compositions(graph)
