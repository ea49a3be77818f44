"""What the norm of a channel refuses; its values are those of samples."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize("case", [sample("GlobalLpPool", floats(2, 3)), sample("GlobalLpPool", floats(1, 2, 3), p=0)])
def test_it_is_refused(case: Sample) -> None:
    with pytest.raises(UnsupportedGraphError, match="a norm of at least 1"):
        infer(graph_of(case)[0])


@pytest.mark.parametrize("p", [1.0, 2.0, 2.5])
def test_a_norm_may_be_a_float(p: float) -> None:
    graph = from_text(f"graph f(x: float32[1, 2, 3]) {{\n  let y = GlobalLpPool(x; p={p})\n  return y\n}}")
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3) - 2
    wanted = (np.abs(x) ** p).sum(-1, keepdims=True) ** (1 / p)
    for each in (graph, expand_compositions(graph)):
        np.testing.assert_allclose(interpret(each, {"x": x})["y"], wanted, rtol=1e-5)
