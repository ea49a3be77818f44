"""Places by size: NaN, equal elements, large whole numbers; what is refused."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.model import compile_graph
from tests.graph.samples import Sample, floats, graph_of, sample, truths, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("TopK", floats(3), whole(4), results=2), "the first 4 of 3 elements"),
    (sample("TopK", truths(3), whole(1), results=2), "of bool"),
    (sample("TopK", floats(3), whole(), results=2), "operand 1 is one number"),
    (sample("Rank", floats(3), axis=1), "axis 1 of 1 dimensions"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize(("dtype", "largest", "rows", "places"), [
    ("float32", 1, [[np.nan, 1, np.nan, 2], [1, 2, 3, np.nan], [np.nan] * 4, [3, np.nan, -0.0, 0.0]],
     [[0, 2, 3], [3, 2, 1], [0, 1, 2], [1, 0, 2]]),
    ("float32", 0, [[np.nan, 1, np.nan, 2], [1, 2, 3, np.nan], [np.nan] * 4, [np.inf, np.nan, 0.0, -0.0]],
     [[1, 3, 0], [0, 1, 2], [0, 1, 2], [2, 3, 0]]),
    ("int64", 1, [[2 ** 53, 2 ** 53 + 1, -2 ** 63, 5]], [[1, 0, 3]]),
    ("uint8", 1, [[0, 255, 255, 7]], [[1, 2, 3]]),
])
def test_the_first_elements_by_size(dtype: str, largest: int, rows: list[list[float]],
                                    places: list[list[int]]) -> None:
    """NaN is larger than all numbers; equal elements stay in their order."""
    x = np.array(rows, dtype)
    graph = from_text(f"""graph g(x: {dtype}[{len(rows)}, 4]) {{
  const k: int64[1] = [3]
  let y, i = TopK(x, k; axis=1, largest={largest})
  return y, i
}}""")
    for found in (interpret(graph, {"x": x}), compile_graph(graph)(x=x)):
        assert found["i"].tolist() == places
        np.testing.assert_array_equal(found["y"], np.take_along_axis(x, np.array(places), 1))
