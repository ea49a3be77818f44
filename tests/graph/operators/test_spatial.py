"""What operators of space and batch refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.simple import with_types
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("SpaceToBatchND", floats(2, 5), block_shape=(2,)), "no multiple of the block"),
    (sample("SpaceToBatchND", floats(2, 5), block_shape=(0,)), "a block of at least 1"),
    (sample("BatchToSpaceND", floats(3, 5), block_shape=(2,)), "no multiple of the block"),
    (sample("BatchToSpaceND", floats(2, 1), block_shape=(2,), crops=(2, 1)), "negative extent"),
    (sample("Dilate", floats(2, 3), strides=(2,)), "a stride of at least 1 per dimension"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph_of(case)[0])


@pytest.mark.parametrize(("before", "shape", "message"), [
    ("[1, -1]", "", "at least 0 per dimension"), ("[1]", "", "at least 0 per dimension"),
    ("[1, 0]", "2", "one element")])
def test_padding_that_does_not_fit_is_refused(before: str, shape: str, message: str) -> None:
    graph = from_text(f"""graph f(x: float32[2, 3], v: float32[{shape}]) {{
  let y = PadConstant(x, v; before={before}, behind=[0, 0])
  return y
}}""")
    with pytest.raises(UnsupportedGraphError, match=message):
        with_types(graph)
