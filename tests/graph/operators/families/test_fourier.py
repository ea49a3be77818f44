"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("DFT", floats(2, 4, 3)), "a signal of real numbers"),
    (sample("DFT", floats(2, 4, 1), None, np.array(2)), "real and imaginary parts"),
    (sample("DFT", floats(2, 4, 1), None, np.array(5)), "axis 5 of 3 dimensions"),
    (sample("DFT", floats(2, 4, 2), inverse=1), "an inverse transform of a whole spectrum"),
    (sample("DFT", floats(2, 4, 2), onesided=1), "half a spectrum is that of a real signal"),
    (sample("DFT", floats(2, 1, 2), inverse=1, onesided=1), "at least one point"),
    (sample("DFT", floats(2, 4, 1), np.array(0)), "at least one point"),
    (sample("DFT", floats(2, 4, 1), np.array(2 ** 40)), "a table that the operator needs is too large"),
    (sample("STFT", floats(1, 4, 1), np.array(2), None, np.array(5)), "a window as long as a frame"),
    (sample("STFT", floats(1, 4, 1), np.array(0), floats(3)), "a window as long as a frame"),
    (sample("STFT", floats(1, 4, 1), np.array(1), floats(3), np.array(2)), "a window as long as a frame"),
    (sample("STFT", floats(1, 4, 2), np.array(1), floats(3)), "half a spectrum is that of a real signal"),
    (sample("MelWeightMatrix", np.array(4), np.array(16), np.array(10), np.array(0.0), np.array(6.0)),
     "two frequencies up to half of it"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
