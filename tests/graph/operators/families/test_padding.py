"""What a padding refuses, and into how many pieces it falls."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from tests.graph.passes.golden import same_values
from tests.graph.samples import Sample, floats, graph_of, sample, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Pad", floats(2), whole(-3, 0)), "more is cut than there is"),
    (sample("Pad", floats(2), whole(-3, 2)), "more is cut than there is"),
    (sample("Pad", floats(2), whole(-2 ** 63, 2 ** 63 - 1)), "more is cut than there is"),
    (sample("Pad", floats(2), whole(1, 1), mode="odd"), "padding of the mode"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize("mode", ["reflect", "wrap", "edge"])
@pytest.mark.parametrize(("extent", "front", "behind"), [
    (300, 200, 199), (1, 100_000, 3), (2, 100_001, 7), (3, 100_002, 1), (7, 13, 100_000), (5, 4, 5), (5, 24, 25)])
def test_a_padding_is_few_pieces_however_wide(mode: str, extent: int, front: int, behind: int) -> None:
    graph, _ = graph_of(sample("Pad", floats(extent), whole(front, behind), mode=mode), (1, 3))
    made = expand_compositions(graph)
    assert len(made.nodes) < 16
    same_values(graph, made)


@pytest.mark.parametrize("mode", ["reflect", "wrap", "edge"])
@pytest.mark.parametrize("pads", [[0, 2, 0, 3], [1, 0, 1, 2], [0, -1, 2, 3], [0, 1, 0, 0]])
def test_a_padding_of_open_extents_is_that_of_fixed_ones(mode: str, pads: list[int]) -> None:
    graph = from_text(f"""graph f(x: float32[N, M]) {{
  const p: int64[4] = {pads}
  let y = Pad(x, p; mode="{mode}")
  return y
}}""")
    made = expand_compositions(graph)
    for shape in ((3, 5), (4, 6)):
        x = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
        assert interpret(made, {"x": x})["y"].tolist() == interpret(graph, {"x": x})["y"].tolist()


def test_the_widest_padding_is_refused_at_once() -> None:
    graph, _ = graph_of(sample("Pad", floats(3), whole(2 ** 62, 2 ** 62), mode="reflect"), (1, 3))
    with pytest.raises(UnsupportedGraphError, match="longer than a model may have"):
        infer(graph)
