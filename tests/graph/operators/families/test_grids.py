"""What a grid refuses, and grids of open batches; values of fixed ones are those of samples."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.values.sizes import Size
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "message"), [
    (sample("AffineGrid", floats(1, 2, 3), np.array([2, 1, 3, 4])), "a matrix for each of a batch"),
    (sample("AffineGrid", floats(1, 3, 4), np.array([1, 1, 3, 4])), "a matrix for each of a batch"),
    (sample("AffineGrid", floats(1, 1, 2), np.array([1, 1, 3])), "a matrix for each of a batch"),
    (sample("AffineGrid", floats(1, 2, 3), np.array([1, 1, 0, 4])), "numbers above 0"),
    (sample("AffineGrid", floats(1, 2, 3), np.array([1, 1, 1 << 14, 1 << 14])), "a table .* is too large")])
def test_it_is_refused(case: Sample, message: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=message):
        infer(graph_of(case, (1,))[0])


def test_the_batch_may_be_open() -> None:
    graph = from_text("""graph f(t: float32[N, 2, 3]) {
  const zero: int64[1] = [0]
  const rest: int64[3] = [1, 2, 3]
  let shape = Shape(t)
  let n = Gather(shape, zero)
  let size = Concat(n, rest; axis=0)
  let y = AffineGrid(t, size; align_corners=1)
  return y
}""")
    assert infer(graph).types["y"].shape == (Size.symbol("N"), 2, 3, 2)
    t = np.array([[[1, 0, 0.5], [0, 2, 0]]], np.float32)
    wanted = [[[[-0.5, -2], [0.5, -2], [1.5, -2]], [[-0.5, 2], [0.5, 2], [1.5, 2]]]]
    for each in (graph, expand_compositions(graph)):
        assert interpret(each, {"t": t})["y"].tolist() == wanted


def test_the_corner_of_an_extent_of_1_is_that_of_onnx_runtime() -> None:
    graph, inputs = graph_of(sample("AffineGrid", np.array([[[1, 0, 0], [0, 2, 0]]], np.float32),
                                    np.array([1, 1, 1, 3]), align_corners=1), (1,))
    for each in (graph, expand_compositions(graph)):   # the reference of ONNX has -2, PyTorch 0
        assert interpret(each, inputs)["y0"][..., 1].ravel().tolist() == [2, 2, 2]
