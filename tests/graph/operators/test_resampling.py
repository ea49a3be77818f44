"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.registry import standard
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Resize", floats(3, 2)), "neither scales nor sizes"),
    (sample("Resize", ints(3, 2), None, floats(2, low=1), mode="linear"), "elements of int32 between others"),
    (sample("Resize", floats(3, 2), None, floats(1, low=1)), "a scale or a size per axis"),
    (sample("Resize", floats(3, 0), None, None, np.array([3, 2])), "nothing is resized to something"),
    (sample("Resize", floats(3, 2), floats(3), None, np.array([3, 2])), "a start and an end per axis"),
    (sample("Upsample", ints(3, 2), floats(2, low=1), mode="linear"), "elements of int32 between others"),
    (sample("Upsample", floats(3, 2), np.array([0, 1], np.float32)), "a positive scale"),
    (sample("Upsample", floats(3, 2), np.array([np.nan, 1], np.float32)), "a positive scale"),
    (sample("Resize", floats(3, 2), None, np.array([np.inf, 1], np.float32)), "a scale is not finite"),
    (sample("Resize", floats(3, 2), None, np.array([1, np.nan], np.float32)), "a scale is not finite"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


def test_a_place_whose_neighbours_are_all_outside_is_outside() -> None:
    graph = from_text("""graph f(x: float32[1, 3]) {
  const r: float32[4] = [0.0, -0.5, 1.0, 1.0]
  const s: int64[2] = [1, 4]
  let y = Resize(x, r, _, s; mode="cubic", coordinate_transformation_mode="tf_crop_and_resize",
    exclude_outside=1, extrapolation_value=9.0)
  return y
}""")
    assert interpret(graph, {"x": np.arange(3, dtype=np.float32)[None]})["y"].tolist() == [[9, 0, 1, 2]]


@pytest.mark.parametrize(("extent", "how"), [(10 ** 7, ""), (4, ', mode="linear", antialias=1')])
def test_more_neighbours_than_are_weighed_one_by_one_are_refused(extent: int, how: str) -> None:
    data, scale = (4, extent / 4) if extent > 4 else (10 ** 8, 4 / 10 ** 8)
    graph = from_text(f"""graph f(x: float32[{data}]) {{
  const s: float32[1] = [{scale}]
  let y = Resize(x, _, s; nearest_mode="floor"{how})
  return y
}}""")
    with pytest.raises(UnsupportedGraphError, match="an axis has very many elements to be resized"):
        standard(graph)
