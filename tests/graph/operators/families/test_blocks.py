"""Depth and space: open extents, and what is refused."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.model.compiling import compile_graph
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("DepthToSpace", floats(1, 6, 2, 2), blocksize=2), "the channels are no multiple"),
    (sample("DepthToSpace", floats(1, 4, 2), blocksize=2), "data of four dimensions"),
    (sample("SpaceToDepth", floats(1, 1, 4, 3), blocksize=2), "the space is no multiple"),
    (sample("SpaceToDepth", floats(1, 1, 4, 4), blocksize=0), "a block of at least 1"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph_of(case)[0])


def test_extents_may_be_open() -> None:
    graph = from_text("""graph g(x: float32[N, 8, H, 3]) {
  let y = DepthToSpace(x; blocksize=2, mode="CRD")
  return y
}""")
    model = compile_graph(graph)
    for n, h in ((1, 2), (3, 5)):
        x = np.arange(n * 24 * h, dtype=np.float32).reshape(n, 8, h, 3)
        np.testing.assert_array_equal(model.run({"x": x})["y"], interpret(graph, {"x": x})["y"])


def test_open_channels_are_refused_before_anything_is_compiled() -> None:
    graph = from_text("""graph g(x: float32[2, N, 4, 4]) {
  let y = SpaceToDepth(x; blocksize=2)
  return y
}""")
    with pytest.raises(UnsupportedGraphError, match="the number of channels is open"):
        infer(graph)
    assert interpret(graph, {"x": np.zeros((2, 3, 4, 4), np.float32)})["y"].shape == (2, 12, 2, 2)
